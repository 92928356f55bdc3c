"""Page by page: which way a page is read, why, and how well."""

from difflib import SequenceMatcher

import pytest
from PIL import Image, ImageDraw

from tests import pdfs

LINES = pdfs.prose(3, 24, 70)


def likeness(text: str, lines: list[str]) -> float:
    return SequenceMatcher(None, " ".join(text.split()), " ".join(lines), autojunk=False).ratio()


def assert_first_word_is_in_the_corner(facts: dict, turn: int) -> None:
    """Boxes are on the page as it is shown: after 90 degrees the first word is at the top right."""
    word, left, top, right, bottom, _ = facts["words"][0]
    assert word == LINES[0].split()[0]
    across, down = {90: ("right", "top"), 180: ("right", "bottom"), 270: ("left", "bottom")}[turn]
    assert left > 7000 if across == "right" else right < 3000
    assert top > 7000 if down == "bottom" else bottom < 3000


def test_a_digital_page_gives_its_own_text_and_word_boxes(read_pdf, page_text, page_facts):
    result = read_pdf(pdfs.digital([LINES]))

    assert result.methods == {"text": 1}
    assert page_text(1).split() == " ".join(LINES).split()
    facts = page_facts(1)
    assert facts["reason"] == "text_layer"
    word, left, top, right, bottom, sure = facts["words"][0]
    assert (word, sure) == (LINES[0].split()[0], 100)
    # One inch from the left and from the top of a letter page.
    assert 1150 < left < right < 3000
    assert 700 < top < bottom < 1000
    assert [word[0] for word in facts["words"]] == " ".join(LINES).split()


@pytest.mark.parametrize("engine", ["tesserocr", "pytesseract"])
def test_a_scanned_page_is_recognised(read_pdf, page_text, page_facts, tmp_path, engine):
    result = read_pdf(pdfs.scanned([LINES], pdfs.OFFICE), engine=engine)

    assert result.methods == {"ocr": 1}
    assert result.confidence > 85
    assert likeness(page_text(1), LINES) > 0.98
    facts = page_facts(1)
    assert (facts["method"], facts["reason"]) == ("ocr", "no_text")
    word, left, top, right, bottom, _ = facts["words"][0]
    assert word == LINES[0].split()[0]
    assert 1000 < left < right < 3000
    assert 600 < top < bottom < 1100
    assert sorted(file.name for file in (tmp_path / "text").iterdir()) == ["1.json", "1.txt", "document.json"]


def test_each_page_of_a_mixed_document_is_decided_for_itself(read_pdf, page_facts):
    document = pdfs.joined(
        pdfs.digital([LINES]), pdfs.scanned([LINES], pdfs.FAX), pdfs.blank(), pdfs.digital([LINES])
    )
    result = read_pdf(document)

    assert result.pages == 4
    assert [page_facts(number)["method"] for number in (1, 2, 3, 4)] == ["text", "ocr", "blank", "text"]
    assert result.findings == []


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (lambda: pdfs.overprinted(LINES, ["RECEIVED JAN 15 2024 CITY CLERK"]), "stamp_over_scan"),
        (lambda: pdfs.overprinted(LINES, pdfs.prose(8), invisible=True), "hidden_layer"),
        (lambda: pdfs.mojibake(LINES), "mojibake"),
        (lambda: pdfs.word_salad(LINES), "word_salad"),
    ],
)
def test_a_text_layer_that_is_not_the_page_is_not_believed(read_pdf, page_text, page_facts, document, reason):
    read_pdf(document())

    assert (page_facts(1)["method"], page_facts(1)["reason"]) == ("ocr", reason)
    assert likeness(page_text(1), LINES) > 0.9


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_page_scanned_the_wrong_way_round_is_righted(read_pdf, page_text, page_facts, turn):
    read_pdf(pdfs.scanned([LINES], pdfs.OFFICE, turn=turn))

    assert likeness(page_text(1), LINES) > 0.98
    facts = page_facts(1)
    assert facts["rotation"] == 360 - turn
    assert_first_word_is_in_the_corner(facts, turn)


def test_a_page_on_its_side_is_righted_by_the_program_too(read_pdf, page_text):
    read_pdf(pdfs.scanned([LINES], pdfs.OFFICE, turn=90), engine="pytesseract")

    assert likeness(page_text(1), LINES) > 0.98


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_digital_page_on_its_side_keeps_the_order_of_its_lines(read_pdf, page_text, page_facts, turn):
    read_pdf(pdfs.rotated(pdfs.digital([LINES]), turn))

    assert page_text(1).split() == " ".join(LINES).split()
    assert page_facts(1)["rotation"] == 360 - turn
    assert_first_word_is_in_the_corner(page_facts(1), turn)


def test_a_page_with_ink_and_no_text_is_reported(read_pdf):
    picture = Image.new("L", (1700, 2200), 255)
    ImageDraw.Draw(picture).ellipse((300, 500, 1400, 1600), fill=40)
    result = read_pdf(pdfs.joined(pdfs.digital([LINES]), pdfs.images([picture])))

    assert result.findings == ["page 2 has ink but gave no text", "page 2 looks like a map or drawing"]


def test_a_web_page_is_one_page_of_text(read_pdf, page_text, page_facts):
    html = (
        b"<html><head><title>x</title></head><body><h1>Agenda</h1><ul><li>Roll call</li></ul></body></html>"
    )
    result = read_pdf(html, name="agenda.html")

    assert (result.pages, result.methods) == (1, {"html": 1})
    assert "Agenda" in page_text(1)
    assert "* Roll call" in page_text(1)
    assert page_facts(1)["reason"] == "web_page"


def test_a_doubtful_first_look_is_followed_by_a_closer_one(read_pdf, page_text):
    small_print = pdfs.prose(5, 24, 90)
    document = pdfs.scanned([small_print], pdfs.CLEAN, size=7)
    read_pdf(document, dpi=80, doubtful=0)
    once = likeness(page_text(1), small_print)
    read_pdf(document + b"\n", dpi=80)

    assert likeness(page_text(1), small_print) > max(once, 0.95)


def test_a_stain_does_not_hide_a_short_page(read_pdf, page_text):
    read_pdf(pdfs.scanned([["Adjourned."]], pdfs.ROUGH))

    assert page_text(1).strip() == "Adjourned."
