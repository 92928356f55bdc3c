"""A search as it stands in an address: what was typed and chosen, and links that change a part of it."""

import re
from dataclasses import dataclass, replace
from datetime import date, timedelta
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from pipeline.work.index.question import MOST_CHARACTERS
from pipeline.work.index.searching import DEEPEST, Wanted

PER_PAGE = 20
LAST_PAGE = DEEPEST // PER_PAGE
MOST_CHOSEN = 200
# The names of the choices in an address, and in a search.
CHOICES = {"site": "sites", "state": "states", "body": "bodies", "kind": "kinds"}
OCR = ("ocr",)
NOT_OCR = ("text", "html", "")
READ_BY = {"ocr": OCR, "text": NOT_OCR}
BY_RANK, BY_DATE = "rank", "new"
DAY = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?")


@dataclass(frozen=True)
class Asked:
    """The form as it was filled in. `words` is kept as typed, for the box."""

    words: str = ""
    site: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    read: str = ""
    old: bool = False
    sort: str = BY_RANK
    page: int = 1
    after: int = 0

    @property
    def is_empty(self) -> bool:
        return self == Asked(sort=self.sort)

    @property
    def newest_first(self) -> bool:
        return self.sort == BY_DATE

    @property
    def wanted(self) -> Wanted:
        chosen = {field: getattr(self, name) for name, field in CHOICES.items()}
        return Wanted(
            words=self.words,
            methods=READ_BY.get(self.read, ()),
            since=_number(first_day(self.since)),
            until=_number(last_day(self.until)),
            superseded=self.old,
            newest_first=self.newest_first,
            **chosen,
        )

    @property
    def query(self) -> str:
        """The part of the address behind the question mark; what is not chosen is not in it."""
        told: list[tuple[str, object]] = [("q", self.words)]
        for name in CHOICES:
            told += [(name, value) for value in getattr(self, name)]
        told += [("since", self.since), ("until", self.until), ("read", self.read)]
        told += [("old", int(self.old)), ("sort", self.sort if self.newest_first else "")]
        told += [("page", self.page if self.page > 1 else ""), ("after", self.after)]
        return urlencode([(name, value) for name, value in told if value])

    @property
    def url(self) -> str:
        return f"{reverse('records:search')}?{self.query}"

    @property
    def described(self) -> str:
        """The search in words: `short-term rental, in bend.or, minutes, since 2024`."""
        told = [self.words or "everything"]
        told += [f"in {', '.join(places)}" for places in ((*self.site, *self.state),) if places]
        told += [", ".join(chosen) for chosen in (self.body, self.kind) if chosen]
        told += [f"{name} {day}" for name, day in (("since", self.since), ("until", self.until)) if day]
        told += ["read by OCR"] if self.read == "ocr" else ["from files' own text"] if self.read else []
        return ", ".join(told)

    def with_(self, **changes: object) -> "Asked":
        """The same search with this changed, from its first page."""
        return replace(self, **({"page": 1, "after": 0} | changes))  # type: ignore[arg-type]

    def toggled(self, name: str, value: str) -> "Asked":
        chosen: tuple[str, ...] = getattr(self, name)
        rest = tuple(each for each in chosen if each != value)
        return self.with_(**{name: rest if value in chosen else (*chosen, value)})


def asked_in(told: QueryDict) -> Asked:
    """Whatever the address says, as a search. What cannot be is left out."""
    chosen = {name: _values(told, name) for name in CHOICES}
    return Asked(
        words=" ".join(told.get("q", "")[: MOST_CHARACTERS + 1].split()),
        since=_day_in(told.get("since", "")),
        until=_day_in(told.get("until", "")),
        read=told.get("read", "") if told.get("read") in READ_BY else "",
        old=told.get("old") == "1",
        sort=BY_DATE if told.get("sort") == BY_DATE else BY_RANK,
        page=min(max(_integer(told.get("page", ""), 1), 1), LAST_PAGE),
        after=_integer(told.get("after", ""), 0),
        **chosen,
    )


def _values(told: QueryDict, name: str) -> tuple[str, ...]:
    values = (value.strip()[:200] for value in told.getlist(name)[:MOST_CHOSEN])
    return tuple(dict.fromkeys(value for value in values if value and "\0" not in value))


def _integer(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else default


def _day_in(text: str) -> str:
    return text.strip() if first_day(text) else ""


def first_day(text: str) -> date | None:
    """`2024`, `2024-03` or `2024-03-15`: the first day of it."""
    found = DAY.fullmatch(text.strip())
    try:
        return date(*(int(part or 1) for part in found.groups())) if found else None
    except ValueError:
        return None


def last_day(text: str) -> date | None:
    found, first = DAY.fullmatch(text.strip()), first_day(text)
    if not (found and first) or found[3]:
        return first
    if found[2]:
        return (first.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
    return first.replace(month=12, day=31)


def _number(day: date | None) -> int:
    return day.year * 10_000 + day.month * 100 + day.day if day else 0
