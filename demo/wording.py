"""What the papers say: the same words at every start, in the manner of minutes and agendas."""

import random
from collections.abc import Iterator

from demo.towns import Paper

# Stands on one scanned page and nowhere else, so that finding it proves that the page was read.
SCANNED_PHRASE = "granite drinking fountain"
SCANNED_PHRASE_PAPER = ("alderfalls.or", "City Council", "2025-01-14", "minutes")

STREETS = ("Mill Street", "Orchard Avenue", "Depot Road", "Quarry Lane", "Chestnut Street", "Ferry Road")
FIRMS = ("Tillman Paving Inc.", "Northgate Engineering LLC", "Hobart & Sons", "Blue Heron Consulting")
SUBJECTS = (
    ("adopting a revised fee schedule for building permits", "fees"),
    ("amending the zoning map near {address}", "zoning"),
    ("authorizing repair of the sidewalk at {address}", "repair"),
    ("regulating short-term rental of dwellings", "rentals"),
    ("establishing a reserve for storm water improvements", "reserve"),
    ("renaming the community hall at {address}", "hall"),
)
PURCHASES = (
    "a used street sweeper",
    "replacement pumps at the treatment plant",
    "resurfacing of the {street} parking lot",
    "winter sand and salt",
    "radio equipment for the fire department",
    "an update of the comprehensive plan",
)
COMMENTS = (
    "{name} of {address} asked that the speed limit on {street} be lowered.",
    "{name} of {address} thanked the road crew for clearing snow on {street}.",
    "{name}, {address}, spoke against the proposed rental ordinance.",
    "{name}, {address}, asked when the footbridge will reopen.",
)
RESIDENTS = ("Karen Abbott", "Luis Ortega", "Dorothy Finch", "Ahmed Saleh", "Beth Kowalski", "Ray Nakamura")


def pages(paper: Paper) -> list[list[str]]:
    """The paragraphs of each page."""
    chance = random.Random(paper.path)
    head = [paper.town.name.upper(), paper.body.name.upper(), f"{paper.day:%B %-d, %Y}, 7:00 p.m."]
    if paper.kind == "agenda":
        return [[*head, "AGENDA", *_agenda(paper, chance)]]
    absent = chance.choice((paper.body.members[-1], None, None))
    text = [*head, "MINUTES", *_roll_call(paper, chance, absent), *_business(paper, chance, absent)]
    middle = len(text) // 2
    return [text[:middle], text[middle:]]


def _agenda(paper: Paper, chance: random.Random) -> Iterator[str]:
    items = [
        "Call to order and roll call",
        "Approval of the minutes of the previous meeting",
        "Public comment",
    ]
    items += [f"Ordinance No. {_number(paper, n)}, {_subject(chance)}" for n in (1, 2)]
    items += [f"Purchase of {_purchase(chance)}, not to exceed {_money(chance)}", "Adjournment"]
    for number, item in enumerate(items, start=1):
        yield f"{number}. {item}"
    yield f"Persons who need assistance may call the clerk at 503-555-01{chance.randrange(10, 99)}."


def _roll_call(paper: Paper, chance: random.Random, absent: str | None) -> Iterator[str]:
    yield f"{paper.body.chair} called the meeting to order at 7:0{chance.randrange(1, 9)} p.m."
    present = ", ".join(_present(paper, absent))
    yield f"ROLL CALL. Present: {paper.body.chair}, {present}. Absent: {absent or 'None'}."


def _business(paper: Paper, chance: random.Random, absent: str | None) -> Iterator[str]:
    yield (
        f"APPROVAL OF MINUTES. {_motion(paper, chance, absent)}, to approve the minutes of the previous "
        "meeting as presented. Motion carried unanimously."
    )
    yield "PUBLIC COMMENT. " + chance.choice(COMMENTS).format(
        name=chance.choice(RESIDENTS), address=_address(chance), street=chance.choice(STREETS)
    )
    if (paper.town.subdomain, paper.body.name, paper.day.isoformat(), paper.kind) == SCANNED_PHRASE_PAPER:
        yield f"GIFT. The council accepted with thanks a {SCANNED_PHRASE} for the square by the library."
    for number in (1, 2):
        yield from _ordinance(paper, chance, number, absent)
    yield from _spending(paper, chance, absent)
    yield f"ADJOURNMENT. There being no further business, adjourned at 8:{chance.randrange(10, 59)} p.m."


def _ordinance(paper: Paper, chance: random.Random, number: int, absent: str | None) -> Iterator[str]:
    name = _number(paper, number)
    yield f"ORDINANCE NO. {name}. An ordinance {_subject(chance)}. The public hearing was opened and closed."
    voting = [person.split()[-1] for person in (paper.body.chair, *_present(paper, absent))]
    against = chance.choice((None, None, voting[-1]))
    ayes = [person for person in voting if person != against]
    yield (
        f"{_motion(paper, chance, absent)}, to adopt Ordinance No. {name}. "
        f"AYES: {', '.join(ayes)}. NOES: {against or 'None'}. ABSENT: {(absent or 'None').split()[-1]}. "
        f"The motion carried {len(ayes)}-{len(voting) - len(ayes)}."
    )


def _spending(paper: Paper, chance: random.Random, absent: str | None) -> Iterator[str]:
    yield (
        f"CONTRACTS. {_motion(paper, chance, absent)}, to award a contract to {chance.choice(FIRMS)} for "
        f"{_purchase(chance)} in the amount of {_money(chance)}. Motion carried unanimously."
    )
    yield f"WARRANTS. The treasurer presented bills of {_money(chance)}, which were approved for payment."


def _present(paper: Paper, absent: str | None) -> list[str]:
    return [name for name in paper.body.members if name != absent]


def _motion(paper: Paper, chance: random.Random, absent: str | None) -> str:
    present = _present(paper, absent)
    first = chance.choice(present)
    second = chance.choice([name for name in (paper.body.chair, *present) if name != first])
    return f"Motion by {first}, seconded by {second}"


def _number(paper: Paper, number: int) -> str:
    return f"{paper.day.year}-{paper.day.month * 4 + number:02d}"


def _address(chance: random.Random) -> str:
    return f"{chance.randrange(2, 900)} {chance.choice(STREETS)}"


def _subject(chance: random.Random) -> str:
    return chance.choice(SUBJECTS)[0].format(address=_address(chance))


def _purchase(chance: random.Random) -> str:
    return chance.choice(PURCHASES).format(street=chance.choice(STREETS))


def _money(chance: random.Random) -> str:
    return f"${chance.randrange(1_200, 240_000):,}.{chance.randrange(100):02d}"
