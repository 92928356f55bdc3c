"""`make test` runs the suite in parts: every file in one of them, and the last lines tell of all."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import suite  # noqa: E402


def files_of(part: suite.Part) -> list[str]:
    return [argument for argument in part.pytest if argument.endswith(".py")]


def test_every_test_file_is_in_exactly_one_part() -> None:
    shared = [file for part in suite.parts() if not part.services for file in files_of(part)]

    assert sorted(shared) == sorted(
        str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")
    )


def test_what_is_for_both_databases_is_in_exactly_one_part_on_sqlite() -> None:
    shared = [file for part in suite.parts() if part.services for file in files_of(part)]

    assert len(shared) == len(set(shared))
    assert set(shared) == {
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("test_*.py")
        if f"mark.{suite.BOTH}" in path.read_text()
    }


@pytest.mark.parametrize("on_sqlite", [False, True])
def test_the_parts_are_of_about_the_same_size(on_sqlite: bool) -> None:
    sizes = [
        sum(suite.weight(ROOT / file) for file in files_of(part))
        for part in suite.parts()
        if bool(part.services) == on_sqlite
    ]

    assert max(sizes) < 1.3 * min(sizes)


def test_the_last_lines_name_what_was_skipped_and_what_failed(capsys: pytest.CaptureFixture[str]) -> None:
    part, other = suite.parts()[:2]
    skipped = suite.Ended(
        part, 0, ["...", "SKIPPED [1] tests/x.py:3: no Chromium", "== 4 passed, 1 skipped =="]
    )
    failed = suite.Ended(other, 1, ["FAILED tests/y.py::test_it", "== 1 failed =="])

    code = suite.report([skipped, failed], 60)

    said = capsys.readouterr().out
    assert code == 1
    assert "no Chromium" in said
    assert "tests/y.py::test_it" in said
    assert said.endswith(f"failed: {other.name}, in 60 s\n")
