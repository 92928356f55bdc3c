"""One round: write down what is new, match it with the searches, send what is due."""

from dataclasses import dataclass

from django.utils import timezone

from records.access import is_public
from records.following import arrivals, matching, saving, sending


@dataclass(frozen=True)
class Round:
    new: int = 0
    matched: int = 0
    sent: int = 0
    failed: int = 0
    asked: int = 0
    forgotten: int = 0
    trouble: str = ""


def once() -> Round:
    """Safe at any time, and twice at once: each step is guarded.

    Records that are not public are told to nobody by mail. What comes in meanwhile is told once they are.
    """
    new = arrivals.note()
    if not is_public():
        return Round(new=new)
    now = timezone.now()
    forgotten = saving.forget_unconfirmed(now)
    matched = matching.match_due(now)
    if not sending.is_possible():
        return Round(new, matched, forgotten=forgotten, trouble="EMAIL_HOST is not set: no mail is sent")
    try:
        sent = sending.send_due(timezone.now())
    except sending.Unreachable as error:
        return Round(new, matched, forgotten=forgotten, trouble=str(error))
    return Round(new, matched, sent.sent, sent.failed, sent.asked, forgotten)
