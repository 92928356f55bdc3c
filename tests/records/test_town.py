"""A site's home, its meetings, people, legislation and tables: what was decided, and where it stands."""

import csv

import pytest
from django.utils.http import urlencode

from records.meetings import in_words
from records.tables import harmless
from tests.records.minutes import MOTIONS

pytestmark = pytest.mark.django_db
PAGES = (
    "/bend.or",
    "/bend.or/meetings",
    "/bend.or/meetings?when=2023-05",
    "/bend.or/meetings?when=all&body=Parks%20Board",
    "/bend.or/people",
    "/bend.or/people/Ann%20Lee",
    "/bend.or/legislation",
    "/bend.or/legislation/ordinance/2024-07",
    "/bend.or/tables/motions",
    "/bend.or/tables/votes?sort=name&order=asc",
    "/bend.or/tables/attendance",
    "/bend.or/tables/money",
    "/bend.or/tables/addresses",
)


def council(client):
    """The page of the council's meeting."""
    listed = client.get("/bend.or/meetings", {"when": "2024"}).context["meetings"]
    return client.get(f"/bend.or/meetings/{listed[0].id}")


def test_the_home_says_what_there_is_and_since_when(client, town):
    answer = client.get("/bend.or")
    told = answer.context["overview"]

    assert (told.documents, told.pages, told.meetings, told.motions) == (3, 4, 2, 2)
    assert (told.first, told.last) == ("2023-05-02", "2024-01-15")
    assert [meeting.date for meeting in answer.context["latest"]] == ["2024-01-15", "2023-05-02"]
    assert [(body.name, body.meetings) for body in answer.context["bodies"]] == [
        ("City Council", 1),
        ("Parks Board", 1),
    ]
    assert {person.name for person in answer.context["people"]} == {
        "Ann Lee",
        "Bob Ruiz",
        "Cara Stone",
        "Dan Moss",
    }


def test_a_day_with_a_meeting_leads_to_it_from_the_calendar(client, town):
    answer = client.get("/bend.or/meetings", {"when": "2024-01"})
    january = answer.context["months"][0]
    [day] = [day for week in january.weeks for day in week if day.meetings]

    assert (day.date, january.meetings) == ("2024-01-15", 1)
    assert f"/bend.or/meetings/{day.meetings[0].id}" in answer.content.decode()


def test_meetings_can_be_narrowed_to_a_body_and_a_year(client, town):
    def dates(**told):
        return [each.date for each in client.get("/bend.or/meetings", told).context["meetings"]]

    assert dates() == ["2024-01-15"]
    assert dates(when="all") == ["2024-01-15", "2023-05-02"]
    assert dates(when="all", body="Parks Board") == ["2023-05-02"]
    assert dates(when="2023-06") == []


def test_a_meeting_shows_agenda_and_minutes_with_every_motion_and_vote(client, town):
    answer = council(client)
    first, second = answer.context["motions"]

    assert [each.kind for each in answer.context["documents"]] == ["agenda", "minutes"]
    assert (first.mover, first.seconder, first.result, first.tally) == (
        "Ann Lee",
        "Bob Ruiz",
        "passed",
        "2 aye, 1 no",
    )
    assert first.votes == (
        ("Aye", ("Ann Lee", "Bob Ruiz")),
        ("No", ("Cara Stone",)),
        ("Absent", ("Dan Moss",)),
    )
    assert second.doubts == "3 are named as voting aye, but 4 are counted"
    assert "3 are named as voting aye, but 4 are counted." in answer.content.decode()
    assert [item.title for item in answer.context["agenda"]][:1] == ["CALL TO ORDER"]


def test_a_motion_leads_to_its_place_on_the_page(client, town):
    motion = council(client).context["motions"][0]
    page = client.get(motion.place.url)
    marked = [piece.text for piece in page.context["pieces"] if piece.marked]

    assert marked == [MOTIONS[: motion.place.end]]
    assert len(page.context["boxes"]) == len(marked[0].split())


def test_a_passage_and_words_are_marked_together_and_nonsense_marks_nothing(client, town):
    url = council(client).context["motions"][0].place.url.split("?")[0]

    def marked(**told):
        return [piece.text for piece in client.get(url, told).context["pieces"] if piece.marked]

    assert marked(at="0-6", q="bridge") == ["Motion", "bridge"]
    assert marked(at="0-6", q="motion")[0] == "Motion"
    assert marked(at="9-3") == marked(at="0-9999999") == marked(at="x") == []


def test_a_person_shows_how_they_voted_and_whether_they_were_there(client, town):
    stone = client.get("/bend.or/people/Cara Stone").context
    moss = client.get("/bend.or/people/Dan Moss").context

    assert [(cast.word, cast.motion.result) for cast in stone["votes"]] == [
        ("No", "passed"),
        ("Aye", "passed"),
    ]
    [year] = stone["years"]
    assert (year.year, year.votes, year.present, year.meetings) == ("2024", (("Aye", 1), ("No", 1)), 1, 1)
    assert [(each.presence, each.date) for each in moss["attendance"]] == [("absent", "2024-01-15")]
    assert client.get("/bend.or/people/Nobody").status_code == 404


def test_an_ordinance_lists_every_page_that_names_it(client, town):
    listed = client.get("/bend.or/legislation", {"q": "2024"}).context["laws"]
    mentions = client.get("/bend.or/legislation/ordinance/2024-07").context["mentions"]

    assert [(law.name, law.mentions) for law in listed] == [("Ordinance 2024-07", 2)]
    assert {(each.document_kind, each.place.page) for each in mentions} == {("agenda", 1), ("minutes", 2)}
    assert client.get("/bend.or/legislation/ordinance/1").status_code == 404


def test_a_table_is_sorted_searched_and_downloaded(client, town):
    def names(**told):
        return [row.values[2] for row in client.get("/bend.or/tables/votes", told).context["found"].rows]

    assert names(sort="name", order="asc")[0] == "Ann Lee"
    assert names(sort="name", order="desc")[0] == "Dan Moss"
    assert set(names(q="stone")) == {"Cara Stone"}

    answer = client.get("/bend.or/tables/money.csv")
    [row] = csv.DictReader(b"".join(answer.streaming_content).decode().splitlines())
    assert (float(row["amount"]), row["date"]) == (125000.0, "2024-01-15")
    assert client.get(row["url"].removeprefix("http://testserver")).status_code == 200


def test_a_spreadsheet_does_not_run_what_a_document_says():
    assert harmless('=HYPERLINK("x")') == '\'=HYPERLINK("x")'
    assert (harmless("plain"), harmless(-3)) == ("plain", -3)


def test_what_a_newer_version_replaced_is_not_counted_twice(client, town, add_document, publish):
    old = town.documents.get(title="minutes")
    add_document(town, "minutes", ["Roll call", MOTIONS], version=2, path="pdfs/Council/new.pdf")
    town.documents.filter(pk=old.pk).update(superseded_at=old.created_at)
    publish(town)

    assert client.get("/bend.or").context["overview"].motions == 2


def test_each_page_asks_a_constant_number_of_questions(
    client, town, add_document, publish, django_assert_max_num_queries
):
    for number in range(3):
        add_document(town, f"more {number}", [MOTIONS], path=f"pdfs/Council/{number}.pdf")
    publish(town)

    for address in PAGES:
        with django_assert_max_num_queries(1):
            assert client.get(address).status_code == 200


def test_nobody_but_readers_sees_them(client, town, settings):
    settings.RECORDS_PUBLIC = False

    for address in PAGES:
        assert client.get(address)["Location"].startswith("/admin/login/")


HOSTILE = (
    "\0",
    "' OR 1=1 --",
    "<script>alert(1)</script>",
    "%",
    "x" * 5000,
    "\u202e",
    "{{ 7|add:7 }}",
    "\uff19",
)


def test_hostile_words_do_no_harm(client, town):
    names = ("q", "when", "body", "sort", "order", "page", "year", "kind")
    for told in HOSTILE:
        for address in PAGES:
            query = urlencode(dict.fromkeys(names, told))
            answer = client.get(f"{address.partition('?')[0]}?{query}")
            assert answer.status_code == 200, address
            assert "<script>alert" not in answer.content.decode()


def test_hostile_names_and_titles_are_shown_as_text(client, make_site, add_document, publish, public):
    site = make_site("evil.ca")
    add_document(
        site, "<script>alert(1)</script>", ["Present: <b>Ann</b> Lee"], body='"><img src=x>', kind="agenda"
    )
    publish(site)
    for address in ("/evil.ca", "/evil.ca/meetings"):
        content = client.get(address).content.decode()
        assert "<img src=x>" not in content
        assert "<script>alert" not in content


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("no: 2 named, 1 counted", "2 are named as voting no, but 1 are counted"),
        (
            "voted twice: A, B, moved and seconded by the same person",
            "A, B is written down with two votes, moved and seconded by the same person",
        ),
        ("9 votes, 7 members", "9 votes are counted, but there are 7 members"),
        ("passed with 2 to 3", "it is said to have passed, with 2 to 3"),
        ("a flag nobody knows", "a flag nobody knows"),
    ],
)
def test_a_flag_is_said_in_words(flags, words):
    assert in_words(flags) == words
