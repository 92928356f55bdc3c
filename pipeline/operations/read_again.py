"""Doubtful pages of a site read again by another engine; its facts and its records follow."""

from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction

from pipeline import flow
from pipeline.errors import PipelineError
from pipeline.flow import Refused
from pipeline.models import Run
from pipeline.operations.interventions import Operator, record
from pipeline.stages import ocr
from pipeline.stages.documents import read_documents
from pipeline.stages.extraction import extract_document
from pipeline.work.ocr.again import doubtful_pages
from sites.models import Document
from sites.stages import Stage
from sites.storage import SiteFiles

OnDocument = Callable[[Document, str], None]


@dataclass(frozen=True)
class ReadAgain:
    """What became of a site's pages and documents, and the run that publishes it."""

    site_id: str
    pages: int = 0
    better: int = 0
    documents: int = 0
    failed: int = 0
    run_id: int | None = None


def waiting_pages(site_id: str, engine: str, below: float) -> int:
    """How many pages there are to read, by the texts on this machine."""
    files = SiteFiles.of(flow.find_site(site_id).pk)
    return sum(
        len(doubtful_pages(files.text_dir(document.path), engine, below))
        for document in read_documents(site_id)
    )


def read_again(
    site_id: str, operator: Operator, *, engine: str, below: float, on_document: OnDocument
) -> ReadAgain:
    """Document by document, each kept when it is done: what is interrupted goes on where it was."""
    site = flow.find_site(site_id)
    if Run.objects.running().filter(site=site).exists():
        raise Refused(f"{site_id} is in a run; read its pages again when that has ended")
    pages = better = documents = failed = 0
    for document in read_documents(site_id):
        try:
            again = ocr.read_again(document, engine, below)
            if again is None:
                continue
            if again.better:
                extract_document(document)
        except PipelineError as error:
            failed += 1
            on_document(document, f"{error.code}: {error}")
            continue
        pages, better, documents = pages + again.read, better + len(again.better), documents + 1
        on_document(document, f"{len(again.better)} of {again.read} pages are better")
    done = ReadAgain(site_id, pages, better, documents, failed)
    return _published(done, operator, engine, below) if better else done


def _published(done: ReadAgain, operator: Operator, engine: str, below: float) -> ReadAgain:
    """A run from compilation on brings the better pages to the readers."""
    with transaction.atomic():
        site = flow.find_site(done.site_id)
        note = record(
            site, "read_again", operator, engine=engine, below=below, pages=done.pages, better=done.better
        )
        run = flow.start(done.site_id, first=Stage.COMPILATION, by=operator.by)
        note.details["run"] = run.pk
        note.save(update_fields=["details"])
    return ReadAgain(done.site_id, done.pages, done.better, done.documents, done.failed, run.pk)
