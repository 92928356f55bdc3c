"""What a roll call says of one person: member or staff, present or not."""

from pipeline.work.extraction.facts import Fact
from pipeline.work.extraction.patterns import pattern
from pipeline.work.extraction.people import name_lists

VOTE_LABEL = pattern(r"(?i)\b(?:ayes?|yeas?|nays?|noes|yes|no|abstain\w*|recused)\s*[:\-–]")
STAFF = pattern(
    r"(?i)\b(?:staff|other|others|also|guest|guests|visitor|visitors|public|press|consultants?|administration|officials)\b"
)
OTHER_MEMBERS = pattern(
    r"(?i)\bother\b[^.:]{0,20}\b(?:members|commissioners|trustees|directors|supervisors|council\w+|alder\w+)"
)
STAFF_TITLE = pattern(
    r"(?i)\b(?:manager|attorney|administrator|engineer|planner|chief|superintendent|counsel|officer|recorder|"
    r"(?:planning|finance|works|executive) director|(?:city|village|town|county) clerk)\b"
)
ABSENT = {"absent", "not present", "not in attendance", "absences"}


def fact_of(person: name_lists.Listed, presence: str, role: str, rule: str, confidence: float) -> Fact:
    noted = person.note.lower()
    for word in ("excused", "absent", "late"):
        presence = word if word in noted else presence
    if "arrived" in noted:
        presence = "late"
    values = {"name": person.name, "title": person.title, "role": role, "presence": presence}
    return Fact("person", person.start, person.end, rule, confidence, values)


def presence_of(label: str, around: str) -> str:
    if "excused" in label or "excused" in around:
        return "excused"
    return "absent" if label in ABSENT else "present"


def role_named(label: str) -> str:
    return "staff" if STAFF.search(label) and not OTHER_MEMBERS.search(label) else "member"


def role_of(role: str, person: name_lists.Listed) -> str:
    return "staff" if STAFF_TITLE.search(f"{person.title} {person.name}") else role


def in_vote(text: str, position: int) -> bool:
    """An `ABSENT:` among ayes and noes tells of a vote."""
    return bool(VOTE_LABEL.search(text[max(0, position - 250) : position]))
