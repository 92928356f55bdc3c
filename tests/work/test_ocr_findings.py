"""What is wrong with a page or a file is said: damage, lost pages, senseless words, pictures."""

import io
import math
import random

import pytest
from PIL import Image, ImageDraw, ImageFilter
from pypdf import PdfWriter
from pypdf.generic import NameObject, NullObject

from pipeline.work.ocr.pages.judging import is_word_salad
from tests import pdfs

LINES = pdfs.prose(3, 12, 70)


def shifted(text: str) -> str:
    """Every letter three further on, as a font with a wrong table shows them."""
    return "".join(
        chr((ord(letter) - base + 3) % 26 + base)
        if letter.isalpha() and (base := 65 if letter.isupper() else 97)
        else letter
        for letter in text
    )


# ---- Word salad ---------------------------------------------------------------------------------------


def test_salad_that_the_engine_reads_is_said_to_be_salad(read_pdf, page_facts):
    result = read_pdf(pdfs.scanned([[shifted(line) for line in LINES]], pdfs.CLEAN))

    assert page_facts(1)["reason"] == "word_salad_read"
    assert result.findings[0] == "page 1 reads like word salad"


def test_half_a_page_of_salad_is_seen():
    half = [shifted(line) if number % 2 else line for number, line in enumerate(pdfs.prose(8, 60))]

    assert is_word_salad("\n".join(half))
    assert not is_word_salad("\n".join(pdfs.prose(8, 60)))


def test_a_sane_layer_is_taken_where_the_image_reads_as_salad(read_pdf, page_text, page_facts):
    read_pdf(pdfs.overprinted([shifted(line) for line in LINES], LINES, invisible=True))

    assert page_facts(1)["reason"] == "hidden_layer_ocr_salad"
    assert page_text(1).split() == " ".join(LINES).split()


# ---- Damage -------------------------------------------------------------------------------------------


def with_contents(change) -> bytes:
    """Three pages, the instructions of the second changed."""
    writer = PdfWriter(clone_from=io.BytesIO(pdfs.digital([LINES, LINES, LINES])))
    for page in writer.pages:
        page.compress_content_streams()
    change(writer, writer.pages[1])
    output = io.BytesIO()
    writer.write(output)
    return output.getvalue()


def flip_bits(writer: PdfWriter, page) -> None:
    stream = page["/Contents"].get_object()
    stream._data = stream._data[:2] + bytes(byte ^ 0x5A for byte in stream._data[2:])


def cut_short(writer: PdfWriter, page) -> None:
    stream = page["/Contents"].get_object()
    stream._data = stream._data[:2]


def lose(writer: PdfWriter, page) -> None:
    page[NameObject("/Contents")] = writer._add_object(NullObject())


@pytest.mark.parametrize("change", [flip_bits, cut_short, lose])
def test_a_page_whose_instructions_are_damaged_is_not_called_blank(read_pdf, page_facts, change):
    result = read_pdf(with_contents(change))

    assert result.pages == 3
    assert page_facts(2)["reason"] == "damaged"
    assert result.findings == ["page 2 is damaged and shows nothing"]


def test_a_page_whose_image_cannot_be_decoded_is_not_called_blank(read_pdf, page_facts):
    scan = bytearray(pdfs.scanned([LINES], pdfs.OFFICE))
    start = scan.index(b"\xff\xd8")
    scan[start : start + 600] = bytes(600)
    result = read_pdf(pdfs.joined(pdfs.digital([LINES]), bytes(scan)))

    assert page_facts(2)["reason"] == "damaged"
    assert result.findings == ["page 2 is damaged and shows nothing"]


def test_an_empty_page_is_blank_and_no_finding(read_pdf, page_facts):
    white = Image.new("L", (850, 1100), 255)
    result = read_pdf(pdfs.joined(pdfs.digital([LINES]), pdfs.blank(), pdfs.images([white])))

    assert [page_facts(number)["reason"] for number in (2, 3)] == ["nothing_drawn", "no_ink"]
    assert result.findings == []


def test_a_file_cut_off_says_how_many_pages_it_may_have_lost(read_pdf):
    whole = pdfs.joined(*(pdfs.digital([pdfs.prose(number)]) for number in range(6)))
    result = read_pdf(whole[: len(whole) // 2])

    assert 0 < result.pages < 6
    assert result.findings[0] == f"the file is damaged; {6 - result.pages} of its 6 pages may be lost"


def test_a_file_that_only_lost_its_end_says_that_its_pages_are_there(read_pdf):
    whole = pdfs.digital([LINES, LINES])
    result = read_pdf(whole[: whole.rindex(b"xref\n0")])

    assert result.pages == 2
    assert result.findings == ["the file is damaged; all the pages it names are there"]


# ---- No text at all -----------------------------------------------------------------------------------


def photograph() -> Image.Image:
    small = Image.effect_noise((40, 52), 90)
    return small.resize((1700, 2200), Image.Resampling.BICUBIC).filter(ImageFilter.GaussianBlur(12))


def site_plan() -> Image.Image:
    dice, picture = random.Random(4), Image.new("L", (1700, 2200), 255)
    pen = ImageDraw.Draw(picture)
    for _ in range(60):
        x, y = dice.randint(100, 1600), dice.randint(100, 2100)
        points = [(x, y)]
        for _ in range(8):
            x, y = x + dice.randint(-300, 300), y + dice.randint(-300, 300)
            points.append((x, y))
        pen.line(points, fill=0, width=4)
    return picture


def letter_by_hand() -> Image.Image:
    dice, picture = random.Random(5), Image.new("L", (1700, 2200), 255)
    pen = ImageDraw.Draw(picture)
    for line in range(9):
        x, base = 160.0, 250 + 130 * line
        while x < 1500:
            length = dice.randint(4, 9)
            points = []
            for step in range(length * 8):
                swing = math.sin(step * dice.uniform(0.7, 0.9)) * dice.uniform(8, 26)
                points.append((x + step * 3.2, base - abs(swing) + dice.uniform(-2, 2)))
            pen.line(points, fill=30, width=4)
            x += length * 26 + 40
    return picture


@pytest.mark.parametrize(
    ("picture", "looks"),
    [(photograph, "a photograph"), (site_plan, "a map or drawing"), (letter_by_hand, "handwriting")],
)
def test_what_is_no_print_is_said_to_be_so(read_pdf, page_facts, picture, looks):
    result = read_pdf(pdfs.joined(pdfs.digital([LINES]), pdfs.images([picture()], pdfs.Quality(dpi=200))))

    assert page_facts(2)["looks"] == looks
    assert f"page 2 looks like {looks}" in result.findings


def test_rough_print_is_not_said_to_be_anything_else(read_pdf, page_facts):
    result = read_pdf(pdfs.scanned([LINES], pdfs.ROUGH))

    assert page_facts(1)["looks"] == ""
    assert result.findings == []
