"""People and motions together: the roll call says who a surname in a motion is."""

from pipeline.work.extraction.facts import Fact, MeetingContext, PagedText
from pipeline.work.extraction.motions import finding as motions
from pipeline.work.extraction.people import roll

# An agenda says what will be moved, not what was.
WITHOUT_MOTIONS = ("agenda", "packet")


def find(paged: PagedText, context: MeetingContext) -> list[Fact]:
    if context.kind in WITHOUT_MOTIONS:
        return []
    people = roll.find(paged, context)
    return people + motions.find(paged, context, people)
