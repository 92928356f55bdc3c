"""One function, several engines: tesserocr where it imports, else the tesseract program, or a plug-in."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType

from PIL import Image

from pipeline.errors import MachineError
from pipeline.work.ocr.engines.plugins import find_plugin
from pipeline.work.ocr.model import OcrOptions, Word


@dataclass(frozen=True)
class Recognition:
    """What an engine makes of an image: boxes in ten-thousandths of the image, confidence in percent."""

    text: str
    confidence: float
    words: list[Word] = field(default_factory=list)


@dataclass(frozen=True)
class EngineSetup:
    """What an engine is built from: `languages` as Tesseract writes them (`eng+spa`)."""

    languages: str
    options: OcrOptions


# A page's grey image and its resolution in; the reading out. Built once per document, called once per page.
Engine = Callable[[Image.Image, int], Recognition]

# The degrees a page must be turned clockwise to stand upright; None when it cannot be told.
Orienter = Callable[[Image.Image, int], int | None]

# Named by path, so that only the engine in use is loaded.
BUILT_IN = {
    "tesserocr": "pipeline.work.ocr.engines.tesserocr_engine",
    "pytesseract": "pipeline.work.ocr.engines.pytesseract_engine",
    "accurate": "pipeline.work.ocr.engines.rapid_engine",
}
ACCURATE = "accurate"
TESSERACTS = ("tesserocr", "pytesseract")


@lru_cache(maxsize=1)
def engine_for(setup: EngineSetup) -> Engine:
    name = setup.options.engine
    if name != "auto" and name not in BUILT_IN:
        build: Callable[[EngineSetup], Engine] = find_plugin(name, BUILT_IN)
        return build(setup)
    engine: Engine = _module(name).build(setup)
    return engine


def orienter_for(setup: EngineSetup) -> Orienter | None:
    """Tesseract's, whatever reads the text; None where its orientation model is not installed."""
    name = setup.options.engine
    orienter: Orienter | None = _module(name if name in TESSERACTS else "auto").build_orienter(setup)
    return orienter


def _module(name: str) -> ModuleType:
    """Only whether tesserocr imports decides `auto`: a missing language is the operator's to know."""
    try:
        return importlib.import_module(BUILT_IN["tesserocr" if name == "auto" else name])
    except ImportError as error:
        if name == "auto":
            return _module("pytesseract")
        raise MachineError(
            f"the OCR engine {name} is not installed: {error}", code="engine_missing"
        ) from error
