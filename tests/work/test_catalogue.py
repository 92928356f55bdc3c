"""What Datasette is told of a folder of databases: a deploy changes its own site's line only."""

import json
from pathlib import Path

from pipeline.work.deploy.catalogue import NAME, describe


def nobody():
    raise AssertionError("nobody needs to be asked")


def told(root: Path) -> dict[str, object]:
    about = json.loads((root / NAME).read_text())
    assert about["title"] == "Public records"
    return about["databases"]


def test_a_line_is_added_changed_and_removed_in_its_place(tmp_path):
    describe(tmp_path, "b.ca", {"title": "B"}, lambda: [("b.ca", {"title": "B"})])
    for site in ("c.ca", "a.ca", "bb.ca"):
        assert describe(tmp_path, site, {"title": site}, nobody)

    assert list(told(tmp_path)) == ["a.ca", "b.ca", "bb.ca", "c.ca"]
    describe(tmp_path, "b.ca", {"title": 'new "title"\n'}, nobody)
    describe(tmp_path, "c.ca", None, nobody)
    describe(tmp_path, "a.ca", None, nobody)
    assert told(tmp_path) == {"b.ca": {"title": 'new "title"\n'}, "bb.ca": {"title": "bb.ca"}}
    for site in ("b.ca", "bb.ca"):
        describe(tmp_path, site, None, nobody)
    assert told(tmp_path) == {}


def test_what_stays_the_same_writes_nothing(tmp_path):
    describe(tmp_path, "b.ca", {"title": "B"}, lambda: [("b.ca", {"title": "B"})])
    before = (tmp_path / NAME).stat()

    assert not describe(tmp_path, "b.ca", {"title": "B"}, nobody)
    assert not describe(tmp_path, "never.ca", None, nobody)

    after = (tmp_path / NAME).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_file_of_another_form_is_made_anew(tmp_path):
    (tmp_path / NAME).write_text(
        json.dumps({"title": "Public records", "databases": {"old.ca": {}}}, indent=1)
    )

    describe(tmp_path, "b.ca", {}, lambda: [("b.ca", {}), ("a.ca", {})])

    assert list(told(tmp_path)) == ["a.ca", "b.ca"]
