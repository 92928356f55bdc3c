"""The extraction stage: facts from the text of one document."""

from collections.abc import Callable

from pipeline.stages.documents import document_of
from pipeline.stages.shared_files import shared
from pipeline.state.attempt import Attempt, Finished
from pipeline.work import extraction
from pipeline.work.extraction import Extracted, MeetingContext
from sites.models import Document
from sites.storage import SiteFiles


def run(attempt: Attempt) -> Finished:
    found = extract_document(document_of(attempt), before=attempt.check)
    return Finished({"counts": found.counts, "flags": found.flags, "cached": found.cached})


def extract_document(document: Document, before: Callable[[], None] = lambda: None) -> Extracted:
    """`before` is asked before anybody sees the facts: a job that was fenced off stops there."""
    files = SiteFiles.of(document.site_id)
    text_dir, facts_file = files.text_dir(document.path), files.facts_file(document.path)
    day = document.meeting_date.isoformat() if document.meeting_date else ""
    with shared() as storage:
        storage.pull(text_dir)
        storage.pull(facts_file)
    found = extraction.extract_document(
        text_dir, facts_file, MeetingContext(document.body, day, document.kind), before
    )
    before()
    with shared() as storage:
        storage.push(facts_file)
    return found
