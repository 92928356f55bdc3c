"""A page's picture with what was found marked on it: small enough for a mail, and shown by every program."""

import io

from PIL import Image, ImageDraw, UnidentifiedImageError

from records.reading import SCALE, Box

WIDTH = 640
QUALITY = 72
INK = (255, 212, 0)


def for_mail(picture: bytes, boxes: list[Box]) -> bytes | None:
    """As JPEG: not every program that reads mail knows WebP."""
    try:
        page = Image.open(io.BytesIO(picture)).convert("RGB")
    except (UnidentifiedImageError, OSError):
        return None
    marked = _with_marks(page, boxes)
    marked.thumbnail((WIDTH, 2 * WIDTH))
    out = io.BytesIO()
    marked.save(out, "JPEG", quality=QUALITY, optimize=True)
    return out.getvalue()


def _with_marks(page: Image.Image, boxes: list[Box]) -> Image.Image:
    over = page.copy()
    draw = ImageDraw.Draw(over)
    for box in boxes:
        left, top = box.left * page.width // SCALE, box.top * page.height // SCALE
        right, bottom = left + box.width * page.width // SCALE, top + box.height * page.height // SCALE
        draw.rectangle((left - 2, top - 2, right + 2, bottom + 2), fill=INK)
    return Image.blend(page, over, 0.45)
