"""Page by page: take the text layer, recognise the image, or call the page blank; always with the reason."""

from dataclasses import dataclass

from pipeline.work.ocr.model import BLANK, OCR, TEXT
from pipeline.work.ocr.pages.judging import MOJIBAKE_SHARE, is_word_salad, mojibake_share, tidy, visible

FULL_PAGE = 0.6
STAMP_CHARACTERS = 400
SPARSE_CHARACTERS = 100
SPARSE_IMAGE = 0.2
OUTLINES = 150


@dataclass(frozen=True)
class Layer:
    """What a PDF page holds, before anything is drawn."""

    raw: str
    objects: int
    paths: int
    # The share of the page under images, and the share of its text objects that nobody sees.
    image_share: float
    hidden_share: float


@dataclass(frozen=True)
class PageDecision:
    method: str
    reason: str


def decide(layer: Layer) -> PageDecision:
    text = tidy(layer.raw)
    characters = visible(text)
    if not characters:
        return PageDecision(OCR, "no_text") if layer.objects else PageDecision(BLANK, "nothing_drawn")
    if mojibake_share(layer.raw) > MOJIBAKE_SHARE:
        return PageDecision(OCR, "mojibake")
    if layer.image_share > FULL_PAGE and layer.hidden_share > 0.5:
        return PageDecision(OCR, "hidden_layer")
    seen = characters * (1 - layer.hidden_share)
    if layer.image_share > FULL_PAGE and seen < STAMP_CHARACTERS:
        return PageDecision(OCR, "stamp_over_scan")
    if seen < SPARSE_CHARACTERS and (layer.image_share > SPARSE_IMAGE or layer.paths > OUTLINES):
        return PageDecision(OCR, "sparse_text")
    if is_word_salad(text):
        return PageDecision(OCR, "word_salad")
    return PageDecision(TEXT, "text_layer")
