"""Failures of one kind as one group: code, stage, platform, and what their messages have in common."""

import hashlib
import re
from dataclasses import dataclass
from typing import Any

from django.db.models import F
from django.utils import timezone

from pipeline.errors import Failure
from pipeline.models import DocumentState, ErrorDay, ErrorGroup, Status
from pipeline.state.attempt import Attempt
from sites.models import Document, Source

# What differs from one failure to the next of the same kind, the longest shapes first.
_DIFFERENT = (
    (re.compile(r"[a-z][a-z0-9+.-]*://[^\s'\"<>)]+", re.I), "<address>"),
    (re.compile(r"(?:/[\w.@+%-]+){2,}"), "<path>"),
    (
        re.compile(r"\b[\w%+-]+(?:[.-][\w%+-]+)*\.(?:pdf|html?|docx?|txt|zip|rtf|aspx?|json)\b", re.I),
        "<file>",
    ),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ][\d:.+Z]+)?"), "<date>"),
    (re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b"), "<host>"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{8,}(?:-[0-9a-f]{4,})*\b", re.I), "<id>"),
    (re.compile(r"\d+(?:[.,]\d+)*"), "<n>"),
)
LENGTH = 300


@dataclass(frozen=True)
class Kind:
    """Of what kind a failure is; equal kinds are one group."""

    code: str
    stage: str
    platform: str
    message: str

    @property
    def fingerprint(self) -> str:
        told = "\x1f".join((self.code, self.stage, self.platform, self.message))
        return hashlib.sha256(told.encode()).hexdigest()[:16]


def normalised(message: str) -> str:
    for shape, word in _DIFFERENT:
        message = shape.sub(word, message)
    return " ".join(message.split())[:LENGTH]


def kind_of(attempt: Attempt, failure: Failure) -> Kind:
    platform = _platform(attempt.document_id, attempt.unit)
    return Kind(failure.code, attempt.stage.value, platform, normalised(failure.message))


def kind_of_row(row: DocumentState) -> Kind:
    platform = _platform(row.document_id, row.unit)
    return Kind(row.error_code or "none", row.pipeline, platform, normalised(row.error_message or ""))


def _platform(document_id: int | None, unit: str) -> str:
    sources = Source.objects.all()
    if document_id is not None:
        sources = sources.filter(pk__in=Document.objects.filter(pk=document_id).values("source"))
    elif unit.startswith("source:"):
        sources = sources.filter(pk=unit.removeprefix("source:"))
    else:
        return ""
    return sources.values_list("platform", flat=True).first() or ""


def note(kind: Kind, times: int = 1) -> None:
    """Count it, after the transaction that ends the attempt: many may fail at once for one reason."""
    now = timezone.now()
    seen = {"last_seen": now, "total": F("total") + times}
    if not ErrorGroup.objects.filter(pk=kind.fingerprint).update(**seen):
        values: dict[str, Any] = {
            "code": kind.code,
            "stage": kind.stage,
            "platform": kind.platform,
            "message": kind.message,
        }
        values |= {"first_seen": now, "last_seen": now, "total": 0}
        ErrorGroup.objects.get_or_create(pk=kind.fingerprint, defaults=values)
        ErrorGroup.objects.filter(pk=kind.fingerprint).update(**seen)
    today = {"group_id": kind.fingerprint, "day": timezone.localdate()}
    ErrorDay.objects.get_or_create(**today, defaults={"count": 0})
    ErrorDay.objects.filter(**today).update(count=F("count") + times)


def gather(limit: int = 2_000) -> int:
    """Put failures that are in no group yet into one: older ones, and those of the old system."""
    rows = DocumentState.objects.filter(status__in=Status.FAILED, error_group="").exclude(error_code=None)
    found: dict[Kind, list[int]] = {}
    for row in rows.order_by("pk")[:limit]:
        found.setdefault(kind_of_row(row), []).append(row.pk)
    for kind, ids in found.items():
        note(kind, len(ids))
        for start in range(0, len(ids), 500):
            some = DocumentState.objects.filter(pk__in=ids[start : start + 500], error_group="")
            some.filter(status__in=Status.FAILED).update(error_group=kind.fingerprint)
    return sum(map(len, found.values()))
