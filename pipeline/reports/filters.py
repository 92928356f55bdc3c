"""Which part of the records a report looks at."""

from dataclasses import dataclass
from datetime import date

from django.db.models import Q, QuerySet

from pipeline.models import DocumentState
from sites.models import Document, Site


@dataclass(frozen=True)
class Filters:
    """What part of the records to look at; empty means all of it. Dates are meeting dates."""

    sites: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    start: date | None = None
    end: date | None = None

    def of_documents(self, documents: QuerySet[Document]) -> QuerySet[Document]:
        return documents.filter(self._q("site_id", ""))

    def of_sites(self, sites: QuerySet[Site]) -> QuerySet[Site]:
        return sites.filter(pk__in=self.sites) if self.sites else sites

    def of_ledger(self, rows: QuerySet[DocumentState]) -> QuerySet[DocumentState]:
        if self.stages:
            rows = rows.filter(pipeline__in=self.stages)
        return rows.filter(self._q("site_id", "document__"))

    def _q(self, site: str, document: str) -> Q:
        wanted = {
            f"{site}__in": self.sites,
            f"{document}kind__in": self.kinds,
            f"{document}meeting_date__gte": self.start,
            f"{document}meeting_date__lte": self.end,
        }
        return Q(**{name: value for name, value in wanted.items() if value})


ALL = Filters()
