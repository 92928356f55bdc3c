"""The OCR stage: every page of one document becomes text."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from django.conf import settings

from pipeline.errors import DocumentError, PipelineError, TargetError
from pipeline.stages.decisions import HowRead, how_read
from pipeline.stages.documents import document_of
from pipeline.stages.shared_files import shared
from pipeline.state.attempt import Attempt, Finished
from pipeline.work import ocr
from pipeline.work.ocr.again import Again, doubtful_pages
from pipeline.work.ocr.engines import ACCURATE, EngineSetup, engine_for
from sites.models import Document
from sites.storage import SiteFiles


def run(attempt: Attempt) -> Finished:
    document = document_of(attempt)
    files = SiteFiles.of(attempt.site_id)
    file, text_dir = files.file(document.path), files.text_dir(document.path)
    with shared() as storage:
        storage.pull(file)
    _require(file, files.root)
    wanted = how_read(document)
    read = ocr.read_document(
        file,
        text_dir,
        languages=languages_of(document, wanted),
        options=options_for(wanted),
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


def _require(file: Path, root: Path) -> None:
    """A file that is gone does not come back by itself. A site's whole folder may: with the disk it is on."""
    if not root.is_dir():
        raise TargetError(f"{root} is not there; is the storage mounted?", code="storage")
    if not file.exists():
        raise DocumentError(f"{file.name} is not in storage", code="missing_file")


def engine_faults(languages: Iterable[str]) -> list[str]:
    """Why this machine could not read documents in these languages; empty when it can."""
    faults = []
    for wanted in languages:
        try:
            engine_for(EngineSetup(wanted, ocr_options()))
        except PipelineError as error:
            faults.append(str(error))
    return list(dict.fromkeys(faults))


def read_again(document: Document, engine: str, below: float) -> Again | None:
    """Have the doubtful pages of a document read by another engine; None: it has none."""
    files = SiteFiles.of(document.site_id)
    file, text_dir = files.file(document.path), files.text_dir(document.path)
    with shared() as storage:
        storage.pull(text_dir)
    pages = doubtful_pages(text_dir, engine, below)
    if not pages:
        return None
    with shared() as storage:
        storage.pull(file)
    again = ocr.read_again(
        file, text_dir, pages, languages=languages_of(document), options=ocr_options(engine)
    )
    with shared() as storage:
        storage.push(text_dir)
    return again


def languages_of(document: Document, wanted: HowRead | None = None) -> str:
    wanted = wanted or how_read(document)
    return wanted.languages or document.site.languages or "eng"


def options_for(wanted: HowRead) -> ocr.OcrOptions:
    """The settings, and over them what a person asked for."""
    options = replace(ocr_options(), ignore_text=wanted.by_ocr)
    return replace(options, dpi=wanted.dpi, careful_dpi=wanted.dpi) if wanted.dpi else options


def ocr_options(engine: str = "") -> ocr.OcrOptions:
    """The settings as the work knows them; for one engine where one is named."""
    name = engine or settings.OCR_ENGINE
    accurate_below = 0 if engine else settings.OCR_ACCURATE_BELOW
    accurate = name == ACCURATE or accurate_below > 0
    megabytes = settings.OCR_ACCURATE_MEMORY_MB if accurate else settings.OCR_MEMORY_MB
    return ocr.OcrOptions(
        engine=name,
        tesseract_cmd=settings.TESSERACT_CMD,
        tessdata=settings.TESSDATA_PREFIX,
        # What narrowing saves Tesseract costs the accurate engine words.
        squeeze=1.0 if name == ACCURATE else ocr.OcrOptions.squeeze,
        accurate_below=accurate_below,
        memory_limit=megabytes * 1024 * 1024,
        sandbox=settings.OCR_SANDBOX,
        read_dirs=os.pathsep.join(settings.OCR_READ_DIRS),
        page_seconds=settings.OCR_PAGE_SECONDS,
        # A little before the queue's alarm, so that the pages in hand are kept.
        document_seconds=settings.JOB_LIMITS["ocr"] * 0.95,
        max_pages=settings.OCR_MAX_PAGES,
        max_bytes=settings.FETCH_MAX_BYTES,
    )
