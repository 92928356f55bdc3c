"""What people decided about documents, where the stages must heed it: corrections and takedowns."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Q

from pipeline.models import Correction, Decision, Takedown
from pipeline.work.fetch.refs import DocRef
from sites.models import Document, Source

TAKEN_DOWN = "taken down: "


def about(document: Document) -> Q:
    """What was decided about this document; also while its source was gone."""
    return Q(site_id=document.site_id, external_id=document.external_id) & (
        Q(source_id=document.source_id) | Q(source=None)
    )


def versions_of(decision: Decision) -> Q:
    """Every version of the document that a decision is about."""
    return Q(site_id=decision.site_id, external_id=decision.external_id, source_id=decision.source_id)


def corrected(source: Source, refs: Iterable[DocRef]) -> list[DocRef]:
    """What a listing found, with what people put right: the source says the same wrong date every time."""
    known = {each.external_id: each for each in Correction.objects.filter(_at(source))}
    return [
        replace(ref, **values_of(known[ref.external_id])) if ref.external_id in known else ref for ref in refs
    ]


def values_of(correction: Correction) -> dict[str, Any]:
    told = {"date": correction.meeting_date, "body": correction.body, "kind": correction.kind}
    return {name: value for name, value in told.items() if value is not None}


@dataclass(frozen=True)
class HowRead:
    """How a person wants a document read; what is not told is as for every other."""

    by_ocr: bool = False
    dpi: int = 0
    languages: str = ""


def how_read(document: Document) -> HowRead:
    known = Correction.objects.filter(about(document)).first()
    return HowRead(known.by_ocr, known.dpi, known.languages) if known else HowRead()


def taken_down(source: Source) -> dict[str, str]:
    """The documents of this source that nobody may read, and why."""
    active = Takedown.objects.filter(_at(source), lifted_at=None)
    return dict(active.values_list("external_id", "reason"))


def leave_out_taken_down(source: Source, new: Iterable[Document]) -> None:
    """A new version of what was taken down is not fetched either."""
    known = taken_down(source)
    for document in new:
        if document.external_id in known:
            document.skip_reason = f"{TAKEN_DOWN}{known[document.external_id]}"


def taken_down_documents(site_id: str) -> list[Document]:
    """Every version of every document of the site that is taken down."""
    found: list[Document] = []
    for takedown in Takedown.objects.filter(site_id=site_id, lifted_at=None):
        found += Document.objects.filter(versions_of(takedown)).select_related("source")
    return found


def _at(source: Source) -> Q:
    return Q(site_id=source.site_id) & (Q(source=source) | Q(source=None))
