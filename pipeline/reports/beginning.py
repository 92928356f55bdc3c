"""What a run will find: how much of its sites is done, and which of them go on where they stopped."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Subquery

from pipeline.models import DocumentState, Run, Status
from sites.models import Document, Site
from sites.stages import Stage


@dataclass(frozen=True)
class Beginning:
    sites: int
    documents: int
    read: int
    resumed: tuple[str, ...]

    @property
    def to_read(self) -> int:
        return self.documents - self.read


def look_ahead(site_ids: Sequence[str]) -> Beginning:
    """A site resumes if its last run did not go through, or if it has unread documents beside read ones."""
    documents = Document.objects.filter(site_id__in=site_ids, skip_reason="", superseded_at=None)
    done = DocumentState.objects.filter(document=OuterRef("pk"), pipeline=Stage.OCR, status=Status.PROCESSED)
    read = documents.filter(Exists(done))
    begun = set(read.values_list("site_id", flat=True).distinct())
    begun &= set(documents.exclude(Exists(done)).values_list("site_id", flat=True).distinct())
    resumed = begun | _not_gone_through(site_ids)
    return Beginning(len(site_ids), documents.count(), read.count(), tuple(sorted(resumed)))


def _not_gone_through(site_ids: Sequence[str]) -> set[str]:
    last = Run.objects.filter(site=OuterRef("pk")).order_by("-pk").values("status")[:1]
    sites = Site.objects.filter(pk__in=site_ids).annotate(last=Subquery(last)).exclude(last=None)
    return set(sites.exclude(last=Run.Status.COMPLETED).values_list("pk", flat=True))
