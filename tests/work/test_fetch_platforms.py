"""Every platform lists the same meetings, and what it lists can be downloaded."""

from datetime import date
from pathlib import Path

import pytest

from pipeline.errors import DocumentError
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.download import Downloaded, copy, download
from pipeline.work.fetch.gate import LocalGate
from pipeline.work.fetch.listing import ListedDays, take
from pipeline.work.fetch.refs import DocRef
from pipeline.work.fetch.registry import build, fetcher_class
from tests.fakecity import FakeCity
from tests.fakecity.meetings import MEETINGS, TODAY
from tests.fakecity.platforms import PUBLISH

# These do not say at what time a meeting began.
WITHOUT_TIMES = {"civicplus", "novusagenda"}


@pytest.fixture
def city():
    with FakeCity() as server:
        yield server


@pytest.fixture
def client(city):
    with Client(gate=LocalGate(0), private_hosts=[city.host]) as opened:
        yield opened


def expected(platform: str, meetings=MEETINGS) -> set[tuple]:
    return {
        (
            meeting.body,
            meeting.date,
            None if platform in WITHOUT_TIMES else meeting.time,
            kind,
            meeting.cancelled,
        )
        for meeting in meetings
        for kind in meeting.kinds
    }


def told(ref: DocRef) -> tuple:
    return (ref.body, ref.date, ref.time, ref.kind, ref.cancelled)


@pytest.mark.parametrize("platform", PUBLISH)
def test_a_platform_lists_every_document_of_every_meeting_once(platform, city, client):
    fetcher = build(platform, client, PUBLISH[platform](city, MEETINGS))

    listing = take(fetcher, ListedDays.of(TODAY, start_year=2020), {})

    found = [told(ref) for ref in listing.refs]
    wanted = expected(platform)
    if platform == "generic":  # a page of links gives no times of its own
        wanted = {(*entry[:2], None, *entry[3:]) for entry in wanted}
    assert set(found) == wanted
    # Two meetings of one body on one day are two documents, even where only their ids tell them apart.
    assert len({ref.external_id for ref in listing.refs}) == len(listing.refs)
    assert len(listing.refs) == sum(len(meeting.kinds) for meeting in MEETINGS)
    assert listing.warning == ""


@pytest.mark.parametrize("platform", PUBLISH)
def test_what_a_platform_lists_can_be_downloaded_and_is_the_right_document(platform, city, client, tmp_path):
    fetcher = build(platform, client, PUBLISH[platform](city, MEETINGS))

    for number, ref in enumerate(take(fetcher, ListedDays.of(TODAY), {}).refs):
        url, form = fetcher_class(platform).request_for(ref.url)
        file = tmp_path / str(number)
        downloaded = download(client, url, file, form=form, accept=ref.content_hint)

        assert isinstance(downloaded, Downloaded)
        assert f"{ref.kind} of the {ref.body} on {ref.date}".encode() in file.read_bytes()


@pytest.mark.parametrize("platform", PUBLISH)
def test_a_second_listing_gives_the_same_identities(platform, city, client):
    url = PUBLISH[platform](city, MEETINGS)
    first = take(build(platform, client, url), ListedDays.of(TODAY), {})
    second = take(build(platform, client, url), ListedDays.of(TODAY), {})

    assert [ref.external_id for ref in first.refs] == [ref.external_id for ref in second.refs]


@pytest.mark.parametrize("platform", PUBLISH)
def test_a_platform_without_meetings_lists_nothing_and_does_not_fail(platform, city, client):
    fetcher = build(platform, client, PUBLISH[platform](city, [MEETINGS[0]]))

    listing = take(fetcher, ListedDays.of(date(2031, 1, 1), start_year=2030), {})

    assert listing.refs == ()


@pytest.mark.parametrize("platform", [name for name in PUBLISH if fetcher_class(name).step])
def test_the_window_is_listed_first_and_the_backfill_goes_on_where_it_stopped(platform, city, client):
    url = PUBLISH[platform](city, MEETINGS)
    window_only = take(build(platform, client, url), ListedDays.of(TODAY, start_year=2020, seconds=0), {})
    rest = take(build(platform, client, url), ListedDays.of(TODAY, start_year=2020), window_only.cursor)
    asked = len(city.asked)
    after = take(build(platform, client, url), ListedDays.of(TODAY, start_year=2020), rest.cursor)

    newest = {ref.external_id for ref in window_only.refs}
    assert {ref.date for ref in window_only.refs if ref.date} >= {date(2026, 6, 2)}
    assert window_only.cursor["done"] is False
    assert {ref.date for ref in rest.refs} == {meeting.date for meeting in MEETINGS}
    assert rest.cursor["done"] is True
    # Once all is listed, a run asks for the window only.
    assert newest <= {ref.external_id for ref in after.refs}
    assert len(city.asked) - asked <= asked


def test_a_folder_is_a_source_too(tmp_path):
    folder = tmp_path / "records"
    for meeting in MEETINGS:
        for kind in meeting.kinds:
            file = folder / meeting.body / f"{meeting.date}-{meeting.number}-{kind}.pdf"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(meeting.pdf(kind))
    (folder / "notes.txt").write_text("not a record")
    client = Client(local_dirs=[folder])

    listing = take(build("local", client, folder.as_uri()), ListedDays.of(TODAY), {})

    assert {(ref.body, ref.date, ref.kind) for ref in listing.refs} == {
        (meeting.body, meeting.date, kind) for meeting in MEETINGS for kind in meeting.kinds
    }
    for ref in listing.refs:
        file = tmp_path / "copy.pdf"
        copy(client, ref.url, file)
        assert f"{ref.kind} of the {ref.body}".encode() in file.read_bytes()


def test_a_folder_that_is_not_named_in_the_settings_is_not_read(tmp_path):
    with pytest.raises(DocumentError, match="FETCH_LOCAL_DIRS"):
        take(build("local", Client(), Path("/etc").as_uri()), ListedDays.of(TODAY), {})
