"""What a page is that gave hardly any text: a photograph, a map or drawing, handwriting."""

from PIL import Image

from pipeline.work.ocr.engines import Recognition
from pipeline.work.ocr.model import DRAWING, HANDWRITING, PHOTOGRAPH
from pipeline.work.ocr.pages.orientation import shadows

# A page with so many letters that the engine is sure of is text, whatever else is on it.
TEXT_LETTERS = 400
SURE = 75
# Halftones: greys that are neither ink nor paper. Text has them at the edges of its letters only.
DARK, LIGHT = 70, 215
HALFTONE = 0.2
# Less ink than this is a stamp or a few words, and nothing is said about it.
SOME_INK = 0.004
# Written lines throw an uneven shadow down the page and a smooth one across; maps throw both alike.
LINES = 1.5


def looks_like(image: Image.Image, reading: Recognition | None, ink: float) -> str:
    """A guess from the page's greys and its shadows; empty where it is text, or too little to tell."""
    if ink < SOME_INK or _sure_letters(reading) >= TEXT_LETTERS:
        return ""
    if _halftones(image) > HALFTONE:
        return PHOTOGRAPH
    down, across = shadows(image)
    return HANDWRITING if down > LINES * across and _has_words(reading) else DRAWING


def _sure_letters(reading: Recognition | None) -> int:
    if reading is None:
        return 0
    if not reading.words:
        return len(reading.text) if reading.confidence >= SURE else 0
    return sum(len(word[0]) for word in reading.words if word[5] >= SURE and len(word[0]) > 1)


def _has_words(reading: Recognition | None) -> bool:
    """An engine finds something like words in handwriting, however unsure."""
    return reading is not None and len(reading.text.split()) >= 3


def _halftones(image: Image.Image) -> float:
    histogram = image.reduce(2).histogram() if min(image.size) >= 16 else image.histogram()
    return sum(histogram[DARK:LIGHT]) / sum(histogram)
