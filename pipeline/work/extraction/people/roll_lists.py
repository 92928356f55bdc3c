"""Roll calls that are lists: behind a label, under a heading, in a table."""

from collections.abc import Iterator
from dataclasses import replace

from pipeline.work.extraction.facts import Fact
from pipeline.work.extraction.patterns import pattern
from pipeline.work.extraction.people import name_lists, names
from pipeline.work.extraction.people.list_ends import is_one_name, list_end
from pipeline.work.extraction.people.roles import fact_of, in_vote, presence_of, role_named, role_of

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
# What may stand between the label and its colon.
QUALIFIED = pattern(
    r"(?i)^[\s(,]*(?:$|to wit|namely|as follows|"
    r"\d|members?|commissioners?|trustees|directors|councilmembers?|council|board|staff|at|by|in"
    r"|on|via|and|were|was|for|from|with|without|today|tonight|also|excused|remotely|virtually|electronically"
    r"|roll|none|this|during|throughout|physically|telephonically|are|aldermen|supervisors|selectmen|officials)"
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
# After `…, Trustees.` a clerk or treasurer is not one of them.
SEVERAL = pattern(
    r"(?i)\b(?:trustees|members|councilmen|councilmembers|commissioners|directors|supervisors|aldermen|selectmen)\b"
)
OFFICER = pattern(r"(?i)\b(?:clerk|treasurer|secretary)\b")
STATUSES = frozenset(("present", "absent", "late", "excused", "remote"))


def labels(text: str) -> Iterator[Fact]:
    """`Members Present: …`, `Present were …`, `Present 3 - …`; `Present. …` where a scan lost half of it."""
    for match in (match for form in (LABEL, HALF_COLON, DASHED, BARE) for match in form.finditer(text)):
        prefix, label, suffix = (match.group(number).lower() for number in (1, 2, 3))
        if not _is_roll(label, suffix) or in_vote(text, match.start(2)):
            continue
        if match.re is BARE and not names.is_title(text[match.end() : match.end() + 20].partition(" ")[0]):
            continue
        role = role_named(f"{prefix.rpartition('. ')[2]}{label}{suffix}")
        presence = presence_of(f"{label}{suffix}" if label == "members" else label, prefix[-20:] + suffix)
        if label == "members":
            presence = "absent" if "absent" in suffix else "present"
        members_told = False
        for person in name_lists.listed(text, match.end(), list_end(text, match.end())):
            theirs = "staff" if members_told and OFFICER.search(person.title) else role_of(role, person)
            members_told = members_told or bool(person.title and SEVERAL.search(person.title))
            yield fact_of(person, presence, theirs, "label", 0.95)


def _is_roll(label: str, suffix: str) -> bool:
    if label == "members":
        words = ("present", "absent", "in attendance")
        return suffix.strip().startswith(words) or suffix.strip().endswith(words)
    return bool(QUALIFIED.search(suffix))


def headings(text: str) -> Iterator[Fact]:
    """`COMMISSIONERS ABSENT` on a line, and under it a name a line."""
    for match in HEADING.finditer(text):
        role = role_named(match.group(1))
        presence = presence_of(match.group(2).lower(), match.group(1).lower())
        position = match.end()
        for line in text[position : position + 1500].splitlines(keepends=True):
            people = list(name_lists.listed(text, position, position + len(line.rstrip())))
            if not line.strip() or not people:
                break
            for person in people:
                yield fact_of(person, presence, role_of(role, person), "heading", 0.9)
            position += len(line)


def tables(text: str) -> Iterator[Fact]:
    rows = list(TABLE.finditer(text))
    if not TABLE_HEAD.search(text) and len(rows) < TABLE_ROWS:
        return
    for match in rows:
        name = names.after(text, match.start(1), reach=match.end(1) - match.start(1))
        if name:
            title, status = text[name.end : match.end(1)].strip(), match.group(2).lower()
            person = name_lists.Listed(name.text, title, "", name.start, match.end(1))
            presence = "present" if status == "remote" else status
            yield fact_of(person, presence, role_of("member", person), "table", 0.97)


def stacked_tables(text: str) -> Iterator[Fact]:
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
        yield fact_of(placed, presence, role_of("member", person), "stacked_table", 0.9)


def bare_roll_call(text: str) -> Iterator[Fact]:
    """Under `ROLL CALL`, names and nothing else: `Mayor Tim Wells and Councilmembers April Groves, …`."""
    for match in ROLL_CALL.finditer(text):
        end = list_end(text, match.end())
        people = list(name_lists.listed(text, match.end(), end))
        if len(people) >= 3 and (people[0].title or ALL_PRESENT.match(text[end : end + 60])):
            for person in people:
                yield fact_of(person, "present", role_of("member", person), "under_roll_call", 0.8)


def exceptions(text: str) -> Iterator[Fact]:
    """`All members were present except Trustee Blum.`"""
    for match in EXCEPT.finditer(text):
        for person in name_lists.listed(text, match.end(), list_end(text, match.end())):
            yield fact_of(person, "absent", role_of("member", person), "exception", 0.85)
