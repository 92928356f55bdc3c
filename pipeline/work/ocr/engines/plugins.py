"""Engines from other packages, found through the entry-point group `clerk.ocr_engines`."""

from collections.abc import Iterable
from importlib.metadata import entry_points
from typing import Any

from pipeline.errors import PipelineError

GROUP = "clerk.ocr_engines"


def find_plugin(name: str, built_in: Iterable[str]) -> Any:
    """What builds the engine of this name."""
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in found:
        known = ", ".join(sorted({*built_in, *found}))
        raise PipelineError(f"no OCR engine is called {name!r}; there are {known}", code="engine_missing")
    try:
        return found[name].load()
    except ImportError as error:
        raise PipelineError(f"the OCR engine {name} does not load: {error}", code="engine_missing") from error
