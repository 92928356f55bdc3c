"""Fetchers are found by name; other packages may bring their own, as the documentation shows."""

import json
import re
import sys
from datetime import date
from pathlib import Path

import pytest

from pipeline.errors import StageError
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.detect import recognise
from pipeline.work.fetch.gate import LocalGate
from pipeline.work.fetch.listing import ListedDays, take
from pipeline.work.fetch.registry import BUILT_IN, build, fetchers
from tests.fakecity import FakeCity
from tests.fakecity.server import Reply, Request

DOCUMENTATION = (Path(__file__).resolve().parents[2] / "docs" / "fetchers.md").read_text()


def install(folder: Path, module: str, source: str, entry_point: str) -> None:
    """What pip does: the module, and beside it the note that names its entry points."""
    (folder / f"{module}.py").write_text(source)
    notes = folder / f"{module}-1.0.dist-info"
    notes.mkdir()
    (notes / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (notes / "entry_points.txt").write_text(f"[clerk.fetchers]\n{entry_point}\n")


@pytest.fixture
def packages(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    fetchers.cache_clear()
    yield tmp_path
    fetchers.cache_clear()
    sys.modules.pop("springfield_fetcher", None)


def test_the_documented_example_works_when_it_is_installed(packages):
    source = re.search(r"```python\n(# springfield_fetcher.py\n.*?)```", DOCUMENTATION, re.S)
    entry = re.search(r"springfield = \"(.*?)\"", DOCUMENTATION)
    assert source and entry
    install(packages, "springfield_fetcher", source.group(1), f"springfield = {entry.group(1)}")

    def records(request: Request) -> Reply:
        if "from" not in request.query:
            return Reply(b"<html class='springfield-records'></html>")
        row = {
            "id": 7,
            "file": f"{city.url}/7.pdf",
            "title": "Council Minutes (cancelled)",
            "board": "Council",
        }
        return Reply(json.dumps([row | {"day": "June 2, 2026 6:30 PM"}]).encode(), "application/json")

    with FakeCity() as city:
        city.answer("/records", records)
        client = Client(gate=LocalGate(0), private_hosts=[city.host])
        recognised = recognise(f"{city.url}/records", client)
        fetcher = build("springfield", client, f"{city.url}/records", {"board": 3})
        listing = take(fetcher, ListedDays.of(date(2026, 6, 15), start_year=2026), {})

    assert [(item.platform, item.confidence) for item in recognised] == [("springfield", 0.9)]
    (ref,) = listing.refs
    assert (ref.external_id, ref.body, ref.date, ref.kind) == ("7", "Council", date(2026, 6, 2), "minutes")
    assert ref.cancelled
    assert city.gets()[-1].query["board"] == "3"


def test_a_fetcher_that_cannot_be_loaded_does_not_stop_the_others(packages):
    install(packages, "broken_fetcher", "import no_such_module\n", "broken = broken_fetcher:Broken")

    with pytest.warns(UserWarning, match="broken_fetcher"):
        found = fetchers()

    assert "broken" not in found
    assert len(found) == len(BUILT_IN)


def test_an_unknown_platform_is_named_with_those_there_are():
    with pytest.raises(StageError, match=r"'gopher'.*legistar"):
        build("gopher", Client(), "https://city.example/")


@pytest.mark.parametrize("fetcher", BUILT_IN, ids=lambda fetcher: fetcher.name)
def test_every_platform_and_option_is_documented(fetcher):
    row = next(line for line in DOCUMENTATION.splitlines() if line.startswith(f"| `{fetcher.name}` |"))

    assert re.findall(r"`(\w+)`:", row.rsplit("|", 2)[1]) == [option.name for option in fetcher.options]
    assert fetcher.label


def test_every_setting_in_the_documentation_exists(settings):
    for name in set(re.findall(r"`(FETCH_\w+)`", DOCUMENTATION)):
        assert hasattr(settings, name)
