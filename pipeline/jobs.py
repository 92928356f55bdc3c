"""The RQ entry points: one or two for each stage, and the coordinator."""

from dataclasses import asdict

from django.conf import settings

from pipeline import catalog, fetching, flow, records, webhooks
from pipeline.attempts import Attempt, Finished
from pipeline.errors import DocumentError, StageError
from pipeline.models import Run
from pipeline.protocol import job, patiently
from pipeline.work import ocr
from sites.models import Document, Site, Source, Stage
from sites.storage import SiteFiles


def coordinate(site_id: str, run_id: int, seq: int) -> None:
    patiently(flow.advance, site_id, run_id)


@job(Stage.FETCH)
def list_source(attempt: Attempt) -> Finished:
    source = _source(attempt)
    with fetching.open_client() as client:
        listing = fetching.list_source(source, client)
    return Finished(listing.facts(), lambda: catalog.record_listing(source, listing))


@job(Stage.FETCH)
def download_document(attempt: Attempt) -> Finished:
    document = _document(attempt)
    scratch = SiteFiles.of(attempt.site_id).scratch / f"{document.pk}-{attempt.token.hex}"
    with fetching.open_client() as client:
        downloaded = fetching.download_document(document, scratch, client)

    def record() -> list[Document]:
        file = fetching.keep(document, downloaded, scratch)
        with records.shared() as storage:
            storage.push(file)
        return fetching.attached(document, file)

    return Finished({"bytes": downloaded.size}, record)


@job(Stage.OCR)
def ocr_document(attempt: Attempt) -> Finished:
    document = _document(attempt)
    files = SiteFiles.of(attempt.site_id)
    file, text_dir = files.file(document.path), files.text_dir(document.path)
    with records.shared() as storage:
        storage.pull(file)
    read = ocr.read_document(
        file,
        text_dir,
        languages=document.site.languages or "eng",
        options=_ocr_options(),
        on_page=attempt.progress,
    )
    with records.shared() as storage:
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


@job(Stage.OCR)
def find_missing_document(attempt: Attempt) -> None:
    """Only for what the old system counted and storage did not have when its sites were taken over."""
    raise DocumentError("neither its PDF nor its text is in storage", code="missing_file")


@job(Stage.COMPILATION)
def compile_site(attempt: Attempt) -> Finished:
    compiled = records.compile_site(attempt.site_id)

    def record() -> None:
        Site.objects.filter(pk=attempt.site_id).update(pages=compiled.pages)

    return Finished(asdict(compiled), record)


@job(Stage.EXTRACTION)
def extract_document(attempt: Attempt) -> Finished:
    found = records.extract_document(_document(attempt))
    return Finished({"counts": found.counts, "flags": found.flags, "cached": found.cached})


@job(Stage.DEPLOY)
def deploy_site(attempt: Attempt) -> Finished:
    began = Run.objects.get(pk=attempt.run_id).started_at
    output = SiteFiles.of(attempt.site_id).scratch / f"deploy-{attempt.token.hex}.db"
    return Finished(asdict(records.deploy_site(attempt.site_id, began, output, before=attempt.check)))


def deliver_webhook(delivery_id: int) -> None:
    webhooks.deliver(delivery_id)


def _source(attempt: Attempt) -> Source:
    source = (
        Source.objects.select_related("site").filter(pk=int(attempt.unit.removeprefix("source:"))).first()
    )
    if source is None:
        raise StageError(f"{attempt.unit} was removed while the run was under way", code="source_gone")
    return source


def _document(attempt: Attempt) -> Document:
    assert attempt.document_id is not None  # rows of this job have a document
    return Document.objects.select_related("site", "source").get(pk=attempt.document_id)
