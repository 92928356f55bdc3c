"""Tesseract as a program, one process per page, for where tesserocr cannot be had."""

import os

import pytesseract
from PIL import Image

from pipeline.errors import DocumentError, MachineError
from pipeline.work.ocr.engines import Engine, EngineSetup, Orienter, Recognition
from pipeline.work.ocr.engines.tesseract import (
    MIN_ORIENTATION,
    from_table,
    orientation_model,
    program,
    tessdata,
)


def build(setup: EngineSetup) -> Engine:
    pytesseract.pytesseract.tesseract_cmd = program(setup.options)
    os.environ["TESSDATA_PREFIX"] = str(tessdata(setup.options, setup.languages))

    def recognise(image: Image.Image, dpi: int) -> Recognition:
        try:
            table = pytesseract.image_to_data(
                image,
                lang=setup.languages,
                config=f"--psm 3 --oem 1 --dpi {dpi}",
            )
        except pytesseract.TesseractNotFoundError as error:
            raise MachineError(str(error), code="engine_missing") from error
        except pytesseract.TesseractError as error:
            raise DocumentError(f"tesseract failed: {error.message}"[:300], code="engine_failed") from error
        return from_table(table, image.width, image.height)

    return recognise


def build_orienter(setup: EngineSetup) -> Orienter | None:
    folder = orientation_model(setup.options)
    if folder is None:
        return None
    pytesseract.pytesseract.tesseract_cmd = program(setup.options)

    def turn_of(image: Image.Image, dpi: int) -> int | None:
        try:
            found = pytesseract.image_to_osd(
                image,
                config=f'--dpi {dpi} --tessdata-dir "{folder}"',
                output_type=pytesseract.Output.DICT,
            )
        except pytesseract.TesseractError:
            return None  # too few characters to tell
        return int(found["rotate"]) if found["orientation_conf"] >= MIN_ORIENTATION else None

    return turn_of
