"""How well facts are found in labelled minutes, and that hostile text costs no more than honest text.

`python -m benchmarks.extraction` scores the texts that rules are tuned on and shows every error;
`--held-out` scores the others and shows totals only.
"""

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import Any

from pipeline.work.extraction import MeetingContext, extract_document, read_facts

LABELS = Path(__file__).resolve().parent.parent / "tests" / "extraction_labels"
MOTION_FIELDS = ("mover", "seconder", "result", "tally", "for", "against")


@dataclass
class Score:
    right: int = 0
    wrong: int = 0
    missed: int = 0
    errors: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0

    def compare(self, found: Counter[Any], wanted: Counter[Any], where: str) -> None:
        self.right += (found & wanted).total()
        self.wrong += (found - wanted).total()
        self.missed += (wanted - found).total()
        self.errors += [f"{where}: wrong {value}" for value in (found - wanted).elements()]
        self.errors += [f"{where}: missed {value}" for value in (wanted - found).elements()]


def run() -> dict[str, float]:
    figures: dict[str, float] = {}
    for kind, score in scores("held_out").items():
        figures[f"extract.{kind}_precision"] = score.precision
        figures[f"extract.{kind}_recall"] = score.recall
    return figures | {"extract.hostile_exponent": hostile_exponent()}


def scores(split: str) -> dict[str, Score]:
    kinds = (
        "people",
        "motions",
        *MOTION_FIELDS,
        "ordinances",
        "resolutions",
        "money",
        "addresses",
        "dates",
        "agenda_items",
    )
    found = {kind: Score() for kind in kinds}
    for label_file in sorted((LABELS / split).glob("*.json")):
        labels = json.loads(label_file.read_text(encoding="utf-8"))
        facts = extracted(label_file.with_suffix(""), MeetingContext(**labels["context"]))
        for kind, values in plain_facts(facts).items():
            found[kind].compare(Counter(values), Counter(plain_labels(labels)[kind]), label_file.stem)
        score_items(found["agenda_items"], facts, labels["agenda_items"], label_file.stem)
        score_motions(found, facts, labels["motions"], label_file.stem)
    return found


def extracted(text: Path, context: MeetingContext) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as scratch:
        extract_document(text, Path(scratch) / "facts.json", context)
        facts: list[dict[str, Any]] = read_facts(Path(scratch) / "facts.json")["facts"]
    return facts


def plain_facts(facts: list[dict[str, Any]]) -> dict[str, set[Any]]:
    of_kind: dict[str, list[dict[str, Any]]] = {}
    for fact in facts:
        of_kind.setdefault(fact["kind"], []).append(fact)
    return {
        "people": {
            (same(f["name"]), f["presence"]) for f in of_kind.get("person", []) if f["role"] == "member"
        },
        "ordinances": {f["number"].lower() for f in of_kind.get("ordinance", [])},
        "resolutions": {f["number"].lower() for f in of_kind.get("resolution", [])},
        "money": {f["amount"] for f in of_kind.get("money", [])},
        "addresses": {same(f["street"]) for f in of_kind.get("address", [])},
        "dates": {f["date"] for f in of_kind.get("date", [])},
    }


def plain_labels(labels: dict[str, Any]) -> dict[str, set[Any]]:
    return {
        "people": {(same(name), presence) for name, presence in labels["people"]},
        "ordinances": {number.lower() for number in labels["ordinances"]},
        "resolutions": {number.lower() for number in labels["resolutions"]},
        "money": {float(amount) for amount in labels["money"]},
        "addresses": {same(address) for address in labels["addresses"]},
        "dates": set(labels["dates"]),
    }


def same(text: str | None) -> str:
    return " ".join((text or "").lower().replace("\u2019", "'").replace(".", " ").replace(",", " ").split())


def score_items(score: Score, facts: list[dict[str, Any]], labels: list[list[str]], where: str) -> None:
    """In order, by number as printed and how the title begins."""
    wanted = [(number, same(title)) for number, title in labels]
    found = [(fact["number"], same(fact["title"])) for fact in facts if fact["kind"] == "agenda_item"]
    matched: Counter[Any] = Counter()
    for number, title in found:
        fitting = [item for item in wanted if item[0] == number and title.startswith(item[1])]
        if fitting:
            wanted.remove(fitting[0])
            matched[fitting[0]] += 1
        else:
            score.wrong += 1
            score.errors.append(f"{where}: wrong {number} {title}")
    score.right += matched.total()
    score.missed += len(wanted)
    score.errors += [f"{where}: missed {item}" for item in wanted]


def score_motions(
    found: dict[str, Score], facts: list[dict[str, Any]], labels: list[Any], where: str
) -> None:
    got = [motion_of_fact(fact) for fact in facts if fact["kind"] == "motion"]
    wanted = [motion_of_label(label) for label in labels]
    for ours, theirs in aligned(got, wanted):
        found["motions"].compare(
            Counter([1] if ours else []), Counter([1] if theirs else []), f"{where} {ours or theirs}"
        )
        for name in MOTION_FIELDS:
            ours_value, theirs_value = (ours or {}).get(name), (theirs or {}).get(name)
            found[name].compare(
                Counter([ours_value] if ours_value else []),
                Counter([theirs_value] if theirs_value else []),
                where,
            )


def motion_of_fact(fact: dict[str, Any]) -> dict[str, Any]:
    votes = fact["votes"]
    tally = (fact["ayes"], fact["noes"]) if fact["ayes"] is not None else None
    return {
        "mover": same(fact["mover"]),
        "seconder": same(fact["seconder"]),
        "result": fact["result"],
        "tally": tally and (*tally, fact["abstentions"] or 0),
        "for": frozenset(map(same, votes.get("aye", []))),
        "against": frozenset(map(same, votes.get("no", []))),
    }


def motion_of_label(label: list[Any]) -> dict[str, Any]:
    mover, seconder, result, tally, ayes, noes = label
    return {
        "mover": same(mover),
        "seconder": same(seconder),
        "result": result,
        "tally": tally and (tally[0], tally[1], tally[2] or 0),
        "for": frozenset(map(same, ayes)),
        "against": frozenset(map(same, noes)),
    }


Pair = tuple[dict[str, Any] | None, dict[str, Any] | None]


def aligned(got: list[dict[str, Any]], wanted: list[dict[str, Any]]) -> Iterator[Pair]:
    """The pairing in order that agrees most; motions pair only when mover or seconder agree."""
    best: dict[tuple[int, int], tuple[int, list[Pair]]] = {}
    for i in range(len(got) + 1):
        for j in range(len(wanted) + 1):
            options: list[tuple[int, list[Pair]]] = [(0, [])] if not i and not j else []
            if i:
                options.append((best[i - 1, j][0], [*best[i - 1, j][1], (got[i - 1], None)]))
            if j:
                options.append((best[i, j - 1][0], [*best[i, j - 1][1], (None, wanted[j - 1])]))
            if i and j and (agreement := agree(got[i - 1], wanted[j - 1])):
                score, pairs = best[i - 1, j - 1]
                options.append((score + agreement, [*pairs, (got[i - 1], wanted[j - 1])]))
            best[i, j] = max(options, key=lambda option: option[0])
    yield from best[len(got), len(wanted)][1]


def agree(ours: dict[str, Any], theirs: dict[str, Any]) -> int:
    people = sum(ours[name] == theirs[name] for name in ("mover", "seconder"))
    return 2 * people + sum(ours[name] == theirs[name] for name in ("result", "tally")) if people else 0


HOSTILE = (
    "a",
    "A",
    " ",
    "\n",
    "$",
    "(",
    "1",
    "1.",
    "A. ",
    "Ayes: ",
    "moved ",
    "Mr. A moved ",
    "motion by ",
    "1 A St ",
    "May 1 ",
    "A, ",
    "5-0 ",
    "Present: ",
)


def hostile_exponent() -> float:
    """The worst growth of time over length, of texts that repeat one thing; 1 is linear."""
    return max(growth(piece) for piece in HOSTILE)


def growth(piece: str, small: int = 10_000, factor: int = 4) -> float:
    times = [min(timed((piece * size)[:size]) for _ in range(2)) for size in (small, small * factor)]
    return log(max(times[1], 1e-6) / max(times[0], 1e-6)) / log(factor)


def timed(text: str) -> float:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "text"
        folder.mkdir()
        (folder / "1.txt").write_text(text)
        started = time.perf_counter()
        extract_document(
            folder, Path(scratch) / "facts.json", MeetingContext(date="2024-01-15", kind="minutes")
        )
        return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", action="store_true")
    chosen = "held_out" if parser.parse_args().held_out else "dev"
    for kind, score in scores(chosen).items():
        labelled = score.right + score.missed
        print(f"{kind:14} precision {score.precision:.3f}  recall {score.recall:.3f}  ({labelled} labelled)")
        if chosen == "dev":
            for error in score.errors:
                print(f"    {error}")


if __name__ == "__main__":
    main()
