"""Another package may bring its own extractor, deploy target or hook, by entry points alone."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline.work.database.compilation import DocumentInfo
from pipeline.work.deploy import Release, hooks, publish, run_hooks, targets
from pipeline.work.extraction import MeetingContext, document, extract_document, read_facts

Add = Callable[..., DocumentInfo]
CODE = """
from pathlib import Path
from pipeline.work.deploy import Published
from pipeline.work.extraction import Fact

def moods(paged, context):
    start = paged.text.find("calm")
    if start >= 0:
        yield Fact("mood", start, start + 4, "word", 0.5, {"mood": "calm", "body": context.body})

class Shelf:
    def __init__(self, url):
        self.root = Path(url.partition(":")[2])
    def current(self, site):
        return None
    def publish(self, release):
        (self.root / "shelved").write_text(release.version)
        return Published("shelf", release.version, None, changed=True)

def hook(release, published):
    release.database.with_name("hooked").write_text(published[0].location)
"""
POINTS = """
[clerk.extractors]
moods = clerk_plugin_for_tests:moods
[clerk.deploy_targets]
shelf = clerk_plugin_for_tests:Shelf
[clerk.after_deploy]
tell = clerk_plugin_for_tests:hook
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch) -> Iterator[None]:
    """A package as pip would leave it, on the path for one test."""
    (tmp_path / "clerk_plugin_for_tests.py").write_text(CODE)
    info = tmp_path / "clerk_plugin_for_tests-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: clerk-plugin-for-tests\nVersion: 1\n")
    (info / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    caches = (document.extractors, targets.offered, hooks.offered)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def test_an_extractor_of_another_package_adds_its_facts(plugin, add_document: Add, tmp_path: Path) -> None:
    added = add_document("minutes", "first page", "A calm meeting about $5.")

    found = extract_document(added.text_dir, tmp_path / "facts.json", MeetingContext(body="Council"))

    assert found.counts == {"money": 1, "mood": 1}
    [mood] = [fact for fact in read_facts(tmp_path / "facts.json")["facts"] if fact["kind"] == "mood"]
    assert (mood["page"], mood["start"], mood["text"], mood["body"]) == (2, 2, "calm", "Council")


def test_a_new_extractor_makes_old_facts_stale(add_document: Add, tmp_path: Path, request) -> None:
    added = add_document("minutes", "A calm meeting.")
    extract_document(added.text_dir, tmp_path / "facts.json", MeetingContext())
    request.getfixturevalue("plugin")

    again = extract_document(added.text_dir, tmp_path / "facts.json", MeetingContext())

    assert (again.cached, again.counts) == (False, {"mood": 1})


def test_a_target_and_a_hook_of_another_package_are_used(plugin, tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "site.db").close()
    release = Release("alameda.ca", "2024-1", tmp_path / "site.db")

    published = publish(release, [f"shelf:{tmp_path}"])
    run_hooks("", release, published)

    assert (tmp_path / "shelved").read_text() == "2024-1"
    assert (tmp_path / "hooked").read_text() == "shelf"
