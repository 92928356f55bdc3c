"""What the rules read in minutes of many styles, and what they say does not add up."""

from typing import Any

import pytest

from pipeline.work.extraction.people.surnames import Roll

ROLL = """Present: Mayor Ann Ruiz, Council Members Bo Lee, Cy Ng, Di Paz and Ed Fox
Absent: Council Member Gil Orr

"""


def of_kind(facts: list[dict[str, Any]], kind: str, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(fact[name] for name in names) for fact in facts if fact["kind"] == kind]


def test_the_roll_call_says_who_was_there(facts) -> None:
    people = of_kind(
        facts(ROLL + "Staff Present: City Manager Al Voss"), "person", "name", "role", "presence"
    )

    assert people == [
        ("Ann Ruiz", "member", "present"),
        ("Bo Lee", "member", "present"),
        ("Cy Ng", "member", "present"),
        ("Di Paz", "member", "present"),
        ("Ed Fox", "member", "present"),
        ("Gil Orr", "member", "absent"),
        ("Al Voss", "staff", "present"),
    ]


ROLLS = {
    "columns": f"PRESENT:   Ann Ruiz, President\n{' ' * 11}Bo Lee\n{' ' * 11}Cy Ng\n",
    "lines with titles": "Those present: Ann Ruiz, Supervisor\nBo Lee, Councilman\nCy Ng, Councilman\n",
    "lines below": "MEMBERS PRESENT\nAnn Ruiz, Chair\nBo Lee\nCy Ng\n\nThe meeting began.",
    "wrapped": "The following members of the commission were present: Ann Ruiz, Bo\nLee, and Cy Ng.",
    "answers": "Roll call: Mrs. Ann Ruiz, present; Mr. Bo Lee, present; Mr. Cy Ng, present.",
    "statement": "Mayor Ann Ruiz and Councilmembers Bo Lee and Cy Ng were present.",
    "two columns": "Present: Alderman Ann Ruiz Alderman Bo Lee\nAlderman Cy Ng\n",
    "half a colon": "Present. Mayor Ann Ruiz; Councilmembers Bo Lee and Cy Ng\nAbsent: None",
    "counted": "Present: 3 - Councilmember Ann Ruiz, Councilmember Bo Lee and Councilmember Cy Ng",
    "legistar": "Present 3 - Mayor Ann Ruiz, Council Member Bo Lee, and Council Member Cy Ng\n",
    "counted lines": "Present: 3 - \nAnn Ruiz\nBo Lee\nCy Ng\n",
    "blank lines": "ROLL CALL\n\nPresent:\n\nMayor Ann Ruiz\n\nBo Lee\n\nCy Ng\n\nFlag Salute\n\nIt rose.",
    "numbers": "Board Members Present:\n1. Ann Ruiz\n2. Bo Lee\n3. Cy Ng\nThe meeting began.",
    "no indentation": "PRESENT: Ann Ruiz\nBo Lee\nCy Ng\nALSO PRESENT: Al Voss\nJo Day\n",
    "a heading below": "Present: Bo Lee, Cy Ng and Ann Ruiz\nAbsent: None\nRiver Walk\nThe Chair spoke.",
    "titles behind dashes": "Present:\nAnn Ruiz - Mayor\nBo Lee - Council\nCy Ng - Council\n",
    "status lines": "ROLL CALL\nAnn Ruiz ...... Present\nBo Lee ........ Present\nWard 3 Cy Ng  Present\n",
    "untitled answers": "Roll Call: Ann Ruiz - Present; Bo Lee - Present; Cy Ng - Present",
    "no verb": "Roll Call: Mayor Ann Ruiz, Councilmen Bo Lee and Cy Ng present. A quorum.",
    "the chair and others": "It met, President Ann Ruiz presiding. Other members present: Bo Lee, Cy Ng.",
    "answering": "Answering roll call were Commissioners Ann Ruiz, Bo Lee and Cy Ng.",
    "all present": "ROLL CALL: Ann Ruiz, Bo Lee, Cy Ng. All present.",
    "notes and credentials": "Present: Ann Ruiz, Ph.D., Bo Lee (Main\nStreet), Cy Ng via Zoom\n",
    "those on business": "Present: Ann Ruiz, Bo Lee, Cy Ng\nMr. Day was present to speak. Present use: Farm.",
    "organization": "Name Organization Title Status\nAnn Ruiz City Council Mayor Present\n"
    "Bo Lee City Council Member Present\nCy Ng City Council Member Remote\n",
    "table": "Name  Title  Status\nAnn Ruiz  Chair  Present\nBo Lee  Member  Present\nCy Ng  Member  Present",
}


@pytest.mark.parametrize("text", ROLLS.values(), ids=ROLLS.keys())
def test_a_roll_call_is_read_in_every_form(facts, text: str) -> None:
    people = [fact for fact in facts(text) if fact["kind"] == "person" and fact["role"] == "member"]

    assert sorted((fact["name"], fact["presence"]) for fact in people) == [
        ("Ann Ruiz", "present"),
        ("Bo Lee", "present"),
        ("Cy Ng", "present"),
    ]


NOT_THERE = {
    "after an adjective": ("Absent: Dee Fox (excused)", "excused"),
    "in a sentence": ("Board members in attendance were: Ann Ruiz, Bo Lee. Dee Fox was absent.", "absent"),
    "as the exception": ("All members were present except Councilmember Dee Fox.", "absent"),
    "with a remark": ("Present: Ann Ruiz, Dee Fox - arrived at 7:10 p.m.\n", "late"),
    "until later": ("Absent: Trustee Dee Fox\n\n5. REPORTS\nTrustee Fox arrived at 7:10 p.m.", "late"),
}


@pytest.mark.parametrize(("text", "presence"), NOT_THERE.values(), ids=NOT_THERE.keys())
def test_who_was_not_there_is_known_however_it_is_said(facts, text: str, presence: str) -> None:
    people = of_kind(facts(text), "person", "name", "presence")

    assert [told for name, told in people if name == "Dee Fox"] == [presence]


def test_a_title_behind_the_name_tells_staff_from_members(facts) -> None:
    people = facts("PRESENT: ANN RUIZ, MAYOR; BO LEE, CY PARK, COUNCIL MEMBERS; AL VOSS, CITY MANAGER\n")

    assert of_kind(people, "person", "name", "role") == [
        ("ANN RUIZ", "member"),
        ("BO LEE", "member"),
        ("CY PARK", "member"),
        ("AL VOSS", "staff"),
    ]


MOTIONS = {
    "narrative": "Council Member Lee moved, seconded by Council Member Ng, to adjourn. The motion carried.",
    "passive": "A motion was made by Lee and seconded by Ng to approve the plat. Motion passed.",
    "on motion": "On motion of Council Member Lee, seconded by Council Member Ng, the agenda was approved.",
    "pair": "M/S/C (Lee/Ng) to approve the agenda.",
    "labels": "RESULT: ADOPTED\nMOVER: Bo Lee, Council Member\nSECONDER: Cy Ng, Council Member",
    "supported": "Moved by Lee, supported by Ng, to pay the bills. Yes: All. Motion carried.",
    "second later": "Mr. Lee made a motion to pay the bills. Mr. Ng seconded. All in favor.",
}


@pytest.mark.parametrize("text", MOTIONS.values(), ids=MOTIONS.keys())
def test_a_motion_is_read_in_every_style(facts, text: str) -> None:
    assert of_kind(facts(ROLL + text), "motion", "mover", "seconder", "result") == [
        ("Bo Lee", "Cy Ng", "passed")
    ]


def test_a_motion_may_run_over_the_end_of_a_page(facts) -> None:
    found = facts(
        ROLL + "Council Member Lee moved to approve the",
        "bills. Council Member Ng seconded. Motion failed 2-3.",
    )

    [motion] = [fact for fact in found if fact["kind"] == "motion"]
    assert (motion["page"], motion["mover"], motion["seconder"], motion["result"]) == (
        1,
        "Bo Lee",
        "Cy Ng",
        "failed",
    )


def test_names_for_and_against_are_full_names(facts) -> None:
    text = "Moved by Lee, seconded by Ng. AYES: Ruiz, Lee, Ng\nNOES: Paz\nABSTAIN: Fox\nABSENT: Orr\nCarried."

    [(votes, ayes, noes, abstentions)] = of_kind(
        facts(ROLL + text), "motion", "votes", "ayes", "noes", "abstentions"
    )
    assert votes == {
        "aye": ["Ann Ruiz", "Bo Lee", "Cy Ng"],
        "no": ["Di Paz"],
        "abstain": ["Ed Fox"],
        "absent": ["Gil Orr"],
    }
    assert (ayes, noes, abstentions) == (3, 1, 1)


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("Ayes: Ruiz, Lee. Noes: Ng. Motion carried 3-1.", "aye: 2 named, 3 counted"),
        ("Ayes: Ruiz, Lee, Ng. Noes: Ng. Motion carried.", "voted twice: Cy Ng"),
        ("Motion carried 9-0.", "9 votes, 6 members"),
        ("Motion carried 2-3.", "passed with 2 to 3"),
        ("Ayes: Ruiz, Lee, Orr. Noes: None. Motion carried.", "voted while absent: Gil Orr"),
    ],
)
def test_a_vote_that_does_not_add_up_is_flagged_and_kept(facts, text: str, flag: str) -> None:
    [(flags, result)] = of_kind(
        facts(f"{ROLL}Moved by Lee, seconded by Ng. {text}"), "motion", "flags", "result"
    )

    assert flag in flags
    assert result == "passed"


def test_a_vote_that_adds_up_has_no_flag(facts) -> None:
    text = "Moved by Lee, seconded by Ng. Ayes: Ruiz, Lee, Ng, Paz. Noes: Fox. Motion carried 4-1."

    assert of_kind(facts(ROLL + text), "motion", "flags") == [([],)]


def test_what_only_sounds_like_a_motion_is_none(facts) -> None:
    text = (
        "Resident Bob Moved thanked the crew. She moved here in 2004. The item was moved to consent. "
        "The second reading is on Second Street. The pump failed and was carried away."
    )

    assert of_kind(facts(ROLL + text), "motion", "mover") == []


def test_an_agenda_has_items_and_no_motions(facts) -> None:
    found = facts(
        "1. Call to Order\n2. Motion by Lee to adjourn\n3. New Business\n   3.1 Fees", kind="agenda"
    )

    assert of_kind(found, "motion", "mover") == []
    assert of_kind(found, "agenda_item", "number", "title") == [
        ("1", "Call to Order"),
        ("2", "Motion by Lee to adjourn"),
        ("3", "New Business"),
        ("3.1", "Fees"),
    ]


def test_legislation_money_dates_and_addresses(facts) -> None:
    found = facts(
        "Resolutions 12, 13 and 14, and Ordinance No. O-02-2025, grant $1.2 million to 1500 N. Main Street, "
        "Alameda, CA 94501 by March 3, due 4/15/24."
    )

    assert of_kind(found, "resolution", "number") == [("12",), ("13",), ("14",)]
    assert of_kind(found, "ordinance", "number") == [("O-02-2025",)]
    assert of_kind(found, "money", "amount") == [(1_200_000.0,)]
    assert of_kind(found, "address", "street", "city", "state", "zip") == [
        ("1500 N. Main Street", "Alameda", "CA", "94501")
    ]
    assert of_kind(found, "date", "date") == [("2024-03-03",), ("2024-04-15",)]


AMOUNTS = {
    "$ 1, 750,000": 1_750_000.0,
    "$ 77, 096.00": 77_096.0,
    "$5, 100 people": 5.0,
    "50¢ an hour": 0.5,
    "$28.6 million": 28_600_000.0,
}


@pytest.mark.parametrize(("text", "amount"), AMOUNTS.items())
def test_a_sum_is_read_as_it_was_meant(facts, text: str, amount: float) -> None:
    assert of_kind(facts(f"It cost {text}."), "money", "amount") == [(amount,)]


LAWS = {
    "Res. No. 528-16 and Ord. #70-2001": [("resolution", "528-16"), ("ordinance", "70-2001")],
    "RS2022-1441 A resolution accepting a piano": [("resolution", "RS2022-1441")],
    "BL2021-832      An ordinance to amend": [("ordinance", "BL2021-832")],
    "Resolutions RS2022-1326 A resolution": [("resolution", "RS2022-1326")],
    "RESOLUTION NO. 2024- 005 entitled": [("resolution", "2024-005")],
    "the residential zone RS20 (1.44 acres)": [],
}


@pytest.mark.parametrize(("text", "laws"), LAWS.items())
def test_a_law_is_known_by_its_number_however_it_is_given(facts, text: str, laws: list[Any]) -> None:
    found = facts(text)

    numbered = [
        (fact["kind"], fact["number"]) for fact in found if fact["kind"] in ("ordinance", "resolution")
    ]
    assert sorted(numbered) == sorted(laws)


STREETS = {
    "at 540 Paragon\n                   Mills Road, from": "540 Paragon Mills Road",
    "at 60 South Lane in the village": "60 South Lane",
    "at 440 E. Congress, Detroit, MI 48226": "440 E. Congress",
}


@pytest.mark.parametrize(("text", "street"), STREETS.items())
def test_a_street_is_read_over_a_margin_by_its_direction_or_by_its_place(
    facts, text: str, street: str
) -> None:
    assert of_kind(facts(text), "address", "street") == [(street,)]


DAYS = {
    "a term expiring April 1,2026.": ["2026-04-01"],
    "a term expiring January 1,\n                 2026.": ["2026-01-01"],
    "FEBRUARY                  15, 2023": ["2023-02-15"],
    "07.15.25 Minutes": ["2025-07-15"],
    "Date: 4-13-25": ["2025-04-13"],
    "Section 5.2-4, 17.08.030 and a vote of 5-0-1, then 4-13-98": [],
}


@pytest.mark.parametrize(("text", "days"), DAYS.items())
def test_a_day_is_read_however_it_is_written(facts, text: str, days: list[str]) -> None:
    assert [day for (day,) in of_kind(facts(text, day="2025-01-15"), "date", "date")] == days


def test_a_calendar_of_meetings_has_its_year_in_the_heading(facts) -> None:
    found = facts("2019 MEETING SCHEDULE\nJANUARY 10\nDECEMBER 12\n", kind="agenda", day="")

    assert of_kind(found, "date", "date") == [("2019-01-10",), ("2019-12-12",)]


def test_a_date_without_a_year_is_the_nearest_one(facts) -> None:
    assert of_kind(facts("Continued to January 6.", day="2023-12-12"), "date", "date") == [("2024-01-06",)]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Smith", "John Smith"),
        ("J. Smith", "John Smith"),
        ("Al Smith", "Al Smith"),
        ("Jones", "Jones"),
        ("van Dyke", "Ria van Dyke"),
    ],
)
def test_a_surname_is_the_one_person_of_the_roll_who_has_it(said: str, meant: str) -> None:
    assert Roll(["John Smith", "Pat Jones", "Sam Jones", "Ria van Dyke"]).full(said) == meant
