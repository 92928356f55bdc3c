"""The entry points of the queue: their dotted paths are stored in Redis, so they do not move."""

from pipeline import protocol, webhooks
from pipeline.alarms import delivery
from pipeline.errors import DocumentError
from pipeline.operations import bulk, looking
from pipeline.protocol import job
from pipeline.stages import compilation, deploy, extraction, fetch, ocr
from pipeline.state.attempt import Attempt, Finished
from sites.stages import Stage


def coordinate(site_id: str, run_id: int, seq: int) -> None:
    protocol.coordinate(site_id, run_id)


@job(Stage.FETCH)
def list_source(attempt: Attempt) -> Finished:
    return fetch.run_listing(attempt)


@job(Stage.FETCH)
def download_document(attempt: Attempt) -> Finished:
    return fetch.run_download(attempt)


@job(Stage.OCR)
def ocr_document(attempt: Attempt) -> Finished:
    return ocr.run(attempt)


@job(Stage.OCR)
def find_missing_document(attempt: Attempt) -> None:
    """Only for what the old system counted and storage did not have when its sites were taken over."""
    raise DocumentError("neither its PDF nor its text is in storage", code="missing_file")


@job(Stage.COMPILATION)
def compile_site(attempt: Attempt) -> Finished:
    return compilation.run(attempt)


@job(Stage.EXTRACTION)
def extract_document(attempt: Attempt) -> Finished:
    return extraction.run(attempt)


@job(Stage.DEPLOY)
def deploy_site(attempt: Attempt) -> Finished:
    return deploy.run(attempt)


def work_off_bulk(bulk_id: int, seq: int) -> None:
    bulk.work_off(bulk_id, seq)


def look_at_address(look_id: int) -> None:
    looking.look(look_id)


def deliver_webhook(delivery_id: int) -> None:
    webhooks.deliver(delivery_id)


def deliver_notification(message_id: int) -> None:
    delivery.deliver(message_id)
