"""Jobs with next to no work for every stage, run through the real flow, queue and protocol.

A document's title says how it behaves: `ok`, `bad` (terminal in OCR), `flaky` (fails once), `sour`
(always fails, retryable), `crash` (a bug), `fetch-bad` (terminal in fetch), `slow` (hits its limit),
`killer` (kills its work-horse every time), `killer-once`, `worker-killer-once`.
"""

import os
import signal
import time
from dataclasses import replace

from django.conf import settings
from django.utils import timezone

from pipeline import order
from pipeline.errors import DocumentError, SourceError
from pipeline.models import DocumentState
from pipeline.protocol import job
from pipeline.state.attempt import Attempt, Finished
from sites.models import Document, Source
from sites.stages import Stage

FUNCTIONS = "tests.trivial.*"
JOBS = {
    Stage.FETCH: ("tests.trivial.download_document", "tests.trivial.list_source"),
    Stage.OCR: ("tests.trivial.ocr_document", ""),
    Stage.COMPILATION: ("", "tests.trivial.compile_site"),
    Stage.EXTRACTION: ("tests.trivial.extract_document", ""),
    Stage.DEPLOY: ("", "tests.trivial.deploy_site"),
}
STEPS = {
    stage: replace(order.STEPS[stage], document_job=document_job, unit_job=unit_job)
    for stage, (document_job, unit_job) in JOBS.items()
}


def install() -> None:
    """Swap the table of entry points; everything else is the product's own."""
    order.STEPS.update(STEPS)
    settings.QUEUE_FUNCTIONS = [FUNCTIONS]


@job(Stage.FETCH)
def list_source(attempt: Attempt) -> Finished:
    """The source's options name the titles of its documents."""
    source = Source.objects.get(pk=int(attempt.unit.removeprefix("source:")))
    if source.options.get("down"):
        raise SourceError("the city's server is down", code="http_503")

    def record() -> list[Document]:
        known = set(source.documents.values_list("external_id", flat=True))
        return Document.objects.bulk_create(
            Document(
                site_id=attempt.site_id,
                source=source,
                external_id=str(number),
                title=title,
                meeting="Council",
                meeting_date=timezone.now().date(),
                kind="minutes",
                path=f"pdfs/Council/{source.pk}-{number}.pdf",
            )
            for number, title in enumerate(source.options.get("titles", []))
            if str(number) not in known
        )

    return Finished({"listed": len(source.options.get("titles", []))}, record)


@job(Stage.FETCH)
def download_document(attempt: Attempt) -> None:
    if _title(attempt).startswith("fetch-bad"):
        raise DocumentError("404 for this document", code="http_404")


@job(Stage.OCR)
def ocr_document(attempt: Attempt) -> Finished:
    _behave(attempt, _title(attempt))
    return Finished({"pages": 1, "characters": 10})


@job(Stage.COMPILATION)
def compile_site(attempt: Attempt) -> None:
    return None


@job(Stage.EXTRACTION)
def extract_document(attempt: Attempt) -> None:
    return None


@job(Stage.DEPLOY)
def deploy_site(attempt: Attempt) -> None:
    return None


def _title(attempt: Attempt) -> str:
    return Document.objects.values_list("title", flat=True).get(pk=attempt.document_id or 0)


def _behave(attempt: Attempt, title: str) -> None:
    if title.startswith("bad"):
        raise DocumentError("this PDF is broken", code="corrupt")
    if title.startswith("sour") or (title.startswith("flaky") and attempt.number == 1):
        raise SourceError("try again", code="http_503")
    if title.startswith("crash"):
        raise ZeroDivisionError("a bug")
    if title == "killer" or (title == "killer-once" and attempt.number == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    if title == "worker-killer-once" and attempt.number == 1:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(30)  # it dies with its worker
    if title.startswith("slow"):
        time.sleep(30)


def ledger(site_id: str) -> dict[tuple[str, str], str]:
    """(title or unit, stage) -> status, for a test to look at."""
    rows = DocumentState.objects.filter(site_id=site_id).select_related("document")
    return {(row.document.title if row.document else row.unit, row.pipeline): row.status for row in rows}
