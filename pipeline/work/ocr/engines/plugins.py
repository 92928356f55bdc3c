"""Engines from other packages, found through the entry-point group `clerk.ocr_engines`."""

from collections.abc import Callable
from importlib.metadata import entry_points

from pipeline.errors import PipelineError
from pipeline.work.ocr.engines import BUILT_IN, Engine, EngineSetup

GROUP = "clerk.ocr_engines"


def find(name: str) -> Callable[[EngineSetup], Engine]:
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in found:
        known = ", ".join(sorted({*BUILT_IN, *found}))
        raise PipelineError(f"no OCR engine is called {name!r}; there are {known}", code="engine_missing")
    try:
        build: Callable[[EngineSetup], Engine] = found[name].load()
    except ImportError as error:
        raise PipelineError(f"the OCR engine {name} does not load: {error}", code="engine_missing") from error
    return build
