"""The OCR stage: a document becomes one text file per page."""

from pipeline.work.ocr.again import read_again
from pipeline.work.ocr.document import read_document
from pipeline.work.ocr.model import OcrOptions, OcrResult

__all__ = ["OcrOptions", "OcrResult", "read_again", "read_document"]
