"""The accurate engine: RapidOCR with the models of its wheel, on OpenVINO or else on onnxruntime."""

import importlib.util
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from PIL import Image
from rapidocr import EngineType, RapidOCR
from rapidocr.utils.process_img import get_rotate_crop_image

from pipeline.errors import PipelineError
from pipeline.work.ocr.engines import Engine, EngineSetup, Recognition
from pipeline.work.ocr.model import SCALE, Word
from pipeline.work.ocr.pages.layout import Piece, reordered

# The longer side of the picture in which lines are looked for.
DETECTOR_SIDE = 960
# Lines are padded to a multiple of this many columns of the network's own height: for each width that it has
# not met it prepares itself, and keeps the memory.
LINE_HEIGHT, WIDTH_STEP = 48, 128
# In heights of a line: so much paper between two lines begins a paragraph.
PARAGRAPH = 0.9

# An array of height, width and three colours; numpy is there only where this engine is.
Pixels = Any


class Line(NamedTuple):
    words: list[Word]
    # Where it stands on the image: left, top, right, bottom, in pixels.
    box: tuple[float, float, float, float]


def build(setup: EngineSetup) -> Engine:
    rapid = RapidOCR(params=_parameters())

    def recognise(image: Image.Image, dpi: int) -> Recognition:
        pixels = np.asarray(image.convert("L"))[:, :, np.newaxis].repeat(3, axis=2)
        lines = [line for line in _lines(rapid, pixels) if line.words]
        return _recognition(lines, image.height / image.width)

    return recognise


def _parameters() -> dict[str, Any]:
    if importlib.util.find_spec("openvino"):
        runtime = EngineType.OPENVINO
    elif importlib.util.find_spec("onnxruntime"):
        runtime = EngineType.ONNXRUNTIME
    else:
        raise PipelineError(
            "the accurate engine needs openvino or onnxruntime: pip install -r requirements-accurate.txt",
            code="engine_missing",
        )
    return {
        "Global.log_level": "critical",
        "Global.use_preprocess_img": False,
        "EngineConfig.openvino.inference_num_threads": 1,
        "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        "Det.engine_type": runtime,
        "Det.limit_side_len": DETECTOR_SIDE,
        "Det.limit_type": "max",
        "Rec.engine_type": runtime,
        "Rec.rec_batch_num": 1,
    }


def _lines(rapid: RapidOCR, pixels: Pixels) -> Iterator[Line]:
    found = rapid(pixels, use_det=True, use_cls=False, use_rec=False)
    for corners in found.boxes if found.boxes is not None else ():
        crop = get_rotate_crop_image(pixels, corners.copy())
        read = rapid(_padded(crop), use_det=False, use_cls=False, use_rec=True, return_word_box=True)
        if read.txts and read.txts[0].strip():
            box = (*corners.min(axis=0), *corners.max(axis=0))
            width = _padded_width(crop) / crop.shape[1]
            yield Line(_words(read.txts[0], read.word_results[0], box, width, pixels.shape), box)


def _padded_width(crop: Pixels) -> float:
    height, width = crop.shape[:2]
    columns = math.ceil(LINE_HEIGHT * width / height / WIDTH_STEP) * WIDTH_STEP
    return max(columns * height / LINE_HEIGHT, width)


def _padded(crop: Pixels) -> Pixels:
    missing = round(_padded_width(crop)) - crop.shape[1]
    return np.pad(crop, ((0, 0), (0, missing), (0, 0)), mode="edge") if missing > 0 else crop


def _words(
    text: str, info: Any, box: tuple[float, ...], stretch: float, shape: tuple[int, ...]
) -> list[Word]:
    """Each word where the network saw its letters: it says for each in which of its columns."""
    columns = [column for word in info.word_cols for column in word]
    sure = [value for letter, value in zip(text, info.confs, strict=False) if not letter.isspace()]
    unit = (box[2] - box[0]) * stretch / max(info.line_txt_len, 1)
    words, at = [], 0
    for word in text.split():
        mine, at = columns[at : at + len(word)], at + len(word)
        if not mine:
            break
        left, right = box[0] + (mine[0] - 0.5) * unit, min(box[0] + (mine[-1] + 1.5) * unit, box[2])
        percent = round(100 * sum(sure[at - len(word) : at]) / len(word))
        words.append((word, *_box((left, box[1], right, box[3]), shape), percent))
    return words


def _box(box: tuple[float, float, float, float], shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    high, wide = shape[:2]
    left, top, right, bottom = (
        min(max(int(value * SCALE / side), 0), SCALE)
        for value, side in zip(box, (wide, high, wide, high), strict=True)
    )
    return left, top, right, bottom


def _recognition(lines: Sequence[Line], aspect: float) -> Recognition:
    pieces = [
        piece for line, after in zip(lines, [*lines[1:], None], strict=True) for piece in _pieces(line, after)
    ]
    pieces = reordered(pieces, aspect) or pieces
    letters = sum(len(word[0]) for word, _ in pieces)
    sure = sum(len(word[0]) * word[5] for word, _ in pieces)
    return Recognition(
        "".join(word[0] + ending for word, ending in pieces).rstrip("\n"),
        round(sure / letters, 1) if letters else 0.0,
        [word for word, _ in pieces],
    )


def _pieces(line: Line, after: Line | None) -> list[Piece]:
    *inner, last = line.words
    return [*(Piece(word, " ") for word in inner), Piece(last, _ending(line, after))]


def _ending(line: Line, after: Line | None) -> str:
    if after is None:
        return "\n"
    (_, top, _, bottom), (_, next_top, _, next_bottom) = line.box, after.box
    height = min(bottom - top, next_bottom - next_top)
    if min(bottom, next_bottom) - max(top, next_top) > height / 2:
        return " "
    return "\n\n" if next_top - bottom > PARAGRAPH * height else "\n"
