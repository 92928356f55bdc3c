"""Do the lines of a page run across it or down? A guess from its shadows, in a few milliseconds."""

from itertools import pairwise

from PIL import Image

# Measured: upright pages stay under 0.9, pages on their side come out above 4.
SIDEWAYS = 1.2
SHADOW = 400


def lines_run_down(image: Image.Image) -> bool:
    """The shadow thrown across lines of text jumps between ink and paper; the one along them is smooth."""
    upright, sideways = shadows(image)
    return sideways > SIDEWAYS * upright


def shadows(image: Image.Image) -> tuple[float, float]:
    """How uneven the page's shadow is down the page, and across it."""
    return (
        _unevenness(image.resize((1, min(image.height, SHADOW)), Image.Resampling.BOX)),
        _unevenness(image.resize((min(image.width, SHADOW), 1), Image.Resampling.BOX)),
    )


def _unevenness(shadow: Image.Image) -> float:
    levels = shadow.tobytes()
    return sum(abs(one - other) for one, other in pairwise(levels)) / len(levels)
