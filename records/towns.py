"""The places that have records: found by name or state, with how much there is of each."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from pipeline.work.index.contents import Summary
from records.results import reader
from sites.models import Site

MOST_SHOWN = 200


@dataclass(frozen=True)
class Town:
    id: str
    title: str
    state: str
    documents: int
    pages: int
    first_day: int

    @property
    def since(self) -> int:
        return self.first_day // 10_000


@dataclass(frozen=True)
class State:
    name: str
    places: tuple[Town, ...]


@dataclass(frozen=True)
class Totals:
    sites: int
    documents: int
    pages: int


def towns() -> list[Town]:
    """By state and name. What is not in the index has no records."""
    summaries = reader().summaries()
    names = dict(Site.objects.filter(pk__in=[each.site for each in summaries]).values_list("pk", "name"))
    found = [_town(summary, names.get(summary.site) or summary.site) for summary in summaries]
    return sorted(found, key=lambda town: (town.state, town.title.casefold(), town.id))


def _town(summary: Summary, title: str) -> Town:
    return Town(summary.site, title, summary.state, summary.documents, summary.pages, summary.first_day)


def matching(places: Iterable[Town], typed: str) -> list[Town]:
    """Every word typed is in the name, the subdomain or the state."""
    words = typed.casefold().split()
    return [town for town in places if all(word in _told(town) for word in words)]


def _told(town: Town) -> str:
    return f"{town.title} {town.id} {town.state}".casefold()


def by_state(places: Iterable[Town]) -> list[State]:
    return [State(name, tuple(some)) for name, some in groupby(places, key=lambda town: town.state)]


def totals_of(places: list[Town]) -> Totals:
    return Totals(len(places), sum(town.documents for town in places), sum(town.pages for town in places))
