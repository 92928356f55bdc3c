"""What people decide about a document: it is put right, read again, taken down. Recorded, and kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import transaction
from django.utils import timezone

from pipeline import flow
from pipeline.flow import Refused
from pipeline.models import Correction, Intervention, Run, Takedown
from pipeline.operations.interventions import Operator, leave_out, record
from pipeline.queue import sending
from pipeline.stages.decisions import TAKEN_DOWN, HowRead, about, how_read
from pipeline.stages.deploy import withdraw
from pipeline.stages.documents import stable_id
from pipeline.state import resets
from sites.models import Document, Kind
from sites.stages import Stage
from sites.storage import folder_name


@dataclass(frozen=True)
class Decided:
    """`run` shows it to readers; None where the site is in a run or paused: then the next one does."""

    document: Document
    run: Run | None


def versions(document: Document) -> list[Document]:
    same = Document.objects.filter(
        site_id=document.site_id, source=document.source, external_id=document.external_id
    )
    return list(same.select_related("site", "source").order_by("version"))


# ---- Corrections --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Right:
    """How it is right."""

    meeting_date: date | None
    body: str
    kind: str


def correct(document_id: int, operator: Operator, right: Right) -> Decided:
    """Say what is right about a document. Every later listing, which says otherwise, is overruled."""
    with transaction.atomic():
        document = Document.objects.select_related("site").get(pk=document_id)
        changes = {name: value for name, value in vars(right).items() if getattr(document, name) != value}
        if not changes:
            raise Refused(f"{document}: that is what it says already")
        if changes.get("kind", Kind.OTHER) not in Kind.values:
            raise Refused(f"{changes['kind']!r} is no kind of document")
        before = {name: str(getattr(document, name) or "") for name in changes}
        after = {name: str(value or "") for name, value in changes.items()}
        note = record(document.site, "correct", operator, document, before=before, after=after)
        _keep(document, operator, changes)
        every = versions(document)
        # The folder's name groups a body's meetings; the file itself stays where it is.
        group = {"meeting": folder_name(changes["body"])} if "body" in changes else {}
        Document.objects.filter(pk__in=[each.pk for each in every]).update(**changes, **group)
        # A version that is not the current one is in no run any more.
        again = [each.pk for each in every if each.superseded_at is None and not each.skip_reason]
        return Decided(document, _show(document, note, operator, again, [Stage.EXTRACTION]))


def _keep(document: Document, operator: Operator, changes: dict[str, Any]) -> None:
    known = Correction.objects.filter(about(document)).first()
    correction = known or Correction(site=document.site, external_id=document.external_id)
    correction.source = document.source
    correction.by, correction.reason = operator.by[:150], operator.reason
    for name, value in changes.items():
        setattr(correction, name, value)
    correction.save()


def _show(
    document: Document, note: Intervention, operator: Operator, again: Sequence[int], stages: list[Stage]
) -> Run | None:
    """Begin a run that does these stages again and publishes; None where the site cannot begin one now."""
    site = document.site
    if site.paused_at or Run.objects.running().filter(site=site).exists() or not _queue_answers():
        return None
    resets.do_again(again, stages, note.pk)
    first = Stage.OCR if Stage.OCR in stages else Stage.COMPILATION
    run = flow.start(site.pk, first=first, by=operator.by)
    note.details["run"] = run.pk
    note.save(update_fields=["details"])
    return run


def _queue_answers() -> bool:
    try:
        sending.check()
    except sending.QueueUnavailable:
        return False
    return True


# ---- Reading again ------------------------------------------------------------------------------------


def read_again(document_id: int, operator: Operator, wanted: HowRead) -> Decided:
    """Have a document read otherwise, now and whenever it is read: its text and its facts are made anew."""
    with transaction.atomic():
        document = Document.objects.select_related("site", "source").get(pk=document_id)
        before = how_read(document)
        if before == wanted:
            raise Refused(f"{document}: it was read so already")
        note = record(document.site, "read so", operator, document, before=vars(before), after=vars(wanted))
        _keep(document, operator, vars(wanted))
        again = [
            each.pk for each in versions(document) if each.superseded_at is None and not each.skip_reason
        ]
        run = _show(document, note, operator, again, [Stage.OCR, Stage.EXTRACTION])
        if run is None:
            raise Refused(
                f"{document.site_id} cannot begin a run now: it is in one, paused, or Redis is away"
            )
        return Decided(document, run)


# ---- Takedowns ----------------------------------------------------------------------------------------


def take_down(document_id: int, operator: Operator) -> Decided:
    """Take a document out of the records: readers lose it now, and it is not fetched again."""
    if not operator.reason.strip():
        raise Refused("a document is taken down for a reason; give one")
    with transaction.atomic():
        document = Document.objects.select_related("site", "source").get(pk=document_id)
        if Takedown.objects.filter(about(document), lifted_at=None).exists():
            raise Refused(f"{document} is taken down already")
        Takedown.objects.create(
            site=document.site,
            source=document.source,
            external_id=document.external_id,
            by=operator.by[:150],
            reason=operator.reason,
        )
        note = record(document.site, "take down", operator, document)
        every = versions(document)
        for version in every:
            if not version.skip_reason:
                leave_out(version, operator, f"{TAKEN_DOWN}{operator.reason}")
        ids = {stable_id(version) for version in every}
        transaction.on_commit(lambda: withdraw(document.site_id, ids))
        return Decided(document, _show(document, note, operator, [], []))


def lift(document_id: int, operator: Operator) -> Decided:
    """Put back what was taken down."""
    with transaction.atomic():
        document = Document.objects.select_related("site", "source").get(pk=document_id)
        active = Takedown.objects.filter(about(document), lifted_at=None)
        if not active.update(lifted_at=timezone.now(), lifted_by=operator.by[:150]):
            raise Refused(f"{document} is not taken down")
        note = record(document.site, "lift takedown", operator, document)
        every = [each.pk for each in versions(document)]
        left_out = Document.objects.filter(pk__in=every, skip_reason__startswith=TAKEN_DOWN)
        left_out.update(skip_reason="")
        return Decided(document, _show(document, note, operator, [], []))
