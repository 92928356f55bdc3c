"""Papers as PDF files: from the word processor, from the scanner, both in one, or ruined."""

import random
from collections.abc import Sequence
from io import BytesIO
from textwrap import wrap

import pypdfium2
from PIL import Image, ImageFilter
from reportlab import rl_config
from reportlab.lib.pagesizes import LETTER
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from demo.towns import Form, Paper
from demo.wording import pages

SCAN_DPI = 200
rl_config.useA85 = 0  # pictures as they are: encoding them as text takes most of the time
LOGIN_PAGE = b"<!doctype html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>"


def content_of(paper: Paper) -> bytes | None:
    """The bytes under the paper's address; None where the address leads nowhere."""
    match paper.form:
        case Form.MISSING:
            return None
        case Form.HTML:
            return LOGIN_PAGE
        case Form.BROKEN:
            # Cut off in its first object: a header, and nothing that could be repaired.
            return digital(pages(paper))[:40]
        case Form.SCANNED:
            return scanned(pages(paper), paper.path)
        case Form.MIXED:
            return mixed(pages(paper), paper.path)
    return digital(pages(paper))


def digital(texts: Sequence[Sequence[str]]) -> bytes:
    output = BytesIO()
    canvas = _canvas(output)
    for paragraphs in texts:
        _write(canvas, paragraphs)
    canvas.save()
    return output.getvalue()


def scanned(texts: Sequence[Sequence[str]], seed: str) -> bytes:
    """Every page a picture of paper: slightly turned, slightly soft, with specks."""
    return _printed([None] * len(texts), _photographs(texts, seed))


def mixed(texts: Sequence[Sequence[str]], seed: str) -> bytes:
    """The first page as typed, the rest as signed and scanned."""
    return _printed([texts[0], *([None] * (len(texts) - 1))], _photographs(texts, seed))


def _printed(typed: Sequence[Sequence[str] | None], photographs: Sequence[Image.Image]) -> bytes:
    output = BytesIO()
    canvas = _canvas(output)
    for paragraphs, photograph in zip(typed, photographs, strict=True):
        if paragraphs is None:
            canvas.drawImage(_jpeg(photograph), 0, 0, *LETTER)
            canvas.showPage()
        else:
            _write(canvas, paragraphs)
    canvas.save()
    return output.getvalue()


def _photographs(texts: Sequence[Sequence[str]], seed: str) -> list[Image.Image]:
    chance = random.Random(seed)
    document = pypdfium2.PdfDocument(digital(texts))
    try:
        drawn = [page.render(scale=SCAN_DPI / 72, grayscale=True).to_pil() for page in document]
    finally:
        document.close()
    return [_aged(page.convert("L"), chance) for page in drawn]


def _aged(page: Image.Image, chance: random.Random) -> Image.Image:
    turned = page.rotate(chance.uniform(-0.6, 0.6), Image.Resampling.BILINEAR, fillcolor=255)
    soft = turned.filter(ImageFilter.GaussianBlur(0.6))
    grain = Image.frombytes("L", soft.size, chance.randbytes(soft.width * soft.height))
    return Image.blend(soft, grain, 0.12)


def _jpeg(photograph: Image.Image) -> ImageReader:
    output = BytesIO()
    photograph.save(output, "JPEG", quality=70)
    output.seek(0)
    return ImageReader(output)


def _canvas(output: BytesIO) -> Canvas:
    # Invariant: no date of making inside, so the same paper has the same bytes at every start.
    return Canvas(output, pagesize=LETTER, invariant=1)


def _write(canvas: Canvas, paragraphs: Sequence[str]) -> None:
    text = canvas.beginText(72, LETTER[1] - 72)
    text.setFont("Times-Roman", 12)
    text.setLeading(17)
    for paragraph in paragraphs:
        for line in wrap(paragraph, 84):
            text.textLine(line)
        text.textLine("")
    canvas.drawText(text)
    canvas.showPage()
