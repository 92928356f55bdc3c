"""Who was there: the roll call in its many forms."""

from collections.abc import Iterator

from pipeline.work.extraction import name_lists, names
from pipeline.work.extraction.facts import Fact, MeetingContext, PagedText
from pipeline.work.extraction.patterns import pattern
from pipeline.work.extraction.surnames import Roll

# Minutes say who is there at the top; further down the same words belong to votes.
REACH = 12_000
LABEL = pattern(
    r"(?i)([^:.\n]{0,90}?)\b(not (?:present|in attendance)|present|absent|excused|absences|attendees|"
    r"in attendance|attending|attendance|members)\b([^:.\n]{0,40}?)(?::|\b(?:was|were)\b:?)[ \t]*"
)
HALF_COLON = pattern(r"(?im)^()[ \t]*(present|absent)()\.[ \t]+")
HEADING = pattern(r"(?im)^[ \t]*((?:[^\s:.]+ ){0,3})(present|absent|in attendance|excused)[ \t]*(?:\r?\n)")
ANSWERED = pattern(r"(?i)[ ,:\-–—]+\b(present|here|absent|excused)\b")
STATED = pattern(
    r"(?i)\b(?:was|were|is|are)\s+(?:also\s+|both\s+|all\s+)?"
    r"(present|in attendance|absent|excused|not present)\b|\banswered\s+(?:the\s+)?(roll|present)\b"
)
ARRIVED = pattern(
    r"(?i)(?:,\s*)?\b(?:arrived|joined(?: the meeting)?(?: by \w+| via \w+| remotely)?|entered)\b"
    r"(?: late)?(?: at\b|,| the)|\bpresent (?:at|after)\b"
)
TABLE = pattern(
    r"(?im)^[ \t]*(\p{Lu}[^\n:]{2,60}?)[ \t]+(present|absent|late|excused|remote)\b[ \t]*"
    r"(?:\d{1,2}:\d\d[^\n]{0,12})?$"
)
TABLE_HEAD = pattern(r"(?i)(attendee )?name[ \t]+(title|position|role)[^\n]{0,20}(status|present|attendance)")
ROLL_CALL = pattern(r"(?im)^[ \t\d.)A-Z]{0,6}roll call[ \t:.–-]*\r?\n")
VOTE_LABEL = pattern(r"(?i)\b(?:ayes?|yeas?|nays?|noes|yes|no|abstain\w*|recused)\s*[:\-–]")
STAFF = pattern(
    r"(?i)\b(?:staff|other|others|also|guest|guests|visitor|visitors|public|press|consultants?|administration|officials)\b"
)
STAFF_TITLE = pattern(
    r"(?i)\b(?:manager|attorney|administrator|engineer|planner|chief|superintendent|counsel|officer|recorder|"
    r"(?:planning|finance|works|executive) director|(?:city|village|town|county) clerk)\b"
)
ABSENT = {"absent", "not present", "not in attendance", "absences"}


def find(paged: PagedText, context: MeetingContext) -> list[Fact]:
    """Each person once, by the first form of roll call that names them."""
    text = paged.text[:REACH]
    known: dict[str, Fact] = {}
    for finder in (_tables, _labels, _headings, _answers, _statements, _bare_roll_call, _arrivals):
        before = Roll([fact.values["name"] for fact in known.values()])
        for fact in finder(text):
            name = fact.values["name"]
            # Within one list two people may share a surname; in another form of roll call it is the same one.
            key = before.full(name).casefold() if before.knows(name) else name.casefold()
            if key not in known:
                known[key] = fact
            elif fact.rule == "arrival" and known[key].values["presence"] == "present":
                known[key] = _late(known[key], fact)
    return sorted(known.values(), key=lambda fact: fact.start)


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
    """`Members Present: …`, `Present were …`, and `Present. …` where a scan lost half of the colon."""
    for match in (*LABEL.finditer(text), *HALF_COLON.finditer(text)):
        prefix, label, suffix = (match.group(number).lower() for number in (1, 2, 3))
        if label == "members" and not suffix.strip().startswith(("present", "absent")):
            continue
        if _in_vote(text, match.start(2)) or "quorum" in prefix:
            continue
        role = "staff" if STAFF.search(prefix.rpartition(". ")[2] + suffix) else "member"
        presence = _presence(f"{label}{suffix}" if label == "members" else label, prefix[-20:] + suffix)
        if label == "members":
            presence = "absent" if "absent" in suffix else "present"
        for person in name_lists.listed(text, match.end(), _list_end(text, match.end())):
            yield _person(person, presence, _role(role, person), "label", 0.95)


def _role(role: str, person: name_lists.Listed) -> str:
    return "staff" if STAFF_TITLE.search(f"{person.title} {person.name}") else role


def _in_vote(text: str, position: int) -> bool:
    """An `ABSENT:` among ayes and noes tells of a vote."""
    return bool(VOTE_LABEL.search(text[max(0, position - 250) : position]))


def _list_end(text: str, start: int) -> int:
    """Where a list of names ends: a sentence's end, a blank line, another label; a list may go on below."""
    position, above = start, " " * name_lists.column(text, start)
    for line in text[start : start + 1500].splitlines(keepends=True):
        if position > start and not _goes_on(text[start:position], above, line):
            return position
        stop = _sentence_end(line)
        if stop is not None:
            return position + stop
        position, above = position + len(line), above + line if position == start else line
    return position


def _goes_on(listed: str, above: str, line: str) -> bool:
    words = line.split()
    if not words or "\f" in line or (":" in line and not names.is_title(words[0])):
        return False
    if (
        not listed.strip()
        or listed.rstrip().endswith((",", ";", "-", "&", " and"))
        or line.startswith(" " * 6)
    ):
        return True
    if all(name_lists.belongs(word) for word in words) and any(names.is_name_token(word) for word in words):
        # A name a line: with a title, or nothing but a name when all stand below the label.
        below = not listed.partition("\n")[0].strip()
        return any(map(names.is_title, words)) or (below and 1 < len(words) <= 4)
    wrapped = len(above.rstrip()) >= name_lists.FULL_LINE and "," in above
    return wrapped and (names.is_name_token(words[0]) or words[0] == "and") and "," in line


def _sentence_end(line: str) -> int | None:
    for match in names.TOKEN.finditer(line):
        token = match.group()
        if names.ends_sentence(token) and len(token) > 3 and match.end() <= len(line.rstrip()):
            return match.end() - 1
        if (
            names.bare(token) in ("also", "other", "others", "absent", "present", "staff")
            and match.start() > 3
        ):
            return match.start()
    return None


def _headings(text: str) -> Iterator[Fact]:
    """`COMMISSIONERS ABSENT` on a line, and under it a name a line."""
    for match in HEADING.finditer(text):
        role = "staff" if STAFF.search(match.group(1)) else "member"
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
    if not TABLE_HEAD.search(text):
        return
    for match in TABLE.finditer(text):
        for person in name_lists.listed(text, match.start(1), match.end(1)):
            status = match.group(2).lower()
            yield _person(person, "present" if status == "remote" else status, "member", "table", 0.97)


def _answers(text: str) -> Iterator[Fact]:
    """`Mrs. Aldridge, present; Mr. Castellano, absent`."""
    for match in ANSWERED.finditer(text):
        name = names.before(text, match.start())
        word = match.group(1).lower()
        after = text[match.end() : match.end() + 1]
        if name and name.titled and after in ",;.\n" and not _in_vote(text, match.start()):
            person = name_lists.Listed(name.text, "", "", name.start, name.end)
            yield _person(person, "present" if word == "here" else word, "member", "answer", 0.9)


def _statements(text: str) -> Iterator[Fact]:
    """`Trustees Abbott, Costello and Reyes were present. Trustee Blum was absent.`"""
    for match in STATED.finditer(text):
        start = _sentence_start(text, match.start())
        if VOTE_LABEL.search(text[start : match.start()]) or STAFF.search(text[start : match.start()]):
            continue
        presence = _presence((match.group(1) or "present").lower(), "")
        colon = text.rfind(":", start, match.start())
        people = list(name_lists.listed(text, colon + 1 if colon >= 0 else start, match.start()))
        if any(person.title for person in people) or len(people) > 2:
            for person in people:
                yield _person(person, presence, _role("member", person), "statement", 0.85)


def _sentence_start(text: str, position: int) -> int:
    window = text[max(0, position - 500) : position]
    start = position - len(window)
    begin = start
    for match in names.TOKEN.finditer(window):
        paragraph = (
            "\n\n" in window[match.end() : match.end() + 3] or "\f" in window[match.end() : match.end() + 3]
        )
        token = match.group()
        if (names.ends_sentence(token) and len(token) > 3) or token in ("p.m.", "a.m.") or paragraph:
            begin = start + match.end()
    return begin


def _bare_roll_call(text: str) -> Iterator[Fact]:
    """Under `ROLL CALL`, names and nothing else: `Mayor Tim Wells and Councilmembers April Groves, …`."""
    for match in ROLL_CALL.finditer(text):
        people = list(name_lists.listed(text, match.end(), _list_end(text, match.end())))
        if len(people) >= 3 and people[0].title:
            for person in people:
                yield _person(person, "present", _role("member", person), "under_roll_call", 0.8)


def _arrivals(text: str) -> Iterator[Fact]:
    for match in ARRIVED.finditer(text):
        name = names.before(text, match.start())
        if name and name.titled:
            person = name_lists.Listed(name.text, "", "", name.start, name.end)
            yield _person(person, "late", "member", "arrival", 0.85)
