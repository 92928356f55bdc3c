"""Who was there: the roll call in its many forms."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pipeline.work.extraction.facts import Fact, MeetingContext, PagedText
from pipeline.work.extraction.patterns import Pattern, pattern
from pipeline.work.extraction.people import name_lists, names
from pipeline.work.extraction.people.list_ends import is_one_name, list_end
from pipeline.work.extraction.people.surnames import Roll

# Minutes say who is there at the top; further down the same words belong to votes.
REACH = 12_000
LABEL = pattern(
    r"(?i)([^:.\n]{0,90}?)\b(not (?:present|in attendance)|present|absent|excused|absences|attendees|"
    r"in attendance|attending|attendance|(?:answer|respond)(?:ing|ed) (?:to )?(?:the )?roll(?: call)?|"
    r"members)\b([^:.\n]{0,40}?)(?::|\b(?:was|were|are)\b:?|[ \t]\d{1,2}[ \t]*[-–—])[ \t]*"
)
DASHED = pattern(r"(?im)^([^:.\n]{0,40}?)\b(present|absent|excused|in attendance)()[ \t]*[-–—]{1,2}[ \t]+")
# `ATTENDANCE Council Members Ann Ruiz`: no colon, but a title.
BARE = pattern(r"(?im)^()[ \t]*(present|attendance|in attendance|absent|excused)()[ \t]+")
HALF_COLON = pattern(r"(?m)^()[ \t]*(Present|PRESENT|Absent|ABSENT)()\.[ \t]+")
HEADING = pattern(
    r"(?im)^[ \t*#_]*((?:[^\s:.]+ ){0,3})(present|absent|in attendance|excused)[ \t*_]*(?:\n[ \t]*){1,3}"
)
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
# What may stand between the label and its colon.
QUALIFIED = pattern(
    r"(?i)^[\s(,]*(?:$|to wit|namely|as follows|"
    r"\d|members?|commissioners?|trustees|directors|councilmembers?|council|board|staff|at|by|in"
    r"|on|via|and|were|was|for|from|with|without|today|tonight|also|excused|remotely|virtually|electronically"
    r"|roll|none|this|during|throughout|physically|telephonically|are|aldermen|supervisors|selectmen|officials)"
)
ARRIVED = pattern(
    r"(?i)(?:,\s*)?\b(?:arrived|joined(?: the meeting)?(?: by \w+| via \w+| remotely)?|entered)\b"
    r"(?: late)?(?: at\b|,| the)|\bpresent (?:at|after)\b"
)
TABLE = pattern(
    r"(?im)^[ \t|]*(?:(?:district|ward|seat|place|position|division|area|zone) [\w-]{1,3}[ \t:–-]+)?"
    r"(\p{Lu}[^\n:]{2,60}?)[ \t._–|-]*[ \t._](present|absent|late|excused|remote)\b[ \t|]*"
    r"(?:\d{1,2}:\d\d[^\n]{0,12})?$"
)
# So many lines that end in one of these words are a table, whatever stands above them.
TABLE_ROWS = 3
TABLE_HEAD = pattern(
    r"(?i)(attendee )?name[ \t]+(?:organization[ \t]+)?(title|position|role)"
    r"[^\n]{0,20}(status|present|attendance)"
)
ROLL_CALL = pattern(r"(?im)^[ \t\d.)A-Z]{0,6}roll call[ \t:.–-]*(?:\n[ \t]*){0,3}")
ALL_PRESENT = pattern(r"(?i)^[\s.;,–-]*all (?:members )?(?:were |are )?present\b")
EXCEPT = pattern(r"(?i)\ball\b[^.:\n]{0,60}\bpresent,?\s+(?:except(?: for)?|with the exceptions? of|but)\s+")
VOTE_LABEL = pattern(r"(?i)\b(?:ayes?|yeas?|nays?|noes|yes|no|abstain\w*|recused)\s*[:\-–]")
STAFF = pattern(
    r"(?i)\b(?:staff|other|others|also|guest|guests|visitor|visitors|public|press|consultants?|administration|officials)\b"
)
OTHER_MEMBERS = pattern(
    r"(?i)\bother\b[^.:]{0,20}\b(?:members|commissioners|trustees|directors|supervisors|council\w+|alder\w+)"
)
# Who runs the meeting is there, whether or not the roll says so.
PRESIDED = pattern(r"(?i),?\s+(?:presid(?:ing|ed)|in the chair)\b")
OPENED = pattern(
    r"(?i)\s+(?:called|convened|brought)\s+(?:the\s+|this\s+)?(?:[\w-]+\s+){0,4}?(?:meeting|session|board|council|commission)\s+to\s+order\b"
)
STAFF_TITLE = pattern(
    r"(?i)\b(?:manager|attorney|administrator|engineer|planner|chief|superintendent|counsel|officer|recorder|"
    r"(?:planning|finance|works|executive) director|(?:city|village|town|county) clerk)\b"
)
# After `…, Trustees.` a clerk or treasurer is not one of them.
SEVERAL = pattern(
    r"(?i)\b(?:trustees|members|councilmen|councilmembers|commissioners|directors|supervisors|aldermen|selectmen)\b"
)
OFFICER = pattern(r"(?i)\b(?:clerk|treasurer|secretary)\b")
CLERK = pattern(r"(?i)^(?:deputy |acting |assistant )*(?:clerk|clerk[-/ ]treasurer|recorder)$")
WITH_THEIR_CLERK = pattern(r"(?i)\b(?:education|school|township)")
MEMBER_TITLE = pattern(
    r"(?i)\b(?:council|alder|trustee|commissioner|director|supervisor|mayor|president|chair|member|select)"
)
STATUSES = frozenset(("present", "absent", "late", "excused", "remote"))
ABSENT = {"absent", "not present", "not in attendance", "absences"}


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


def _person(person: name_lists.Listed, presence: str, role: str, rule: str, confidence: float) -> Fact:
    noted = person.note.lower()
    for word in ("excused", "absent", "late"):
        presence = word if word in noted else presence
    if "arrived" in noted:
        presence = "late"
    values = {"name": person.name, "title": person.title, "role": role, "presence": presence}
    return Fact("person", person.start, person.end, rule, confidence, values)


def _presence(label: str, around: str) -> str:
    if "excused" in label or "excused" in around:
        return "excused"
    return "absent" if label in ABSENT else "present"


def _labels(text: str) -> Iterator[Fact]:
    """`Members Present: …`, `Present were …`, `Present 3 - …`; `Present. …` where a scan lost half of it."""
    for match in (match for form in (LABEL, HALF_COLON, DASHED, BARE) for match in form.finditer(text)):
        prefix, label, suffix = (match.group(number).lower() for number in (1, 2, 3))
        if not _is_roll(label, suffix) or _in_vote(text, match.start(2)):
            continue
        if match.re is BARE and not names.is_title(text[match.end() : match.end() + 20].partition(" ")[0]):
            continue
        role = _named_role(f"{prefix.rpartition('. ')[2]}{label}{suffix}")
        presence = _presence(f"{label}{suffix}" if label == "members" else label, prefix[-20:] + suffix)
        if label == "members":
            presence = "absent" if "absent" in suffix else "present"
        members_told = False
        for person in name_lists.listed(text, match.end(), list_end(text, match.end())):
            theirs = "staff" if members_told and OFFICER.search(person.title) else _role(role, person)
            members_told = members_told or bool(person.title and SEVERAL.search(person.title))
            yield _person(person, presence, theirs, "label", 0.95)


def _is_roll(label: str, suffix: str) -> bool:
    if label == "members":
        words = ("present", "absent", "in attendance")
        return suffix.strip().startswith(words) or suffix.strip().endswith(words)
    return bool(QUALIFIED.search(suffix))


def _named_role(label: str) -> str:
    return "staff" if STAFF.search(label) and not OTHER_MEMBERS.search(label) else "member"


def _role(role: str, person: name_lists.Listed) -> str:
    return "staff" if STAFF_TITLE.search(f"{person.title} {person.name}") else role


def _in_vote(text: str, position: int) -> bool:
    """An `ABSENT:` among ayes and noes tells of a vote."""
    return bool(VOTE_LABEL.search(text[max(0, position - 250) : position]))


def _headings(text: str) -> Iterator[Fact]:
    """`COMMISSIONERS ABSENT` on a line, and under it a name a line."""
    for match in HEADING.finditer(text):
        role = _named_role(match.group(1))
        presence = _presence(match.group(2).lower(), match.group(1).lower())
        position = match.end()
        for line in text[position : position + 1500].splitlines(keepends=True):
            people = list(name_lists.listed(text, position, position + len(line.rstrip())))
            if not line.strip() or not people:
                break
            for person in people:
                yield _person(person, presence, _role(role, person), "heading", 0.9)
            position += len(line)


def _tables(text: str) -> Iterator[Fact]:
    rows = list(TABLE.finditer(text))
    if not TABLE_HEAD.search(text) and len(rows) < TABLE_ROWS:
        return
    for match in rows:
        name = names.after(text, match.start(1), reach=match.end(1) - match.start(1))
        if name:
            title, status = text[name.end : match.end(1)].strip(), match.group(2).lower()
            person = name_lists.Listed(name.text, title, "", name.start, match.end(1))
            presence = "present" if status == "remote" else status
            yield _person(person, presence, _role("member", person), "table", 0.97)


def _stacked_tables(text: str) -> Iterator[Fact]:
    """A table whose columns came one below the other: so many names, as many titles, as many answers."""
    lines = [(line, start) for line, start in _lines(text) if line.strip()]
    statuses = [line.strip().lower() in STATUSES for line, _ in lines]
    if sum(statuses) < TABLE_ROWS:
        return
    number = 0
    while number < len(lines):
        count = next((n for n, status in enumerate(statuses[number:]) if not status), len(lines) - number)
        above = [line for line in lines[max(0, number - 2 * count - 2) : number] if is_one_name(line[0])]
        if count and len(above) >= count:
            for (line, start), (status, _) in zip(
                above[-count:], lines[number : number + count], strict=True
            ):
                yield from _row(line, start, status.strip().lower())
        number += max(count, 1)


def _lines(text: str) -> Iterator[tuple[str, int]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield line, start
        start += len(line)


def _row(line: str, start: int, status: str) -> Iterator[Fact]:
    for person in name_lists.listed(line, 0, len(line.rstrip())):
        placed = replace(person, start=start + person.start, end=start + person.end)
        presence = "present" if status == "remote" else status
        yield _person(placed, presence, _role("member", person), "stacked_table", 0.9)


def _answers(text: str) -> Iterator[Fact]:
    """`Mrs. Aldridge, present; Mr. Castellano, absent`; without titles where they are enough to be a list."""
    answers = [(match, names.before(text, match.start())) for match in ANSWERED.finditer(text)]
    answers = [
        (match, name) for match, name in answers if name and text[match.end() : match.end() + 1] in ",;.\n"
    ]
    for match, name in answers:
        word = match.group(1).lower()
        if name and (name.titled or len(answers) >= TABLE_ROWS) and not _in_vote(text, match.start()):
            person = name_lists.Listed(name.text, "", "", name.start, name.end)
            yield _person(person, "present" if word == "here" else word, "member", "answer", 0.9)


def _statements(text: str) -> Iterator[Fact]:
    """`Trustees Abbott, Costello and Reyes were present. Trustee Blum was absent.`"""
    for match in STATED.finditer(text):
        start = _sentence_start(text, match.start())
        if VOTE_LABEL.search(text[start : match.start()]) or STAFF.search(text[start : match.start()]):
            continue
        presence = _presence((match.group(1) or match.group(3) or "present").lower(), "")
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
                yield _person(person, presence, _role(role, person), "statement", 0.85)


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


def _bare_roll_call(text: str) -> Iterator[Fact]:
    """Under `ROLL CALL`, names and nothing else: `Mayor Tim Wells and Councilmembers April Groves, …`."""
    for match in ROLL_CALL.finditer(text):
        end = list_end(text, match.end())
        people = list(name_lists.listed(text, match.end(), end))
        if len(people) >= 3 and (people[0].title or ALL_PRESENT.match(text[end : end + 60])):
            for person in people:
                yield _person(person, "present", _role("member", person), "under_roll_call", 0.8)


def _exceptions(text: str) -> Iterator[Fact]:
    """`All members were present except Trustee Blum.`"""
    for match in EXCEPT.finditer(text):
        for person in name_lists.listed(text, match.end(), list_end(text, match.end())):
            yield _person(person, "absent", _role("member", person), "exception", 0.85)


def _chairs(text: str) -> Iterator[Fact]:
    """`The board met, with President Ann Ruiz presiding.`"""
    return (_person(person, "present", "member", "chair", 0.85) for person in _titled_before(PRESIDED, text))


def _openers(text: str) -> Iterator[Fact]:
    """`President Ruiz called the regular meeting to order.`"""
    return (_person(person, "present", "member", "chair", 0.85) for person in _titled_before(OPENED, text))


def _arrivals(text: str) -> Iterator[Fact]:
    return (_person(person, "late", "member", "arrival", 0.85) for person in _titled_before(ARRIVED, text))


def _titled_before(words: Pattern, text: str) -> Iterator[name_lists.Listed]:
    for match in words.finditer(text):
        name = names.before(text, match.start())
        if name and name.titled:
            yield name_lists.Listed(name.text, "", "", name.start, name.end)


# The surest form first: who is named by one is not looked for in the next.
FINDERS = (
    _tables,
    _stacked_tables,
    _labels,
    _headings,
    _answers,
    _statements,
    _bare_roll_call,
    _exceptions,
    _chairs,
    _openers,
    _arrivals,
)
# They add to a roll and are none: one name alone is not who was there.
SUPPLEMENTS = (_openers,)
