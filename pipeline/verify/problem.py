"""What a check found, how often, and how to fix it."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import QuerySet

EXAMPLES = 5


@dataclass(frozen=True)
class Problem:
    check: str
    count: int
    mend: str
    examples: tuple[str, ...] = ()

    def __str__(self) -> str:
        among = f" ({'; '.join(self.examples)}{'; …' if self.count > len(self.examples) else ''})"
        return f"{self.check}: {self.count}{among if self.examples else ''}. To fix: {self.mend}"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def among(check: str, found: Iterable[object], mend: str) -> Iterator[Problem]:
    """One problem for all that was found, or none."""
    named = [str(one) for one in found]
    if named:
        yield Problem(check, len(named), mend, tuple(named[:EXAMPLES]))


def rows(check: str, found: QuerySet[Any, Any], mend: str) -> Iterator[Problem]:
    """The same for what may be a million rows: counted in the database."""
    count = found.count()
    if count:
        yield Problem(check, count, mend, tuple(str(one) for one in found[:EXAMPLES]))
