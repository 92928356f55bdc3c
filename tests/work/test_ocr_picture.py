"""A page as a picture: what a viewer shows, and never more time or memory than allowed."""

import io
import time
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from pipeline.errors import DocumentError
from pipeline.work.ocr.picture import LIMITS, draw_page
from pipeline.work.ocr.process.memory import MIB
from pipeline.work.ocr.process.parent import keep_warm, let_cool
from pipeline.work.ocr.words import words_of
from tests import pdfs

LINES = pdfs.prose(3, 24, 70)


@pytest.fixture
def pdf(tmp_path: Path):
    def write(content: bytes) -> Path:
        file = tmp_path / "minutes.pdf"
        file.write_bytes(content)
        return file

    return write


@pytest.fixture(scope="module", autouse=True)
def warm():
    keep_warm()
    yield
    let_cool()


def opened(picture: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(picture))
    assert image.format == "WEBP"
    return image


@pytest.mark.parametrize("turn", [0, 90])
def test_a_page_is_drawn_as_a_viewer_shows_it_with_its_words_under_their_boxes(read_pdf, tmp_path, turn):
    read_pdf(pdfs.rotated(pdfs.digital([LINES]), turn))
    image = opened(draw_page(tmp_path / "minutes.pdf", 1, 1000)).convert("L")

    assert image.size == ((1000, 1294) if turn == 0 else (1000, 773))
    for word in words_of(tmp_path / "text", 1)[:20]:
        left, top = word.left * image.width, word.top * image.height
        box = (left, top, left + word.width * image.width, top + word.height * image.height)
        assert min(image.crop(tuple(map(round, box))).tobytes()) < 120, word.text
    assert min(image.crop((0, 0, 1000, 40)).tobytes()) > 200  # the margin has no ink


def test_colours_stay(pdf):
    red = Image.new("RGB", (850, 1100), (200, 20, 20))
    image = opened(draw_page(pdf(pdfs.images([red])), 1, 200)).convert("RGB")

    assert image.size == (200, 259)
    assert all(
        abs(seen - real) < 12 for seen, real in zip(image.getpixel((100, 100)), (200, 20, 20), strict=True)
    )


def test_each_page_is_its_own_picture_and_another_is_named_as_missing(pdf):
    file = pdf(pdfs.digital([LINES, ["Adjourned."]]))

    assert draw_page(file, 1, 300) != draw_page(file, 2, 300)
    for number in (0, 3, -1):
        with pytest.raises(DocumentError) as error:
            draw_page(file, number, 300)
        assert error.value.code == "no_such_page"


def test_an_endless_width_or_page_stays_within_bounds(pdf):
    file = pdf(pdfs.digital([LINES]))

    assert opened(draw_page(file, 1, 10**9)).width <= 4000
    assert opened(draw_page(file, 1, -5)).width == 16
    huge = opened(draw_page(pdf(pdfs.giant_page()), 1, 800))
    assert huge.size == (800, 800)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (pdfs.encrypted(pdfs.digital([LINES])), "encrypted"),
        (pdfs.no_pages(), "no_pages"),
        (b"<html><body><p>Please log in", "not_a_pdf"),
        (b"", "empty_file"),
        (b"%PDF-1.7 and nothing else", "corrupt"),
    ],
)
def test_what_cannot_be_drawn_is_said_with_its_code(pdf, content, code):
    began = time.monotonic()
    with pytest.raises(DocumentError) as error:
        draw_page(pdf(content), 1, 400, replace(LIMITS, page_seconds=2))

    assert error.value.code == code
    assert time.monotonic() - began < 10


def test_a_page_that_draws_itself_for_ever_is_stopped(pdf):
    with pytest.raises(DocumentError) as error:
        draw_page(pdf(pdfs.form_loop()), 1, 400, replace(LIMITS, page_seconds=2))

    # Whichever limit a machine of this speed meets first.
    assert error.value.code in ("page_time_limit", "memory_limit")


def test_a_page_that_inflates_is_stopped_at_the_memory_limit(pdf):
    with pytest.raises(DocumentError) as error:
        draw_page(pdf(pdfs.bomb(1500)), 1, 400, replace(LIMITS, memory_limit=300 * MIB))

    assert error.value.code == "memory_limit"


def test_a_web_page_has_no_picture(tmp_path):
    (tmp_path / "agenda.html").write_text("<html><body><p>Roll call</body></html>")
    with pytest.raises(DocumentError) as error:
        draw_page(tmp_path / "agenda.html", 1, 400)

    assert error.value.code == "not_a_pdf"
