"""From a page's image to its words: upright, and with a closer look where the first was doubtful."""

from dataclasses import dataclass, replace
from itertools import accumulate

import pypdfium2
from PIL import Image

from pipeline.work.ocr.engines import (
    ACCURATE,
    Engine,
    EngineSetup,
    Orienter,
    Recognition,
    engine_for,
    orienter_for,
)
from pipeline.work.ocr.pages.appearance import looks_like
from pipeline.work.ocr.pages.orientation import lines_run_down
from pipeline.work.ocr.pages.pdf import Look, draw

# How far from the paper's own grey ink is. A page with less than a TRACE of it is not worth reading, and one
# with MUCH of it should have given text.
CONTRAST = 40
TRACE, MUCH = 0.00005, 0.0002
# As far from the paper's grey is still paper. Left in, it costs time, and on a page with little ink on it
# Tesseract takes it for the other shade.
GRAIN = 30
# Measured: of a page upside down Tesseract is sure by 23 to 53 percent.
WRONG_WAY = 60


@dataclass(frozen=True)
class Seen:
    """`reading` is None when there was no ink to read; `ink`: enough of it to expect text."""

    reading: Recognition | None
    ink: bool = False
    turn: int = 0
    # What it seems to be, where there is hardly text.
    looks: str = ""
    # The further engine that was asked, and the one whose reading it is.
    tried: str = ""
    engine: str = ""


class Looker:
    """Holds the engines of one document: started when a page first needs them, warm for the rest."""

    def __init__(self, setup: EngineSetup) -> None:
        self._setup = setup
        self._options = setup.options
        self._engine: Engine | None = None
        self._accurate: Engine | None = None
        self._orienter: Orienter | None = None
        self._orienter_sought = False

    def see(self, page: pypdfium2.PdfPage) -> Seen:
        look = Look(self._options.dpi, self._options.squeeze)
        image, dpi = self._draw(page, look)
        ink = ink_share(image)
        if ink < TRACE:
            return Seen(None)
        turn = self._turn_of(page) if lines_run_down(image) else None
        if turn:
            image, dpi = self._draw(page, replace(look, turn=turn))
        seen = Seen(self._recognise(image, dpi), ink > MUCH, turn or 0)
        if not self._is_clear(seen):
            seen = self._again(page, seen, look, asked=turn is not None)
            seen = replace(seen, looks=looks_like(image, seen.reading, ink))
        return self._accurately(page, seen)

    def _accurately(self, page: pypdfium2.PdfPage, seen: Seen) -> Seen:
        """What the first engine doubts is read by the accurate one, too, and the better reading stays."""
        if seen.reading is None or seen.reading.confidence >= self._options.accurate_below:
            return seen
        if self._accurate is None:
            options = replace(self._options, engine=ACCURATE)
            self._accurate = engine_for(replace(self._setup, options=options))
        reading = self._accurate(*self._draw(page, Look(self._options.dpi, turn=seen.turn)))
        other = replace(seen, reading=reading, tried=ACCURATE, engine=ACCURATE)
        return other if _sure_letters(other) > _sure_letters(seen) else replace(seen, tried=ACCURATE)

    def _again(self, page: pypdfium2.PdfPage, seen: Seen, look: Look, *, asked: bool) -> Seen:
        """Is it upside down? Is it small print? The better of the readings stays."""
        suspect = not asked and seen.reading is not None and seen.reading.confidence < WRONG_WAY
        turn = self._turn_of(page) or 0 if suspect else seen.turn
        if turn != seen.turn:
            seen = self._better(page, seen, replace(look, turn=turn))
        if not self._is_clear(seen):
            seen = self._better(page, seen, Look(self._options.careful_dpi, turn=seen.turn))
        return seen

    def _better(self, page: pypdfium2.PdfPage, known: Seen, look: Look) -> Seen:
        other = replace(known, reading=self._recognise(*self._draw(page, look)), turn=look.turn)
        return other if _sure_letters(other) > _sure_letters(known) else known

    def _turn_of(self, page: pypdfium2.PdfPage) -> int | None:
        if not self._orienter_sought:
            self._orienter, self._orienter_sought = orienter_for(self._setup), True
        if self._orienter is None:
            return None
        # On a page of a few words the model takes the grain for letters, for the better part of a second.
        image, dpi = self._draw(page, Look(self._options.dpi))
        return self._orienter(without_grain(image), dpi)

    def _draw(self, page: pypdfium2.PdfPage, look: Look) -> tuple[Image.Image, int]:
        return draw(page, look, self._options.max_megapixels)

    def _recognise(self, image: Image.Image, dpi: int) -> Recognition:
        if self._engine is None:
            self._engine = engine_for(self._setup)
        # The accurate engine was taught on paper as it is.
        clean = image if self._options.engine == ACCURATE else without_grain(image)
        return self._engine(clean, dpi)

    def _is_clear(self, seen: Seen) -> bool:
        return seen.reading is not None and seen.reading.confidence >= self._options.doubtful


def ink_share(image: Image.Image) -> float:
    """The share of the page that is not paper. Shrunk first, so that a scanner's dust counts for less."""
    small = image.reduce(2) if min(image.size) >= 16 else image
    histogram = small.histogram()
    paper = _paper(histogram)
    inked = sum(histogram[: max(paper - CONTRAST, 0)]) + sum(histogram[paper + CONTRAST :])
    return inked / (small.width * small.height)


def without_grain(image: Image.Image) -> Image.Image:
    """Paper made white, and all that is close to it."""
    paper = max(_paper(image.histogram()) - GRAIN, 1)
    return image.point([min(level * 255 // paper, 255) for level in range(256)])


def _paper(histogram: list[int]) -> int:
    """The grey that half of the page is lighter than."""
    half = sum(histogram) / 2
    return next(level for level, below in enumerate(accumulate(histogram)) if below >= half)


def _sure_letters(seen: Seen) -> float:
    """Letters above half-sure, weighted by how much: much garbage does not outweigh a little text."""
    if seen.reading is None:
        return 0.0
    if not seen.reading.words:
        return len(seen.reading.text) * (seen.reading.confidence - 50)
    return sum(len(word[0]) * max(word[5] - 50, 0) for word in seen.reading.words)
