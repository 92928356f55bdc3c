"""People and motions together: the roll call says who a surname in a motion is."""

from pipeline.work.extraction import motions, roll
from pipeline.work.extraction.facts import Fact, MeetingContext, PagedText

# An agenda says what will be moved, not what was.
WITHOUT_MOTIONS = ("agenda", "packet")


def find(paged: PagedText, context: MeetingContext) -> list[Fact]:
    if context.kind in WITHOUT_MOTIONS:
        return []
    people = roll.find(paged, context)
    return people + motions.find(paged, context, people)
