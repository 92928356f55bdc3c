"""Random cuts and flips of PDFs: every one ends in text or in a failure with a code, and nothing stays."""

import random

import pytest

from pipeline.errors import PipelineError
from tests import pdfs

CODES = {
    "corrupt", "encrypted", "no_pages", "no_text", "memory_limit", "page_time_limit", "reader_crashed",
    "not_a_pdf", "too_many_pages", "empty_file",
}  # fmt: skip
TEXT = pdfs.digital([pdfs.prose(number, 10, 60) for number in range(3)])
SCAN = pdfs.joined(
    pdfs.digital([pdfs.prose(1, 5)]), pdfs.scanned([["Roll call"]], pdfs.Quality(dpi=72, jpeg=40))
)
CASES = 24


def broken(seed: int) -> bytes:
    dice = random.Random(seed)
    data = bytearray(dice.choice((TEXT, TEXT, SCAN)))
    for _ in range(dice.randint(1, 4)):
        for change in dice.sample((_flip, _cut, _double, _rename), 1):
            change(dice, data)
    return bytes(data)


def _flip(dice: random.Random, data: bytearray) -> None:
    for _ in range(dice.randint(1, 60)):
        data[dice.randrange(len(data))] = dice.randrange(256)


def _cut(dice: random.Random, data: bytearray) -> None:
    start = dice.randrange(len(data))
    del data[start : start + dice.randint(1, max(len(data) // 3, 1))]
    data.extend(b" " * (not data))


def _double(dice: random.Random, data: bytearray) -> None:
    start = dice.randrange(len(data))
    data[start:start] = data[start : start + dice.randint(1, 2000)]


def _rename(dice: random.Random, data: bytearray) -> None:
    """Numbers and names that mean something: lengths, references, filters."""
    old, new = dice.choice(
        [
            (b"/Length", b"/Lengtj"),
            (b" 0 R", b" 9 R"),
            (b"/Count 3", b"/Count 9"),
            (b"/FlateDecode", b"/LZWDecode  "),
        ]
    )
    data[:] = data.replace(old, new, dice.randint(1, 3))


@pytest.mark.usefixtures("nothing_left_behind")
@pytest.mark.parametrize("seed", range(CASES))
def test_a_broken_file_ends_in_text_or_in_a_code(read_pdf, seed):
    try:
        result = read_pdf(broken(seed), page_seconds=20, memory_limit=300 * 1024 * 1024)
    except PipelineError as failure:
        assert failure.code in CODES
    else:
        assert result.characters
