"""Who was there: the roll call in its many forms."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pipeline.work.extraction.facts import Fact, MeetingContext, PagedText
from pipeline.work.extraction.patterns import pattern
from pipeline.work.extraction.people import roll_lists, roll_sentences
from pipeline.work.extraction.people.surnames import Roll

# Minutes say who is there at the top; further down the same words belong to votes.
REACH = 12_000
CLERK = pattern(r"(?i)^(?:deputy |acting |assistant )*(?:clerk|clerk[-/ ]treasurer|recorder)$")
WITH_THEIR_CLERK = pattern(r"(?i)\b(?:education|school|township)")


def find(paged: PagedText, context: MeetingContext) -> list[Fact]:
    """Each person once, by the first form of roll call that names them."""
    text = paged.text[:REACH]
    known: dict[str, Fact] = {}
    for finder in FINDERS:
        before = Roll([fact.values["name"] for fact in known.values()])
        if finder in SUPPLEMENTS and len(known) < 2:
            continue
        for fact in _placed(finder(text), context):
            name = fact.values["name"]
            # Within one list two people may share a surname; in another form of roll call it is the same one.
            key = before.full(name).casefold() if before.knows(name) else name.casefold()
            if key not in known:
                known[key] = fact
            elif fact.rule == "arrival" and known[key].values["presence"] in ("present", "absent"):
                known[key] = _late(known[key], fact)
    return sorted(known.values(), key=lambda fact: fact.start)


def _placed(facts: Iterable[Fact], context: MeetingContext) -> Iterator[Fact]:
    """The clerk of a school or township board may be one of its members; of any other body, an officer."""
    with_their_clerk = WITH_THEIR_CLERK.search(context.body)
    for fact in facts:
        title = fact.values["title"].strip(" ,.")
        officer = title and not with_their_clerk and CLERK.match(title)
        yield replace(fact, values=fact.values | {"role": "staff"}) if officer else fact


def _late(first: Fact, fact: Fact) -> Fact:
    return Fact(
        "person", first.start, first.end, fact.rule, fact.confidence, first.values | {"presence": "late"}
    )


# The surest form first: who is named by one is not looked for in the next.
FINDERS = (
    roll_lists.tables,
    roll_lists.stacked_tables,
    roll_lists.labels,
    roll_lists.headings,
    roll_sentences.answers,
    roll_sentences.statements,
    roll_lists.bare_roll_call,
    roll_lists.exceptions,
    roll_sentences.chairs,
    roll_sentences.openers,
    roll_sentences.arrivals,
)
# They add to a roll and are none: one name alone is not who was there.
SUPPLEMENTS = (roll_sentences.openers,)
