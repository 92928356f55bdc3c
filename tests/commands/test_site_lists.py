"""Sites as files: what goes out comes in again."""

import json

import pytest
from django.core.management import CommandError, call_command

from sites.models import Site, Source

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture
def two_sites(db) -> None:
    alameda = Site.objects.create(
        subdomain="alameda.ca",
        name='Alameda, "the island"',
        state="CA",
        start_year=2010,
        time_zone="America/Los_Angeles",
    )
    Site.objects.create(subdomain="empty.ny", name="Nothing yet")
    Source.objects.create(site=alameda, platform="legistar", url="https://alameda.legistar.com/Calendar.aspx")
    Source.objects.create(
        site=alameda,
        platform="generic",
        url="https://alameda.gov/old",
        options={"body": "Council"},
        enabled=False,
    )


def everything() -> tuple:
    sites = Site.objects.order_by("pk").values(
        "subdomain", "name", "state", "start_year", "time_zone", "languages"
    )
    sources = Source.objects.order_by("site_id", "url").values(
        "site_id", "platform", "url", "options", "enabled"
    )
    return list(sites), list(sources)


@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_what_was_exported_is_imported_as_it_was(suffix, two_sites, tmp_path, capsys):
    before = everything()
    file = tmp_path / f"sites.{suffix}"
    call_command("export_sites", file)
    Site.objects.all().delete()

    call_command("import_sites", file)
    assert everything() == before

    call_command("import_sites", file)
    assert everything() == before
    assert "0 sites new, 0 changed, 2 unchanged; 0 sources new, 0 changed" in capsys.readouterr().out


def test_without_a_file_it_is_printed(two_sites, capsys):
    call_command("export_sites")

    assert [row["subdomain"] for row in json.loads(capsys.readouterr().out)] == ["alameda.ca", "empty.ny"]


def test_a_dry_run_changes_nothing(two_sites, tmp_path, capsys):
    before = everything()
    file = tmp_path / "sites.csv"
    file.write_text(
        "subdomain,name,platform,url\nalameda.ca,Renamed,iqm2,https://x.iqm2.com/\nnew.ca,New,,\n"
    )

    call_command("import_sites", file, "--dry-run")

    assert everything() == before
    assert "Would import (dry-run): 1 sites new, 1 changed" in capsys.readouterr().out


def test_columns_that_the_file_lacks_stay_as_they_are(two_sites, tmp_path):
    Site.objects.filter(pk="alameda.ca").update(ocr_total=7, current_stage="ocr")
    file = tmp_path / "sites.csv"
    file.write_text("\ufeffsubdomain,kind\nalameda.ca,city\n")

    call_command("import_sites", file)

    site = Site.objects.get(pk="alameda.ca")
    assert (site.kind, site.state, site.start_year) == ("city", "CA", 2010)
    assert (site.ocr_total, site.current_stage) == (7, "ocr")
    assert site.sources.count() == 2


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "name\nx\n", "'subdomain' is missing"),
        ("a.csv", "subdomain,colour\na,red\n", "no column 'colour'"),
        ("a.csv", "subdomain,platform,url\nok.ca,gopher,https://x/\n", "no fetcher is called 'gopher'"),
        (
            "a.csv",
            "subdomain,platform,url,options\nok.ca,iqm2,https://x/,{bad\n",
            "line 2: options are not JSON",
        ),
        ("a.csv", 'subdomain,platform,url,options\nok.ca,iqm2,https://x/,"{""no"":1}"\n', "no option 'no'"),
        ("a.csv", "subdomain,platform,url\nok.ca,iqm2,\n", "has no url"),
        ("a.csv", "subdomain\n../x\n", "cannot name a site"),
        ("a.csv", "subdomain,start_year\nok.ca,soon\n", "'soon' is not a year"),
        ("a.json", "{", "not JSON"),
        ("a.json", "{}", "expected a list"),
        ("a.json", '[{"subdomain": "a", "colour": 1}]', "no field 'colour'"),
        ("a.json", '[{"subdomain": "a"}, {"subdomain": "a"}]', "listed twice"),
    ],
)
def test_a_file_that_is_wrong_is_refused_as_a_whole(name, text, said, tmp_path):
    good = "good.ca\n" if text.startswith("subdomain\n") else ""
    file = tmp_path / name
    file.write_text(text + good)

    with pytest.raises(CommandError, match=said.replace("[", r"\[")):
        call_command("import_sites", file)

    assert not Site.objects.exists()


def test_every_problem_is_named_at_once(tmp_path):
    file = tmp_path / "sites.csv"
    file.write_text("subdomain,start_year,platform,url\n../x,,,\nok.ca,soon,gopher,https://x/\n")

    with pytest.raises(CommandError) as caught:
        call_command("import_sites", file)

    assert all(part in str(caught.value) for part in ("../x", "soon", "gopher"))


def test_a_file_that_cannot_be_read_is_said_so(tmp_path):
    with pytest.raises(CommandError, match="No such file"):
        call_command("import_sites", tmp_path / "nowhere.csv")
    (tmp_path / "bad.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CommandError, match="not UTF-8"):
        call_command("import_sites", tmp_path / "bad.csv")
