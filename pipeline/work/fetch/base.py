"""What a fetcher is: it says whether a page is of its platform, and lists; nothing else."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, ClassVar
from urllib.parse import urlsplit

import re2
from lxml.html import HtmlElement

from pipeline.errors import StageError
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.pages import is_cut, parse
from pipeline.work.fetch.refs import DocRef

# After this many days without a document there is no older one.
LONGEST_SILENCE = 3 * 365
# What code that reads a foreign page or feed stumbles over when it is not what it should be.
UNREADABLE = (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError)


@dataclass(frozen=True)
class Option:
    """One setting of a source. `kind` is the type a value must have."""

    name: str
    help: str
    kind: type = str
    default: Any = None
    choices: tuple[str, ...] = ()
    # A regular expression; it runs on RE2, whose time grows with the text and no faster.
    pattern: bool = False

    def check(self, value: Any) -> Any:
        if (self.kind is int and isinstance(value, bool)) or not isinstance(value, self.kind):
            raise ValueError(f"option {self.name}: expected {self.kind.__name__}, got {value!r}")
        if self.choices and value not in self.choices:
            raise ValueError(f"option {self.name}: expected one of {', '.join(self.choices)}, got {value!r}")
        self._check_content(value)
        return value

    def _check_content(self, value: Any) -> None:
        if self.kind is list and not all(type(item) in (str, int) for item in value):
            raise ValueError(f"option {self.name}: expected words or numbers in the list, got {value!r}")
        if self.pattern:
            try:
                compiled(value)
            except re2.error as error:
                raise ValueError(f"option {self.name}: RE2 does not read {value!r}: {error}") from error


def compiled(pattern: str) -> Any:
    """An operator's regular expression, for RE2, which has no look-around. Capitals do not matter."""
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    return re2.compile(pattern, options)


def is_under(url: str, domain: str) -> bool:
    """Whether the address is on a host whose name ends so: `.iqm2.com`."""
    return (urlsplit(url).hostname or "").endswith(domain)


# Of every source whose documents may be pages.
ATTACHMENTS = Option(
    "attachments",
    "fetch what an agenda or minutes page links to as well: staff reports, exhibits",
    bool,
    False,
)


class Cursor:
    """How far back a source has been listed. Kept as JSON on the source between runs."""

    def __init__(self, saved: Mapping[str, Any] | None = None) -> None:
        saved = saved or {}
        reached = saved.get("reached")
        self.reached: date | None = date.fromisoformat(reached) if reached else None
        self.empty = int(saved.get("empty", 0))
        self.done = bool(saved.get("done", False))
        self.window_listed = False
        # No further slice is begun after this moment (of the monotonic clock).
        self.deadline = float("inf")

    def as_json(self) -> dict[str, Any]:
        reached = self.reached.isoformat() if self.reached else None
        return {"reached": reached, "empty": self.empty, "done": self.done}

    def slices(
        self, since: date, window: date, until: date, step: timedelta | None
    ) -> Iterator[tuple[date, date]]:
        """The trailing window first, always; then older slices, from where the last run stopped."""
        if step is None:
            yield since, until
            self.reached, self.done, self.window_listed = since, True, True
            return
        yield max(since, window), until
        self.window_listed = True
        end = min(self.reached or window, window)
        if since < end and self.done and self.empty < LONGEST_SILENCE:
            self.done = False  # the operator has asked for older years than last time
        while since < end and not self.done and time.monotonic() < self.deadline:
            start = max(since, end - step)
            yield start, end - timedelta(days=1)
            self.reached = end = start
            self.done = self.empty >= LONGEST_SILENCE
        self.reached = min(end, window)
        self.done = self.done or end <= since

    def saw(self, count: int, days: int) -> None:
        """How many documents a slice of so many days gave; years of silence end the backfill."""
        self.empty = 0 if count else self.empty + days


class Pages:
    """The pages of one listing: a pager that leads in a circle, or does not end, is left, and it is said."""

    def __init__(self, fetcher: "Fetcher", most: int) -> None:
        self._fetcher, self._most = fetcher, most
        self._seen: set[int] = set()

    def is_new(self, content: object) -> bool:
        """Whether this page is to be read: `content`, anything hashable, stands for what is on it."""
        if hash(content) in self._seen:
            self._fetcher.note("the pager leads back to a page already read")
            return False
        if len(self._seen) >= self._most:
            self._fetcher.note(f"more than {self._most} pages for one listing: the rest was not read")
            return False
        self._seen.add(hash(content))
        return True


class Fetcher:
    """Subclass it with a name, `detect` and `between`, and register it under `clerk.fetchers`."""

    name: ClassVar[str] = ""
    label: ClassVar[str] = ""
    options: ClassVar[tuple[Option, ...]] = ()
    # How much one request can ask for; None: the source lists everything at once.
    step: ClassVar[timedelta | None] = timedelta(days=365)
    # Only such a source may name files of this machine.
    is_local: ClassVar[bool] = False

    def __init__(self, client: Client, url: str, options: Mapping[str, Any] | None = None) -> None:
        self.client, self.url = client, url
        self.settings = self.check_options(options or {})
        self.notes: list[str] = []

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        """How sure it is, from 0 to 1, that this address with this page is of its platform."""
        raise NotImplementedError

    @classmethod
    def home(cls, url: str) -> str:
        """The address to list from, given any address of the platform."""
        return url

    @classmethod
    def request_for(cls, url: str) -> tuple[str, dict[str, str] | None]:
        """What to ask for to get the document at `url`: the address, and a form where it must be posted."""
        return url, None

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        """Every document of meetings in these days, both included; more does no harm, undated ones too."""
        raise NotImplementedError

    def note(self, remark: str) -> None:
        """What the operator should know about this listing; it becomes the source's warning."""
        if remark not in self.notes:
            self.notes.append(remark)

    def tree(self, html: str, url: str = "") -> HtmlElement:
        """The page as a tree; one that could not be read to its end is noted."""
        tree = parse(html, url)
        if is_cut(tree):
            self.note(f"{url or self.url} is nested too deeply: the end of the page was not read")
        return tree

    def each(self, items: Iterable[Any], read: Callable[[Any], Iterable[DocRef]]) -> Iterator[DocRef]:
        """What `read` makes of each item; one that cannot be read is noted and costs only itself."""
        bad, good, first = 0, 0, None
        for item in items:
            try:
                found = [*read(item)]
            except UNREADABLE as error:
                bad, first = bad + 1, first or error
            else:
                good += 1
                yield from found
        if first is not None and not good:
            raise first
        if first is not None:
            self.note(f"{bad} of {bad + good} entries cannot be read ({type(first).__name__}: {first})"[:200])

    def list(self, since: date, until: date, cursor: Cursor, window: date | None = None) -> Iterator[DocRef]:
        """Newest first: the trailing window from `window` on, then the backfill down to `since`."""
        for number, (start, end) in enumerate(cursor.slices(since, window or since, until, self.step)):
            count = 0
            for ref in self.between(start, end):
                count += 1
                yield ref
            if number:
                cursor.saw(count, (end - start).days + 1)

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options with defaults filled in; an unknown or wrong one stops with its name."""
        known = {option.name: option for option in (*cls.options, ATTACHMENTS)}
        unknown = sorted(set(options) - set(known))
        if unknown:
            names = ", ".join(known)
            raise StageError(f"{cls.name} has no option {unknown[0]!r} (it has: {names})", code="bad_options")
        try:
            given = {name: known[name].check(value) for name, value in options.items()}
        except ValueError as error:
            raise StageError(f"{cls.name}: {error}", code="bad_options") from error
        return {name: option.default for name, option in known.items()} | given
