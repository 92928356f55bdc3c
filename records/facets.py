"""How the pages found spread over years, sites and bodies: each a link that changes the search."""

from dataclasses import dataclass

from pipeline.work.index.searching import Counts
from records.asking import Asked

CHART_HEIGHT = 60
SHOWN = 12


@dataclass(frozen=True)
class Choice:
    label: str
    count: int
    url: str
    chosen: bool = False


@dataclass(frozen=True)
class Bar:
    """A year of the chart. The height is in the chart's own units."""

    year: int
    count: int
    height: int
    url: str
    chosen: bool = False

    @property
    def top(self) -> int:
        return CHART_HEIGHT - self.height


@dataclass(frozen=True)
class Facets:
    years: tuple[Bar, ...] = ()
    undated: int = 0
    sites: tuple[Choice, ...] = ()
    bodies: tuple[Choice, ...] = ()


def facets_of(asked: Asked, counts: Counts, names: dict[str, str]) -> Facets:
    return Facets(
        years=_years(asked, counts),
        undated=dict(counts.years).get(0, 0),
        sites=_choices(asked, "site", counts.sites, names),
        bodies=_choices(asked, "body", counts.bodies, {}),
    )


def _choices(
    asked: Asked, name: str, counted: tuple[tuple[str, int], ...], labels: dict[str, str]
) -> tuple[Choice, ...]:
    """Those that are chosen stay in sight, so that they can be let go."""
    chosen, numbers = getattr(asked, name), dict(counted)
    values = [*chosen, *(value for value, _ in counted if value and value not in chosen)]
    return tuple(
        Choice(
            labels.get(value, value), numbers.get(value, 0), asked.toggled(name, value).url, value in chosen
        )
        for value in values[: max(SHOWN, len(chosen))]
    )


def _years(asked: Asked, counts: Counts) -> tuple[Bar, ...]:
    """Every year from the first to the last: one without pages is a gap that says something."""
    numbers = {year: count for year, count in counts.years if year}
    if not numbers:
        return ()
    most = max(numbers.values())
    years = range(min(numbers), max(numbers) + 1)
    if len(years) > 150:  # a mistaken date or two: only what is there
        years = sorted(numbers)[-150:]  # type: ignore[assignment]
    return tuple(_bar(asked, year, numbers.get(year, 0), most) for year in years)


def _bar(asked: Asked, year: int, count: int, most: int) -> Bar:
    chosen = asked.since == asked.until == str(year)
    span = {"since": "", "until": ""} if chosen else {"since": str(year), "until": str(year)}
    height = max(2, round(CHART_HEIGHT * count / most)) if count else 0
    return Bar(year, count, height, asked.with_(**span).url, chosen)
