"""What a fake municipality has to publish, whatever it publishes it with."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, time

from tests.fakecity.pdfs import make_pdf


@dataclass(frozen=True)
class Meeting:
    number: int
    body: str
    date: date
    time: time
    kinds: tuple[str, ...] = ("agenda",)
    cancelled: bool = False

    @property
    def title(self) -> str:
        return f"{self.body} Regular Meeting{' - CANCELLED' if self.cancelled else ''}"

    @property
    def clock(self) -> str:
        return f"{self.time:%I:%M %p}".lstrip("0")

    @property
    def us_date(self) -> str:
        return f"{self.date.month}/{self.date.day}/{self.date.year}"

    @property
    def long_date(self) -> str:
        return f"{self.date:%B} {self.date.day}, {self.date.year}"

    def pdf(self, kind: str) -> bytes:
        return make_pdf(f"{kind} of the {self.body} on {self.date} at {self.clock}")

    def html(self, kind: str) -> str:
        words = f"{kind} of the {self.body} on {self.date} at {self.clock}"
        return f"<html><body><h1>{self.title}</h1><p>{words}</p></body></html>"


TODAY = date(2026, 6, 15)
# Two meetings of one body on one day, one that was called off, one of last year and one of long ago.
MEETINGS = (
    Meeting(11, "City Council", date(2026, 6, 2), time(18, 30), ("agenda", "minutes")),
    Meeting(12, "City Council", date(2026, 6, 2), time(9, 0), ("agenda",)),
    Meeting(13, "Planning Commission", date(2026, 5, 20), time(19, 0), ("agenda",), cancelled=True),
    Meeting(14, "Planning Commission", date(2025, 11, 5), time(19, 0), ("agenda", "minutes")),
    Meeting(15, "City Council", date(2023, 2, 7), time(18, 30), ("minutes",)),
)


def between(meetings: Iterable[Meeting], since: date, until: date) -> list[Meeting]:
    found = [meeting for meeting in meetings if since <= meeting.date <= until]
    return sorted(found, key=lambda meeting: (meeting.date, meeting.number), reverse=True)


def by_number(meetings: Iterable[Meeting], number: str | int) -> Meeting:
    return next(meeting for meeting in meetings if meeting.number == int(number))
