"""Roll calls in sentences: answers, statements, who presided, who arrived."""

from collections.abc import Iterator

from pipeline.work.extraction.facts import Fact
from pipeline.work.extraction.patterns import Pattern, pattern
from pipeline.work.extraction.people import name_lists, names
from pipeline.work.extraction.people.roles import STAFF, VOTE_LABEL, fact_of, in_vote, presence_of, role_of
from pipeline.work.extraction.people.roll_lists import TABLE_ROWS

ANSWERED = pattern(r"(?i)[ ,:\-–—]+\b(present|here|absent|excused)\b")
STATED = pattern(
    r"(?i)\b(?:was|were|is|are)\s+(?:also\s+|both\s+|all\s+)?"
    r"(present|in attendance|absent|excused|not present)\b|\banswered\s+(?:the\s+)?(roll|present)\b"
    r"|\b(present|absent|excused)[.;]"
    r"|\b(?:participated|attended|appeared)\s+(?:the meeting\s+)?"
    r"(?:via|by|through|remotely|virtually|electronically|telephonically)\b"
)
# Somebody who came to speak is no member.
ON_BUSINESS = pattern(r"(?i)^\s+(?:to|on behalf|representing|for|from|in (?:support|favor|opposition)|and)\b")
AND_EXCUSED = pattern(r"(?i)^\s+and\s+(?:was\s+|were\s+)?excused\b")
ARRIVED = pattern(
    r"(?i)(?:,\s*)?\b(?:arrived|joined(?: the meeting)?(?: by \w+| via \w+| remotely)?|entered)\b"
    r"(?: late)?(?: at\b|,| the)|\bpresent (?:at|after)\b"
)
# Who runs the meeting is there, whether or not the roll says so.
PRESIDED = pattern(r"(?i),?\s+(?:presid(?:ing|ed)|in the chair)\b")
OPENED = pattern(
    r"(?i)\s+(?:called|convened|brought)\s+(?:the\s+|this\s+)?(?:[\w-]+\s+){0,4}?(?:meeting|session|board|council|commission)\s+to\s+order\b"
)
MEMBER_TITLE = pattern(
    r"(?i)\b(?:council|alder|trustee|commissioner|director|supervisor|mayor|president|chair|member|select)"
)


def answers(text: str) -> Iterator[Fact]:
    """`Mrs. Aldridge, present; Mr. Castellano, absent`; without titles where they are enough to be a list."""
    answers = [(match, names.before(text, match.start())) for match in ANSWERED.finditer(text)]
    answers = [
        (match, name) for match, name in answers if name and text[match.end() : match.end() + 1] in ",;.\n"
    ]
    for match, name in answers:
        word = match.group(1).lower()
        if name and (name.titled or len(answers) >= TABLE_ROWS) and not in_vote(text, match.start()):
            person = name_lists.Listed(name.text, "", "", name.start, name.end)
            yield fact_of(person, "present" if word == "here" else word, "member", "answer", 0.9)


def statements(text: str) -> Iterator[Fact]:
    """`Trustees Abbott, Costello and Reyes were present. Trustee Blum was absent.`"""
    for match in STATED.finditer(text):
        start = _sentence_start(text, match.start())
        if VOTE_LABEL.search(text[start : match.start()]) or STAFF.search(text[start : match.start()]):
            continue
        presence = presence_of((match.group(1) or match.group(3) or "present").lower(), "")
        colon = text.rfind(":", start, match.start())
        begin = colon + 1 if colon >= 0 else start
        people = list(name_lists.listed(text, begin, match.start()))
        following = text[match.end() : match.end() + 30]
        on_business = ON_BUSINESS.match(following) and "excused" not in following
        if _is_about(people, text[begin : match.start()], said=match.group(3) is None) and not on_business:
            presence = "excused" if AND_EXCUSED.match(following) else presence
            for person in people:
                role = (
                    "staff"
                    if " also " in match.group() and not MEMBER_TITLE.search(person.title)
                    else "member"
                )
                yield fact_of(person, presence, role_of(role, person), "statement", 0.85)


def _is_about(people: list[name_lists.Listed], subject: str, *, said: bool) -> bool:
    """Whether a sentence tells who is there: it names people by title, or many, or one by the full name and
    nothing else. Without a verb (`Trustees Abbott and Reyes present.`) it must be nothing but names."""
    known = any(person.title for person in people) or len(people) > 2
    bare = all(name_lists.belongs(word) or word in ("and", "&") for word in subject.split())
    alone = len(people) == 1 and " " in people[0].name and subject.strip(" \n,") == people[0].name
    return bool(people) and ((known and (said or bare)) or (said and alone))


def _sentence_start(text: str, position: int) -> int:
    window = text[max(0, position - 500) : position]
    start = position - len(window)
    begin = start
    for match in names.TOKEN.finditer(window):
        paragraph = (
            "\n\n" in window[match.end() : match.end() + 3] or "\f" in window[match.end() : match.end() + 3]
        )
        token = match.group()
        if names.ends_sentence(token) or token in ("p.m.", "a.m.") or paragraph:
            begin = start + match.end()
    return begin


def chairs(text: str) -> Iterator[Fact]:
    """`The board met, with President Ann Ruiz presiding.`"""
    return (fact_of(person, "present", "member", "chair", 0.85) for person in _titled_before(PRESIDED, text))


def openers(text: str) -> Iterator[Fact]:
    """`President Ruiz called the regular meeting to order.`"""
    return (fact_of(person, "present", "member", "chair", 0.85) for person in _titled_before(OPENED, text))


def arrivals(text: str) -> Iterator[Fact]:
    return (fact_of(person, "late", "member", "arrival", 0.85) for person in _titled_before(ARRIVED, text))


def _titled_before(words: Pattern, text: str) -> Iterator[name_lists.Listed]:
    for match in words.finditer(text):
        name = names.before(text, match.start())
        if name and name.titled:
            yield name_lists.Listed(name.text, "", "", name.start, name.end)
