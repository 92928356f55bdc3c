"""A PDF's pages through pdfium: text layer, what is drawn, word boxes, and the page as a grey image."""

import ctypes
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image

from pipeline.work.ocr.model import SCALE, Word
from pipeline.work.ocr.pages.deciding import FULL_PAGE, Layer
from pipeline.work.ocr.pages.hyphens import JOINED, KEPT, marked, unmarked
from pipeline.work.ocr.pages.layout import Piece, reordered

MAX_OBJECTS = 20_000
MAX_DEPTH = 4
ANGLES = 40
MIN_SIDE, MAX_SIDE = 8, 30_000
FINER = 1000
# A word, or the half of one that was broken at the end of a line.
_WORD = re.compile(f"[^\\s{JOINED}{KEPT}]+{KEPT}?")


@dataclass(frozen=True)
class Look:
    """How a page is drawn: `squeeze` makes it narrower than it is, `turn` turns it clockwise."""

    dpi: int
    squeeze: float = 1.0
    turn: int = 0


@contextmanager
def page_of(document: pypdfium2.PdfDocument, number: int) -> Iterator[pypdfium2.PdfPage]:
    page = document[number - 1]
    try:
        yield page
    finally:
        page.close()


@dataclass(frozen=True)
class Written:
    """A page's text layer as the file has it (`raw`) and as it is read.

    `turn` is how far the page was turned clockwise to get its lines in order.
    """

    raw: str
    text: str
    words: list[Word]
    turn: int = 0


def layer_of(page: pypdfium2.PdfPage) -> tuple[Layer, Written]:
    written = _written(page)
    if written.turn:
        # pdfium takes the lines as they are shown: those of a page on its side come last line first.
        shown = page.get_rotation()
        page.set_rotation((shown + written.turn) % 360)
        upright = _written(page)
        page.set_rotation(shown)
        written = replace(upright, words=turned_back(upright.words, written.turn), turn=written.turn)
    return _survey(page, written.raw), written


def _written(page: pypdfium2.PdfPage) -> Written:
    textpage = page.get_textpage()
    try:
        raw = textpage.get_text_range()
        text = marked(raw)
        found = list(_pieces(page, textpage, text))
        pieces = [piece for piece in found if piece]
        # A word without a place would be lost on the way.
        ordered = reordered(pieces, _aspect(page)) if len(pieces) == len(found) else None
        if ordered is not None:
            text, pieces = "".join(piece.word[0] + piece.ending for piece in ordered), ordered
        return Written(
            raw, unmarked(text), [_shown(piece.word) for piece in pieces], _turn_of(page, textpage)
        )
    finally:
        textpage.close()


def _aspect(page: pypdfium2.PdfPage) -> float:
    width, height = page.get_size()
    return height / max(width, 1e-6)


def _shown(word: Word) -> Word:
    return (word[0].replace(KEPT, "-"), *word[1:]) if word[0].endswith(KEPT) else word


def _turn_of(page: pypdfium2.PdfPage, textpage: pypdfium2.PdfTextPage) -> int:
    """By the angle of most of its letters, a sample of them."""
    count = textpage.count_chars()
    angles = Counter(
        round(math.degrees(pdfium.FPDFText_GetCharAngle(textpage.raw, index)) / 90) * 90 % 360
        for index in range(0, count, max(count // ANGLES, 1))
    )
    return (-angles.most_common(1)[0][0] - page.get_rotation()) % 360 if angles else 0


def turned_back(words: list[Word], turn: int) -> list[Word]:
    """Boxes found on the turned page, on the page as a viewer shows it."""
    if not turn:
        return words
    return [(text, *_box_back((x0, y0, x1, y1), turn), sure) for text, x0, y0, x1, y1, sure in words]


def _box_back(box: tuple[int, int, int, int], turn: int) -> tuple[int, int, int, int]:
    x0, y0, x1, y1 = box
    if turn == 90:
        return y0, SCALE - x1, y1, SCALE - x0
    if turn == 180:
        return SCALE - x1, SCALE - y1, SCALE - x0, SCALE - y0
    return SCALE - y1, x0, SCALE - y0, x1


def _pieces(page: pypdfium2.PdfPage, textpage: pypdfium2.PdfTextPage, text: str) -> Iterator[Piece | None]:
    """First and last letter give the box: two calls a word, not one a letter. None: nobody knows where."""
    if len(text) != len(text.encode("utf-16-le")) // 2:
        return  # pdfium counts in UTF-16 units: beyond the basic plane its numbers are not ours
    place = _placer(page)
    found = list(_WORD.finditer(text))
    starts = [*(match.start() for match in found[1:]), len(text)]
    for match, following in zip(found, starts, strict=False):
        ends = match.end() - match.group().endswith(KEPT)
        first, last = _charbox(textpage, match.start()), _charbox(textpage, ends - 1)
        if first and last:
            box = (
                min(first[0], last[0]),
                max(first[1], last[1]),
                max(first[2], last[2]),
                min(first[3], last[3]),
            )
            yield Piece((match.group(), *place(box), 100), _ending(text[match.end() : following]))
        else:
            yield None


def _ending(gap: str) -> str:
    """What parts a word from the next one: nothing after half a word."""
    return gap if gap in ("", " ", JOINED) else "\n" if "\n" in gap or "\r" in gap else " "


def _charbox(textpage: pypdfium2.PdfTextPage, index: int) -> tuple[float, float, float, float] | None:
    """Left, top, right, bottom of a letter in the page's own units."""
    char = pdfium.FPDFText_GetCharIndexFromTextIndex(textpage.raw, index)
    box = pdfium.FS_RECTF()
    if char < 0 or not pdfium.FPDFText_GetLooseCharBox(textpage.raw, char, box):
        return None
    return box.left, box.top, box.right, box.bottom


def _placer(
    page: pypdfium2.PdfPage,
) -> Callable[[tuple[float, float, float, float]], tuple[int, int, int, int]]:
    """From page units to ten-thousandths of the page as shown; pdfium knows rotation and crop box.

    It is asked about three points, and the rest is arithmetic: two questions a word would take longer.
    """
    width, height = (max(side, 1.0) for side in page.get_size())
    (x, y), (x_across, y_across), (x_up, y_up) = (
        _on_device(page, *point) for point in ((0, 0), (width, 0), (0, height))
    )
    by_x, by_y = ((x_across - x) / width, (y_across - y) / width), ((x_up - x) / height, (y_up - y) / height)

    def corner(across: float, up: float) -> tuple[int, int]:
        right = round(x + by_x[0] * across + by_y[0] * up)
        down = round(y + by_x[1] * across + by_y[1] * up)
        return min(max(right, 0), SCALE), min(max(down, 0), SCALE)

    def place(box: tuple[float, float, float, float]) -> tuple[int, int, int, int]:
        (x0, y0), (x1, y1) = corner(box[0], box[1]), corner(box[2], box[3])
        return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)

    return place


def _on_device(page: pypdfium2.PdfPage, across: float, up: float) -> tuple[float, float]:
    """Asked on a screen a thousand times finer, for its answers are whole numbers."""
    x, y = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDF_PageToDevice(page.raw, 0, 0, SCALE * FINER, SCALE * FINER, 0, across, up, x, y)
    return x.value / FINER, y.value / FINER


def _survey(page: pypdfium2.PdfPage, raw: str) -> Layer:
    """Count what is drawn; text under a later full-page image is as unseen as text drawn invisibly."""
    left, bottom, right, top = page.get_bbox()
    area = max((right - left) * (top - bottom), 1.0)
    texts = hidden = paths = 0
    covered = 0.0
    count = min(pdfium.FPDFPage_CountObjects(page.raw), MAX_OBJECTS)
    for index in range(count):
        thing = pdfium.FPDFPage_GetObject(page.raw, index)
        kind = pdfium.FPDFPageObj_GetType(thing)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            texts += 1
            hidden += pdfium.FPDFTextObj_GetTextRenderMode(thing) == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE
        elif kind == pdfium.FPDF_PAGEOBJ_IMAGE or (kind == pdfium.FPDF_PAGEOBJ_FORM and _holds_image(thing)):
            share = _overlap(thing, (left, bottom, right, top)) / area
            covered += share
            hidden = texts if share > FULL_PAGE else hidden
        else:
            paths += 1
    return Layer(raw, count, paths, min(covered, 1.0), hidden / texts if texts else 0.0)


def _holds_image(form: pdfium.FPDF_PAGEOBJECT, depth: int = 1) -> bool:
    for index in range(min(pdfium.FPDFFormObj_CountObjects(form), 200)):
        thing = pdfium.FPDFFormObj_GetObject(form, index)
        kind = pdfium.FPDFPageObj_GetType(thing)
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            return True
        if kind == pdfium.FPDF_PAGEOBJ_FORM and depth < MAX_DEPTH and _holds_image(thing, depth + 1):
            return True
    return False


def has_broken_image(page: pypdfium2.PdfPage) -> bool:
    """Is there an image that cannot be decoded?"""
    for index in range(min(pdfium.FPDFPage_CountObjects(page.raw), MAX_OBJECTS)):
        thing = pdfium.FPDFPage_GetObject(page.raw, index)
        if pdfium.FPDFPageObj_GetType(thing) == pdfium.FPDF_PAGEOBJ_IMAGE:
            bitmap = pdfium.FPDFImageObj_GetBitmap(thing)
            if not bitmap:
                return True
            pdfium.FPDFBitmap_Destroy(bitmap)
    return False


def _overlap(thing: pdfium.FPDF_PAGEOBJECT, page: tuple[float, float, float, float]) -> float:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not pdfium.FPDFPageObj_GetBounds(thing, left, bottom, right, top):
        return 0.0
    width = min(right.value, page[2]) - max(left.value, page[0])
    height = min(top.value, page[3]) - max(bottom.value, page[1])
    return max(width, 0.0) * max(height, 0.0)


def draw(page: pypdfium2.PdfPage, look: Look, max_megapixels: float) -> tuple[Image.Image, int]:
    """The page in grey, and the resolution it was really drawn at (its height's)."""
    width, height = page.get_size()
    if look.turn in (90, 270):
        width, height = height, width
    dpi = min(look.dpi, 72 * math.sqrt(max_megapixels * 1e6 / (max(width * height, 1e-6) * look.squeeze)))
    size = (_side(width * look.squeeze * dpi / 72), _side(height * dpi / 72))
    # Without FPDF_GRAYSCALE: the bitmap is grey anyway, and with it a scan takes three times as long.
    return _drawn(page, size, pdfium.FPDFBitmap_Gray, look.turn), max(round(dpi), 1)


def picture(page: pypdfium2.PdfPage, width: int, max_megapixels: float, max_side: int) -> Image.Image:
    """The page in its colours as a viewer shows it, at most so wide."""
    shown, high = page.get_size()
    scale = min(
        width / max(shown, 1e-6),
        max_side / max(high, 1e-6),
        math.sqrt(max_megapixels * 1e6 / max(shown * high, 1e-6)),
    )
    size = (_side(shown * scale, max_side), _side(high * scale, max_side))
    return _drawn(page, size, pdfium.FPDFBitmap_BGR).convert("RGB")


def _side(pixels: float, most: int = MAX_SIDE) -> int:
    return min(max(round(pixels), MIN_SIDE), most)


def _drawn(page: pypdfium2.PdfPage, size: tuple[int, int], colours: int, turn: int = 0) -> Image.Image:
    bitmap = pypdfium2.PdfBitmap.new_native(*size, colours)
    try:
        bitmap.fill_rect((255, 255, 255, 255), 0, 0, *size)
        flags = pdfium.FPDF_ANNOT | pdfium.FPDF_RENDER_LIMITEDIMAGECACHE
        pdfium.FPDF_RenderPageBitmap(bitmap.raw, page.raw, 0, 0, *size, turn // 90, flags)
        return bitmap.to_pil().copy()
    finally:
        bitmap.close()
