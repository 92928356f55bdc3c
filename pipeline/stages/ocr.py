"""The OCR stage: every page of one document becomes text."""

from django.conf import settings

from pipeline.stages.documents import document_of
from pipeline.stages.shared_files import shared
from pipeline.state.attempt import Attempt, Finished
from pipeline.work import ocr
from sites.models import Document
from sites.storage import SiteFiles


def run(attempt: Attempt) -> Finished:
    document = document_of(attempt)
    files = SiteFiles.of(attempt.site_id)
    file, text_dir = files.file(document.path), files.text_dir(document.path)
    with shared() as storage:
        storage.pull(file)
    read = ocr.read_document(
        file,
        text_dir,
        languages=document.site.languages or "eng",
        options=_ocr_options(),
        on_page=attempt.progress,
    )
    attempt.check()
    with shared() as storage:
        storage.push(text_dir)
    facts = {
        "pages": read.pages,
        "characters": read.characters,
        "methods": read.methods,
        "confidence": read.confidence,
        "findings": read.findings[:20],
    }

    def record() -> None:
        Document.objects.filter(pk=document.pk).update(pages=read.pages)

    return Finished(facts, record)


def _ocr_options() -> ocr.OcrOptions:
    return ocr.OcrOptions(
        engine=settings.OCR_ENGINE,
        tesseract_cmd=settings.TESSERACT_CMD,
        tessdata=settings.TESSDATA_PREFIX,
        memory_limit=settings.OCR_MEMORY_MB * 1024 * 1024,
        page_seconds=settings.OCR_PAGE_SECONDS,
        # A little before the queue's alarm, so that the pages in hand are kept.
        document_seconds=settings.JOB_LIMITS["ocr"] * 0.95,
        max_pages=settings.OCR_MAX_PAGES,
        max_bytes=settings.FETCH_MAX_BYTES,
    )
