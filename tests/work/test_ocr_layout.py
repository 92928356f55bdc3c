"""The order in which the words of a text layer are read, its spaces, and its hyphens."""

import pytest

from pipeline.work.ocr.pages.hyphens import rejoined
from pipeline.work.ocr.pages.spacing import may_have_lost_spaces
from pipeline.work.ocr.words import words_of
from tests import pdfs

LEFT = pdfs.prose(4, 14, 40)
RIGHT = pdfs.prose(5, 14, 40)
FIRST, SECOND = 60, 330


def column(lines: list[str], left: float, top: float = 120) -> list[tuple[float, float, str]]:
    return [(left, top + 14 * number, line) for number, line in enumerate(lines)]


def rows(*columns: list[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
    """Line by line across the page, as some programs write columns."""
    return [text for row in zip(*columns, strict=True) for text in row]


def words(*lines: str) -> list[str]:
    return " ".join(lines).split()


HEADING = (60, 80, "MINUTES OF THE REGULAR MEETING OF THE CITY COUNCIL OF JANUARY FIFTEENTH, IN OPEN SESSION")


@pytest.mark.parametrize(
    "texts",
    [
        [HEADING, *column(LEFT, FIRST), *column(RIGHT, SECOND)],
        [HEADING, *rows(column(LEFT, FIRST), column(RIGHT, SECOND))],
        [*column(RIGHT, SECOND), *column(LEFT, FIRST), HEADING],
        [*column(RIGHT, SECOND, 124), HEADING, *column(LEFT, FIRST)],
    ],
    ids=["in order", "line by line across", "last first", "of unequal height"],
)
def test_two_columns_are_read_one_after_the_other_however_they_are_written(read_pdf, page_text, texts):
    read_pdf(pdfs.laid_out(texts))

    assert page_text(1).split() == words(HEADING[2], *LEFT, *RIGHT)


def test_a_line_across_both_columns_parts_them(read_pdf, page_text):
    below = [
        (60, 330, "The following ordinances were read by title only and laid over for one week by the clerk")
    ]
    texts = [
        *below,
        *column(RIGHT, SECOND),
        *column(RIGHT, FIRST, 350),
        *column(LEFT, FIRST),
        *column(LEFT, SECOND, 350),
    ]
    read_pdf(pdfs.laid_out(texts))

    assert page_text(1).split() == words(*LEFT, *RIGHT, below[0][2], *RIGHT, *LEFT)


VOTES = [
    ("RESULT:", ["ADOPTED [UNANIMOUS]"]),
    ("MOVER:", ["Dolores Garcia, Council Member"]),
    ("AYES:", ["Alvarez, Baker, Chen, Dawson, Espinoza,", "Fischer, Garcia, Hughes, Ibrahim"]),
    ("ABSENT:", ["Johnson"]),
]


@pytest.mark.parametrize("late", ["each label after its names", "all labels last"])
def test_a_label_is_read_before_the_names_beside_it(read_pdf, page_text, late):
    names, labels, texts, top = [], [], [], 120
    for label, lines in VOTES:
        block = column(lines, 180, top)
        texts += [*block, (72, top, label)]
        names += block
        labels.append((72, top, label))
        top += 14 * len(lines) + 6
    read_pdf(pdfs.laid_out(texts if late.startswith("each") else names + labels))

    assert page_text(1).splitlines() == [
        "RESULT: ADOPTED [UNANIMOUS]",
        "MOVER: Dolores Garcia, Council Member",
        "AYES: Alvarez, Baker, Chen, Dawson, Espinoza,",
        "Fischer, Garcia, Hughes, Ibrahim",
        "ABSENT: Johnson",
    ]


def test_a_page_number_written_first_is_read_last(read_pdf, page_text):
    read_pdf(pdfs.laid_out([(280, 760, "Page 1 of 3"), *column(LEFT, 72)]))

    assert page_text(1).split() == words(*LEFT, "Page 1 of 3")


def test_cells_of_a_table_written_cell_by_cell_stay_whole(read_pdf, page_text):
    cells = [
        [(72, 120, "FEBRUARY"), *column(["Tuesday, February 12", "9:45 am"], 180), *column(["Room 2"], 400)],
        [
            (72, 170, "MARCH"),
            *column(["Friday, March 1", "10:00 am"], 180, 170),
            *column(["Room 3"], 400, 170),
        ],
    ]
    read_pdf(pdfs.laid_out([text for row in cells for text in row]))

    assert page_text(1).split() == words(
        "FEBRUARY Tuesday, February 12 9:45 am Room 2 MARCH Friday, March 1 10:00 am Room 3"
    )


def test_the_places_of_words_follow_their_order(read_pdf, page_text, tmp_path):
    read_pdf(pdfs.laid_out([*column(RIGHT, SECOND), *column(LEFT, FIRST)]))
    found = words_of(tmp_path / "text", 1)

    assert [word.text for word in found] == words(*LEFT, *RIGHT)
    assert all(page_text(1)[word.start : word.end] == word.text for word in found)
    assert found[0].left < 0.2
    assert found[-1].left > 0.5


# ---- Spaces -------------------------------------------------------------------------------------------

GLUED = [
    "WHEREAS, the City of Rivergrove has adopted a Comprehensive Plan and Land Development",
    "Ordinance to guide and control its future development on the Tualatin River; and",
    "AN ORDINANCE THAT AMENDS ORDINANCE NO. 70-2001 TO ALLOW DOCKS",
]


def test_spaces_that_the_first_reader_loses_are_given_back(read_pdf, page_text, page_facts, tmp_path):
    read_pdf(pdfs.without_gaps(GLUED))

    assert page_facts(1)["reason"] == "text_layer_spaced"
    assert page_text(1).split() == words(*GLUED)
    found = words_of(tmp_path / "text", 1)
    assert [word.text for word in found] == words(*GLUED)
    assert all(word.start is not None for word in found)
    city = next(word for word in found if word.text == "City")
    the = next(word for word in found if word.text == "the")
    assert the.left < city.left < the.left + the.width + 0.02


@pytest.mark.parametrize(
    ("text", "suspicious"),
    [
        ("theCity ofRivergrove has adopted a plan", True),
        ("THECITYOFRIVERGROVEOREGON and 70-2001TOALLOWDOCKS", True),
        ("McDonald, VanReece, DeMartini, O'Connell, LaVergne and MacArthur were present", False),
        ("Write to clerk@rivergrove.example.gov or see www.rivergrove.example.gov/agendas", False),
        (" ".join(pdfs.prose(9, 40)), False),
        ("tomake decisionsincompliance acknowledgedcomprehensive " * 30, True),
    ],
)
def test_lost_spaces_are_suspected_by_what_words_look_like(text, suspicious):
    assert may_have_lost_spaces(text) is suspicious


# ---- Hyphens ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["It was moved and sec-", "onded by Chen."], "It was moved and seconded\nby Chen."),
        (["It was moved and sec\u00ad", "onded by Chen."], "It was moved and seconded\nby Chen."),
        (
            ["Appointed was Ms. Stratman-", "Hodge of Elm Court."],
            "Appointed was Ms. Stratman-Hodge\nof Elm Court.",
        ),
        (["A term of twenty-", "one months was set."], "A term of twenty-one\nmonths was set."),
        (["The list is not up-", "to-date at all."], "The list is not up-to-date\nat all."),
        (["Long-range, and again long-", "range planning."], "Long-range, and again long-range\nplanning."),
        (["See Resolution 2021-", "22 of the Board."], "See Resolution 2021-\n22 of the Board."),
    ],
)
def test_a_word_broken_at_the_end_of_a_line_is_one_word(read_pdf, page_text, tmp_path, lines, expected):
    read_pdf(pdfs.laid_out(column(lines, 72)))

    assert page_text(1) == expected
    assert all(word.start is not None for word in words_of(tmp_path / "text", 1))


def test_a_broken_word_has_a_box_on_each_of_its_lines(read_pdf, tmp_path):
    read_pdf(pdfs.laid_out(column(["It was moved and sec-", "onded by Chen."], 72)))
    first, second = (word for word in words_of(tmp_path / "text", 1) if word.text in ("sec", "onded"))

    assert first.top + first.height <= second.top + 0.005
    assert first.left > second.left
    assert (first.end, second.end - second.start) == (second.start, 5)


def test_recognised_text_has_its_broken_words_joined_too(read_pdf, page_text, tmp_path):
    lines = [
        *pdfs.prose(6, 6, 70),
        "The motion of Council Member Alvarez was duly sec-",
        "onded by Baker and carried.",
    ]
    read_pdf(pdfs.scanned([lines], pdfs.CLEAN))

    assert "was duly seconded\nby Baker" in page_text(1)
    placed = {word.text: word for word in words_of(tmp_path / "text", 1)}
    assert page_text(1)[placed["sec-"].start : placed["onded"].end] == "seconded"


def test_hyphens_that_end_no_line_are_left_alone():
    assert rejoined("a well-known case -\nnot so") == "a well-known case -\nnot so"
