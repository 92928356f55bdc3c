"""The shapes that real minutes have, each in a small text of our own."""

from typing import Any

import pytest

ROLL = """Present: Mayor Ann Ruiz, Council Members Bo Lee, Cy Ng, Di Paz and Ed Fox
Absent: Council Member Gil Orr

"""
ALL = ["Ann Ruiz", "Bo Lee", "Cy Ng", "Di Paz", "Ed Fox"]
MOVED = "Moved by Lee, seconded by Ng, to pave Elm Street. "


def motions(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [fact for fact in found if fact["kind"] == "motion"]


def people(found: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(fact["name"], fact["role"], fact["presence"]) for fact in found if fact["kind"] == "person"]


def told(motion: dict[str, Any]) -> tuple[Any, ...]:
    return motion["mover"], motion["seconder"], motion["result"]


def numbers(motion: dict[str, Any]) -> tuple[Any, ...]:
    return motion["ayes"], motion["noes"], motion["abstentions"] or 0


SPLIT_VOTES = {
    "in brackets": "MOTION CARRIED [AYES: Ruiz, Lee, Ng; NOES: Paz; ABSTAIN: Fox; ABSENT: Orr].",
    "in bold": "**MOTION CARRIED**\n**AYES:** Ruiz, Lee, Ng\n**NOES:** Paz\n**ABSTAIN:** Fox\n",
    "with semicolons": "AYES: Ruiz; Lee; Ng\nNOES: Paz\nABSTAIN: Fox\nMotion carried.",
    "counted": "approved by the following vote: Yes (3): Ruiz, Lee,\nand Ng; No (1): Paz; Abstain (1):\nFox.",
    "a title at the end of a line": "AYES: COUNCIL MEMBER LEE, COUNCIL MEMBER\nNG, MAYOR RUIZ\n"
    "NOES: COUNCIL MEMBER\nPAZ\nABSTAIN: COUNCIL MEMBER FOX\nThe motion carried.",
    "labels below their names": "approved by this vote:\nRuiz, Lee,\nand Ng\nYes:\nNo: Paz\nAbstain: Fox\n",
    "values below their labels": "The motion carried.\nAYES:\nRuiz, Lee, Ng\nNOES:\nPaz\nABSTAIN:\nFox\n",
    "one by one": "Mayor Ruiz \N{EN DASH} aye, Lee ~ aye, Ng......aye, Paz - nay, Fox - abstain. Motion "
    "carried.",
    "in parentheses": "The motion carried, 3 ayes (Ruiz, Lee and Ng), 1 nay (Paz), 1 abstention (Fox).",
    "after a count": "Ayes: 3 (Ruiz, Lee, Ng) Noes: 1 (Paz) Abstain: 1 (Fox). Motion carried.",
    "a name a line": "The motion carried.\nYes: 3 - \nRuiz\nLee\nNg\nNo: 1 - \nPaz\nAbstain: 1 - "
    "\nFox\nWater Report\n",
    "as old minutes have it": "Ayes, Messrs. Ruiz, Lee and Ng; Nays, Mr. Paz; Abstaining: Fox. Motion "
    "carried.",
    "voting": "Voting Aye: Ruiz, Lee, Ng. Voting Nay: Paz. Voting Abstain: Fox. Motion carried.",
    "a line each": "Motion carried.\nAnn Ruiz: Aye\nBo Lee: Aye\nCy Ng: Aye\nDi Paz: Nay\nEd Fox: Abstain\n",
    "the comma lost": "Motion carried. AYES: Ruiz, Lee Ng\nNOES: Paz\nABSTAIN: Fox\n",
}


@pytest.mark.parametrize("text", SPLIT_VOTES.values(), ids=SPLIT_VOTES.keys())
def test_the_names_of_a_vote_are_read_in_every_style(facts, text: str) -> None:
    [motion] = motions(facts(ROLL + MOVED + text))

    votes = {vote: sorted(named) for vote, named in motion["votes"].items() if vote != "absent"}
    assert votes == {"aye": ["Ann Ruiz", "Bo Lee", "Cy Ng"], "no": ["Di Paz"], "abstain": ["Ed Fox"]}
    assert (told(motion), numbers(motion)) == (("Bo Lee", "Cy Ng", "passed"), (3, 1, 1))
    assert motion["flags"] == []


def test_who_speaks_in_favor_does_not_vote(facts) -> None:
    [motion] = motions(
        facts(ROLL + MOVED + "In favor: Jo Day, Max Orth. Opposed: Al Voss.\nMotion carried 5-0.")
    )

    assert (motion["votes"], numbers(motion)) == ({}, (5, 0, 0))


ONLY_WORDS = {
    "an answer in a talk": "Mr. Paz asked if the road was closed. Mr. Fox, no, it was open. Motion carried.",
    "no longer": "Mr. Fox no longer lives on Elm Street. Motion carried.",
    "another vote": "Motion carried 5-0. Mr. Lee noted that the committee had long talked of it and "
    "that Paz voted no.",
}


@pytest.mark.parametrize("text", ONLY_WORDS.values(), ids=ONLY_WORDS.keys())
def test_a_word_in_a_talk_is_no_vote(facts, text: str) -> None:
    [motion] = motions(facts(ROLL + MOVED + text))

    assert (motion["votes"], motion["result"]) == ({}, "passed")


def test_one_against_stands_in_parentheses_behind_the_numbers(facts) -> None:
    [motion] = motions(facts(f"{ROLL}{MOVED}Motion carried 4-1 (Fox)."))

    assert motion["votes"] == {"no": ["Ed Fox"]}


def test_a_roll_call_vote_is_read_where_no_roll_was(facts) -> None:
    [motion] = motions(facts("Motion by Marx, second by Hale. Marx-aye, Hale-aye, Stone-nay. Carried."))

    assert motion["votes"] == {"aye": ["Marx", "Hale"], "no": ["Stone"]}


def test_the_vote_of_a_pupil_is_not_counted(facts) -> None:
    text = (
        "Motion carried.\nYes: Ruiz, Lee, Ng\nNot Present at Vote: Paz\nPreferential Vote - Yes: Max Orth\n"
    )

    [motion] = motions(facts(ROLL + MOVED + text))

    assert motion["votes"] == {"aye": ["Ann Ruiz", "Bo Lee", "Cy Ng"], "absent": ["Di Paz"]}
    assert numbers(motion) == (3, 0, 0)


def test_the_votes_of_a_motion_that_was_not_found_are_nobody_elses(facts) -> None:
    text = "Carried. Ayes: Ruiz, Lee. Noes: Ng.\n" + "The board then heard a long report about the pool. " * 4
    [motion] = motions(facts(f"{ROLL}{MOVED}{text}\nAyes: Paz, Fox. Noes: None."))

    assert motion["votes"] == {"aye": ["Ann Ruiz", "Bo Lee"], "no": ["Cy Ng"]}


TABLES = {
    "beside": "RESULT: ADOPTED [3 TO 1]\nMOVER: Bo Lee, Council Member\nSECONDER: Cy Ng, Council Member\n"
    "AYES: Ruiz, Lee, Ng\nNAYS: Paz\nABSENT: Gil Orr\n",
    "below": "RESULT:\nADOPTED [3 TO 1]\nMOVER:\nBo Lee, Member, District 2\nSECONDER: Cy Ng, Member\n"
    "AYES:\nRuiz, Lee,\nNg\nNAYS\nPaz\nABSENT:\nGil Orr\n",
    "motion and second": "RESULT: APPROVED AS AMENDED [3-1-0-1]\nMOTION BY: Lee\nSECOND: Ng\nAYES: "
    "Ruiz, Lee, Ng\n"
    "NAYS: Paz\nABSENT: Orr\n3. PUBLIC COMMENT\n",
    "in a stack": "RESULT:\nMOVER:\nSECONDER:\nAYES:\nNAYS:\n\nADOPTED [3 TO 1]\nBo Lee, Member, District 2\n"
    "Cy Ng, Member, District 3\nRuiz, Lee,\nNg\nPaz\n",
    "over the next label": "RESULT:\n\nADOPTED [3 TO 1]\n\nMOVER:\n\nBo Lee, Member\n\nSECONDER: Cy Ng, "
    "Member\n"
    "AYES:\n\nRuiz, Lee,\n\nNAYS:\n\nNg\nPaz\n\n",
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
@pytest.mark.parametrize(
    "before", ["", "Member Lee moved to pave Elm Street. Member Ng seconded the motion.\n"]
)
def test_a_table_tells_of_one_motion_whether_or_not_the_text_told_it_before(
    facts, table: str, before: str
) -> None:
    [motion] = motions(facts(ROLL + before + table + "\nThe Chair declared that the motion PASSED.\n"))

    assert (told(motion), numbers(motion)) == (("Bo Lee", "Cy Ng", "passed"), (3, 1, 0))
    assert (motion["votes"]["aye"], motion["votes"]["no"]) == (["Ann Ruiz", "Bo Lee", "Cy Ng"], ["Di Paz"])


def test_a_motion_told_and_then_listed_is_one(facts) -> None:
    spoken = "Member Lee moved to pave Elm Street. Member Ng seconded.\n"
    text = f"{spoken}Moved by: Lee\nSeconded by: Ng\nVote: 5-0\n"

    [motion] = motions(facts(ROLL + text))

    assert (told(motion), numbers(motion)) == (("Bo Lee", "Cy Ng", "passed"), (5, 0, 0))
    assert motion["text"].startswith("Lee moved to pave")


def test_tables_find_their_motions_in_any_order(facts) -> None:
    text = (
        "Member Lee moved to pave Elm Street. Member Ng seconded.\n"
        "Member Paz moved to amend the motion. Member Fox seconded.\n"
        "RESULT: FAILED [1 TO 3 WITH 1 ABSTENTION]\nMOVER: Di Paz\nSECONDER: Ed Fox\n\n"
        "RESULT: PASSED [4 TO 1]\nMOVER: Bo Lee\nSECONDER: Ann Ruiz\n"
    )

    main, amendment = motions(facts(ROLL + text))

    assert (told(main), numbers(main)) == (("Bo Lee", "Cy Ng", "passed"), (4, 1, 0))
    assert (told(amendment), numbers(amendment)) == (("Di Paz", "Ed Fox", "failed"), (1, 3, 1))
    assert main["flags"] == ["seconded by Cy Ng, in the table by Ann Ruiz"]


MOVERS = {
    "far behind": "A motion was made to buy a plow for $113,686.91 by Member Lee, second by Member Ng. "
    "Carried.",
    "a word left out": "A motion was made allow the club to meet at 7:30 PM by Member Lee, second by "
    "Member Ng. Carried.",
    "as presented": "Motion to pay the bills as presented by Member Lee, second by Member Ng. Motion "
    "carried.",
    "the seconder between": "Council Member Lee, seconded by Council Member Ng, moved to adjourn. The "
    "motion passed.",
    "offered and moved": "Member Lee offered a substitute resolution and moved its adoption, seconded "
    "by Member Ng. "
    "Motion carried.",
    "first names": "Motion by Bo to pay the bills, seconded by Cy. Motion carried.",
    "plural titles": "Messrs. Fox and Paz spoke. Moved by Mr. Lee, seconded by Mr. Ng, to adjourn. Carried.",
    "a word broken": "On motion of Member Lee the journal was approved. Sec-onded by Member Ng.",
    "restated": "Member Lee restated his motion to pay the bills, second by Member Ng. Motion carried.",
    "a pair in parentheses": "Motion (Lee, Ng) to pay the bills. Motion carried.",
    "a pair before the verb": "Lee/Ng moved to pay the bills. Motion carried.",
    "a heading below": "Moved by Lee, seconded by Ng\nWater Report\nThe motion carried.",
}


@pytest.mark.parametrize("text", MOVERS.values(), ids=MOVERS.keys())
def test_mover_and_seconder_are_found_wherever_they_stand(facts, text: str) -> None:
    assert [told(motion) for motion in motions(facts(ROLL + text))] == [("Bo Lee", "Cy Ng", "passed")]


WITHOUT_A_ROLL = {
    "labels": "Motion: Marx    Second: Hale\nVote: 3-0\n",
    "bare": "Motion Marx, second Hale to adjourn. Motion carried.",
    "by": "Motion by Marx, seconded by Hale, to adjourn. Motion carried.",
}


@pytest.mark.parametrize("text", WITHOUT_A_ROLL.values(), ids=WITHOUT_A_ROLL.keys())
def test_a_second_tells_who_moved_where_no_roll_does(facts, text: str) -> None:
    assert [told(motion) for motion in motions(facts(text))] == [("Marx", "Hale", "passed")]


NO_MOTIONS = {
    "an invocation": "The invocation was offered by Pastor Max Orth of the Church of the Hills.",
    "somebody's wish": "Member Lee seconded the motion that chairs be bought as recommended by Mr. Orth.",
    "a question": "Member Fox called the question.",
}


@pytest.mark.parametrize("text", NO_MOTIONS.values(), ids=NO_MOTIONS.keys())
def test_what_is_offered_recommended_or_asked_is_no_motion(facts, text: str) -> None:
    assert motions(facts(ROLL + text)) == []


def test_the_previous_question_is_a_motion_and_the_main_one_goes_on(facts) -> None:
    text = (
        "Member Lee moved to adopt the resolution, which motion was seconded. After discussion, Member "
        "Fox called "
        "for the previous question, which motion was seconded and approved by a voice vote of the "
        "Council. The matter "
        "recurred on the motion to adopt, which was approved by the following vote: Yes: Ruiz, Lee, "
        "Ng\nNo: Fox\n"
    )

    main, question = motions(facts(ROLL + text))

    assert (main["mover"], main["result"], numbers(main)) == ("Bo Lee", "passed", (3, 1, 0))
    assert (question["mover"], question["result"], question["votes"]) == ("Ed Fox", "passed", {})


AMENDED = {
    "as amended": "The amendment carried 5-0. The motion, as amended, failed 2-3.",
    "the amended motion": "The amendment carried 5-0. The amended motion failed by a vote of 2-3.",
    "accepted": "The maker of the motion accepted the amendment. The motion failed 2-3.",
}


@pytest.mark.parametrize("text", AMENDED.values(), ids=AMENDED.keys())
def test_a_main_motion_is_voted_on_after_its_amendment(facts, text: str) -> None:
    before = (
        "Member Lee moved to pave Elm Street, seconded by Member Ng. Member Paz moved to amend the motion. "
    )

    main, _ = motions(facts(ROLL + before + text))

    assert (told(main), numbers(main)) == (("Bo Lee", "Cy Ng", "failed"), (2, 3, 0))


def test_a_name_that_may_be_a_heading_is_flagged_where_no_roll_tells(facts) -> None:
    [motion] = motions(
        facts("Moved by Trustee Lee, seconded by Trustee Marx\nWater Report\nThe motion carried.")
    )

    assert motion["flags"] == ["Marx Water: a name over the end of a line"]


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("Ayes: Ruiz, Lee, Ng. Noes: Paz. Motion carried 3-2.", "no: 1 named, 2 counted"),
        ("Yes (4): Ruiz, Lee, Ng; No (0). Motion carried.", "aye: 3 named, 4 counted"),
        (
            "Motion carried 3-1, 1 abstaining. Ayes: Ruiz, Lee, Ng. Abstain: Paz, Fox.",
            "abstain: 2 named, 1 counted",
        ),
    ],
)
def test_numbers_that_contradict_the_names_are_always_flagged(facts, text: str, flag: str) -> None:
    [motion] = motions(facts(ROLL + MOVED + text))

    assert flag in motion["flags"]


LEADS = {
    "during the meeting": "The roll was called and the following were present during the progress of "
    "the meeting:\n"
    "Ruiz, Lee,\nNg, Paz, and Fox (5); Absent: Orr (1).",
    "Messrs.": "Present: Mrs. Ruiz, Messrs. Lee, Ng, Paz and Fox. Absent: Mr. Orr.",
    "answered": "The following answered to roll call: Ruiz, Lee, Ng, Paz and Fox. Mr. Orr was absent.",
    "in person": "President Ruiz called the regular meeting to order. Other members present in person: "
    "Lee, Ng, and Paz. "
    "Board member Fox participated via Zoom. Member Orr was absent.",
    "pipes": "| Name | Title | Status |\n|---|---|---|\n| Ruiz Ruiz | Mayor | Present |\n| Lee Lee | "
    "Member | Present |\n"
    "| Ng Ng | Member | Present |\n| Paz Paz | Member | Present |\n| Fox Fox | Member | Present |\n"
    "| Orr Orr | Member | Absent |\n",
    "bold headings": "**Members Present**\n- Al Ruiz\n- Al Lee\n- Al Ng\n- Al Paz\n- Al "
    "Fox\n\n**Members Absent**\n- Al Orr\n",
    "to wit": "A quorum was present, to wit: Ruiz, Lee, Ng, Paz, Fox.\nAbsent: Orr; Guests: Jo Day, Max "
    "Orth\n",
    "columns one below the other": "Attendee Name\nRuiz Ruiz\nLee Lee\nNg "
    "Ng\n\nTitle\nMayor\nMember\nMember\n\nStatus\n"
    "Present\nPresent\nPresent\n\nPaz Paz\nFox Fox\nOrr "
    "Orr\n\nMember\nMember\nMember\n\nPresent\nPresent\nAbsent\n",
}


@pytest.mark.parametrize("text", LEADS.values(), ids=LEADS.keys())
def test_a_roll_call_is_known_by_many_leads(facts, text: str) -> None:
    there = [(name.split()[-1], presence) for name, role, presence in people(facts(text)) if role == "member"]

    present = [(name, "present") for name in ("Fox", "Lee", "Ng", "Paz", "Ruiz")]
    assert sorted(there) == sorted([*present, ("Orr", "absent")])


NARROW = {
    "names broken at line ends": "Council Members present: Ann\nRuiz, Bo J.\nLee, Cy\nNg, and Di Paz.\n",
    "words broken at line ends": "Council Members present: Ann Ru-iz, Bo J. Lee, Cy Ng, and Di Paz.\n",
    "no colon": "ATTENDANCE Council Members Ann Ruiz\nBo J. Lee\nCy Ng\nMayor Di Paz\nInterim City "
    "Manager Al Voss\n",
    "the title run into the name": "Councilmembers Ann Ruiz, Bo J. Lee and Cy Ng, and MayorPaz were present.",
}


@pytest.mark.parametrize("text", NARROW.values(), ids=NARROW.keys())
def test_names_in_narrow_columns_and_bad_scans_are_whole(facts, text: str) -> None:
    members = [name for name, role, _ in people(facts(text)) if role == "member"]

    assert [name.removeprefix("Di ") for name in members] == ["Ann Ruiz", "Bo J. Lee", "Cy Ng", "Paz"]


OFFICERS = {
    "behind the members": "Present:\nMr. Bo Lee, President.\nMr. Cy Ng, Di Paz, Trustees.\nMr. Al Voss, "
    "Clerk.\n",
    "also there": "Present were Trustees Bo Lee, Cy Ng and Di Paz. Clerk Al Voss was also present.",
    "in the list": "Present: Trustees Bo Lee, Cy Ng, Di Paz, Clerk Al Voss\n",
}


@pytest.mark.parametrize("text", OFFICERS.values(), ids=OFFICERS.keys())
def test_the_clerk_is_no_member(facts, text: str) -> None:
    roles = {name: role for name, role, _ in people(facts(text))}

    assert roles == {"Bo Lee": "member", "Cy Ng": "member", "Di Paz": "member", "Al Voss": "staff"}
