"""Tesseract inside the process: one warm engine for all pages of a document."""

import tesserocr
from PIL import Image

from pipeline.errors import PipelineError
from pipeline.work.ocr.engines import Engine, EngineSetup, Orienter, Recognition
from pipeline.work.ocr.engines.tesseract import MIN_ORIENTATION, from_table, orientation_model, tessdata


def build(setup: EngineSetup) -> Engine:
    folder = tessdata(setup.options, setup.languages)
    try:
        api = tesserocr.PyTessBaseAPI(
            path=str(folder), lang=setup.languages, psm=tesserocr.PSM.AUTO, oem=tesserocr.OEM.LSTM_ONLY
        )
    except RuntimeError as error:
        message = f"Tesseract does not start with {setup.languages} from {folder}: {error}"
        raise PipelineError(message, code="engine_missing") from error

    def recognise(image: Image.Image, dpi: int) -> Recognition:
        _show(api, image, dpi)
        try:
            return from_table(api.GetTSVText(0), image.width, image.height)
        finally:
            api.Clear()

    return recognise


def build_orienter(setup: EngineSetup) -> Orienter | None:
    folder = orientation_model(setup.options)
    if folder is None:
        return None
    api = tesserocr.PyTessBaseAPI(path=str(folder), lang="osd", psm=tesserocr.PSM.OSD_ONLY)

    def turn_of(image: Image.Image, dpi: int) -> int | None:
        _show(api, image, dpi)
        try:
            found = api.DetectOrientationScript()
        finally:
            api.Clear()
        if not found or found["orient_conf"] < MIN_ORIENTATION:
            return None
        return (360 - int(found["orient_deg"])) % 360

    return turn_of


def _show(api: tesserocr.PyTessBaseAPI, image: Image.Image, dpi: int) -> None:
    """The pixels as they are: handing over a Pillow image would encode and decode it once more."""
    api.SetImageBytes(image.tobytes(), image.width, image.height, 1, image.width)
    api.SetSourceResolution(dpi)
