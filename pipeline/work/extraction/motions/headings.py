"""A heading below a name is no part of it."""

from dataclasses import replace

from pipeline.work.extraction.motions.events import Event
from pipeline.work.extraction.people.surnames import Roll


def without_heading(event: Event, text: str, roll: Roll) -> Event:
    """`seconded by Ng` and below it `Water Report`: cut where the roll knows the name, doubted elsewhere."""
    if not event.value or " " not in event.value or roll.knows(event.value):
        return event
    start = event.end - len(event.value) - 3
    break_at = text.find("\n", max(event.start, start), event.end)
    if break_at < 0:
        return event
    above = " ".join(text[max(event.start, start) : break_at].split()[-1:])
    words = event.value.split()
    kept = next(
        (" ".join(words[: n + 1]) for n, word in enumerate(words) if word.strip(",.;") == above.strip(",.;")),
        "",
    )
    if not kept or kept == event.value:
        return event
    if roll.knows(kept):
        return replace(event, value=kept, end=break_at)
    return replace(event, doubt=f"{event.value}: a name over the end of a line")
