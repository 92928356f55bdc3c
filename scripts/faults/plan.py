"""What is asked for, and what each site is: how its documents behave and where it must end."""

import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass

DATABASES = ("postgresql", "sqlite")
TROUBLE, DRILL, REAL_TIME_DRILL = MODES = ("trouble", "drill", "real-time-drill")
# How documents behave (tests/trivial.py): most are fine.
USUAL = ["ok"] * 30 + ["flaky", "flaky", "bad", "sour", "crash", "fetch-bad", "killer-once"]

COMPLETED, NOTHING_FOUND, FAILED = "completed", "nothing found", "failed"


@dataclass(frozen=True)
class Plan:
    seed: int
    sites: int
    docs: int
    seconds: float
    patience: float
    grace: int
    mode: str

    def as_arguments(self) -> list[str]:
        return [text for name, value in asdict(self).items() for text in (f"--{name}", str(value))]

    def cast(self) -> Iterator["Part"]:
        """Mostly ordinary sites, and one each that has nothing, only bad documents, or only flaky servers."""
        dice = random.Random(self.seed)
        special = [("empty", [], NOTHING_FOUND), ("bad", ["bad"] * 5, FAILED), ("sour", ["sour"] * 3, FAILED)]
        for number in range(self.sites):
            name, titles, end = (
                special[number] if number < min(len(special), self.sites - 1) else ("", [], "")
            )
            if not end:
                # The first is fine whatever the dice say: a site of bad documents only would rightly fail.
                titles = ["ok", *dice.choices(USUAL, k=self.docs - 1)]
            yield Part(f"{name or 'site'}{number}.test", titles, end or COMPLETED)


@dataclass(frozen=True)
class Part:
    site_id: str
    titles: list[str]
    end: str
