"""The made-up towns: who sits where, when they meet, and in which state their papers are published."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum


class Form(StrEnum):
    """How a document reached the web site."""

    DIGITAL = "digital"
    SCANNED = "scanned"
    MIXED = "mixed"
    BROKEN = "broken"
    MISSING = "missing"
    HTML = "html"


# What the pipeline must say about the papers that are no papers: (stage, error code).
EXPECTED_FAILURES = {
    Form.BROKEN: ("ocr", "corrupt"),
    Form.MISSING: ("fetch", "http_404"),
    Form.HTML: ("fetch", "not_a_pdf"),
}


@dataclass(frozen=True)
class Body:
    name: str
    chair: str
    members: tuple[str, ...]
    days: tuple[date, ...]

    @property
    def path(self) -> str:
        return self.name.lower().replace(" ", "-")


@dataclass(frozen=True)
class Town:
    subdomain: str
    name: str
    state: str
    kind: str
    bodies: tuple[Body, ...]


@dataclass(frozen=True)
class Paper:
    """One published document: an agenda or the minutes of one meeting."""

    town: Town
    body: Body
    day: date
    kind: str
    form: Form

    @property
    def path(self) -> str:
        return f"/{self.town.subdomain}/{self.body.path}/{self.day:%Y-%m-%d}-{self.kind}.pdf"


def _days(*texts: str) -> tuple[date, ...]:
    return tuple(date.fromisoformat(text) for text in texts)


TOWNS = (
    Town(
        "alderfalls.or",
        "Alder Falls",
        "OR",
        "city",
        (
            Body(
                "City Council",
                "Mayor Ruth Okafor",
                ("Daniel Brandt", "Maria Castellanos", "Henry Liu", "Priya Raman"),
                _days("2025-01-14", "2025-02-11", "2025-03-11"),
            ),
            Body(
                "Planning Commission",
                "Chair Alan Whitcomb",
                ("Teresa Novak", "Samuel Greene", "Joyce Tanaka"),
                _days("2025-01-22", "2025-02-26"),
            ),
            Body(
                "Parks and Recreation Board",
                "Chair Lena Hoffman",
                ("Marcus Bell", "Olivia Stone"),
                _days(
                    "2025-02-05",
                ),
            ),
        ),
    ),
    Town(
        "porthalloway.me",
        "Port Halloway",
        "ME",
        "town",
        (
            Body(
                "Select Board",
                "Chair Edward Pike",
                ("Nora Sullivan", "Walter Crane", "Ingrid Larsen"),
                _days("2025-01-06", "2025-02-03", "2025-03-03"),
            ),
            Body(
                "Harbor Committee",
                "Chair Silas Turner",
                ("Abigail Frost", "Peter Doyle"),
                _days("2025-01-16", "2025-03-20"),
            ),
        ),
    ),
    Town(
        "cindercreek.nm",
        "Cinder Creek",
        "NM",
        "village",
        (
            Body(
                "Village Council",
                "Mayor Rosa Delgado",
                ("Thomas Begay", "Carla Montoya", "William Archer"),
                _days("2025-01-09", "2025-02-13"),
            ),
            Body(
                "Water Board",
                "Chair George Yellowhorse",
                ("Linda Chavez", "Frank Mercer"),
                _days("2025-01-28", "2025-03-25"),
            ),
        ),
    ),
)

# Everything else is born digital. (town, body, day, kind): the papers that are not.
UNUSUAL = {
    ("alderfalls.or", "City Council", "2025-01-14", "minutes"): Form.SCANNED,
    ("alderfalls.or", "City Council", "2025-02-11", "minutes"): Form.MIXED,
    ("alderfalls.or", "Planning Commission", "2025-01-22", "minutes"): Form.SCANNED,
    ("alderfalls.or", "Parks and Recreation Board", "2025-02-05", "agenda"): Form.BROKEN,
    ("porthalloway.me", "Select Board", "2025-01-06", "minutes"): Form.SCANNED,
    ("porthalloway.me", "Select Board", "2025-03-03", "minutes"): Form.MIXED,
    ("porthalloway.me", "Harbor Committee", "2025-03-20", "minutes"): Form.MISSING,
    ("cindercreek.nm", "Village Council", "2025-01-09", "minutes"): Form.SCANNED,
    ("cindercreek.nm", "Water Board", "2025-03-25", "agenda"): Form.HTML,
}


def papers(town: Town) -> Iterator[Paper]:
    for body in town.bodies:
        for day in body.days:
            for kind in ("agenda", "minutes"):
                form = UNUSUAL.get((town.subdomain, body.name, day.isoformat(), kind), Form.DIGITAL)
                yield Paper(town, body, day, kind, form)
