"""No text is hostile: four times the text costs four times the steps, and every pattern is small."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest

from pipeline.work.database.compilation import DocumentInfo
from pipeline.work.extraction import (
    MeetingContext,
    addresses,
    agenda,
    dates,
    extract_document,
    legislation,
    money,
)
from pipeline.work.extraction.motions import events as motion_events
from pipeline.work.extraction.motions import outcomes, tables, tallies, voters, votes
from pipeline.work.extraction.people import (
    list_ends,
    name_lists,
    names,
    roles,
    roll,
    roll_lists,
    roll_sentences,
)

Add = Callable[..., DocumentInfo]
MODULES = (
    addresses, agenda, dates, legislation, list_ends, money, motion_events, name_lists, names, outcomes,
    roles, roll, roll_lists, roll_sentences, tables, tallies, voters, votes,
)  # fmt: skip
# Repeated until they fill the page: one character, or what the rules look for, over and over.
CHARACTERS = ("a", "A", "é", " ", "\n", "$", "(", "1", ".", "\u202e")
PIECES = (
    "((a)", "A. ", "A, ", "1.1 A\n", "1 A St ", "May 1 ", "5-0 ", "moved ", "motion to ", "motion by A ",
    "and moved said ", "Ayes: ", "Aye - ", "Ayes: A, B, C\n", "Mr. A, yes; ", "Present: A, B\n",
    "Mayor A B moved, seconded by C D. Motion carried 5-0. ", "Resolutions 1, 2 and ", "[AYES: ",
    "A, B\nAyes:\n", "RESULT:\nMOVER:\n", "MOVER: A B\nAYES: C, D,\n", "A B\nPresent\n", "A - aye, ",
    "A, seconded by B, moved ", "5 ayes (A, ", "motion as amended ", "motion was made to a by ",
)  # fmt: skip
HOSTILE = [(piece, 100_000) for piece in CHARACTERS] + [(piece, 40_000) for piece in PIECES]


def patterns_of(module: ModuleType) -> list[tuple[str, Any]]:
    found = [(name, value) for name, value in vars(module).items() if hasattr(value, "programsize")]
    return [(f"{module.__name__}.{name}", value) for name, value in found]


@pytest.mark.parametrize(("name", "pattern"), [each for module in MODULES for each in patterns_of(module)])
def test_a_pattern_is_small_enough_for_the_engine_that_never_backtracks(name: str, pattern: Any) -> None:
    assert pattern.programsize < 20_000


class Steps:
    """Counts every call, of Python and of C, made inside the block."""

    def __enter__(self) -> "Steps":
        self.count = 0
        sys.setprofile(self._step)
        return self

    def _step(self, frame: FrameType, event: str, argument: Any) -> None:
        self.count += event in ("call", "c_call")

    def __exit__(self, *exc_info: object) -> None:
        sys.setprofile(None)


def steps_for(text: str, add_document: Add, facts: Path) -> int:
    document = add_document("hostile", text)
    with Steps() as steps:
        extract_document(document.text_dir, facts, MeetingContext(date="2024-01-15", kind="minutes"))
    facts.unlink()
    return steps.count


@pytest.mark.slow
@pytest.mark.parametrize(("piece", "size"), HOSTILE, ids=[repr(piece) for piece, _ in HOSTILE])
def test_steps_grow_no_faster_than_the_text(piece: str, size: int, add_document: Add, tmp_path: Path) -> None:
    texts = [(piece * length)[:length] for length in (size // 4, size)]
    small, large = (steps_for(text, add_document, tmp_path / "facts.json") for text in texts)

    fixed = 5_000  # loading, caching, writing
    assert large - fixed <= 1.1 * 4 * small
