"""The search page: what is found, how it is narrowed, and what harm nobody can do with it."""

import csv
import io
from datetime import date
from typing import Any

import pytest

from records.asking import asked_in, last_day

pytestmark = pytest.mark.django_db
RENTAL = "The council discussed short-term rental licenses on Main Street"


@pytest.fixture
def two_towns(make_site, add_document, publish, public) -> None:
    bend = make_site("bend.or")
    add_document(bend, "minutes", [RENTAL, "Adjourned"], meeting_date=date(2023, 5, 1))
    add_document(bend, "agenda", [RENTAL], kind="agenda", meeting_date=date(2024, 2, 1), body="Planning")
    reno = make_site("reno.nv")
    add_document(reno, "scan", [f"{RENTAL} again"], method="ocr", meeting_date=date(2024, 3, 9))
    for site in (bend, reno):
        publish(site)


def titles(answer) -> list[str]:
    return [hit.document.title for hit in answer.context["found"].hits]


EVERYTHING = {"minutes", "agenda", "scan"}
NARROWED: list[tuple[dict[str, Any], set[str]]] = [
    ({}, EVERYTHING),
    ({"site": "bend.or"}, {"minutes", "agenda"}),
    ({"site": ["bend.or", "reno.nv"]}, EVERYTHING),
    ({"body": "Planning"}, {"agenda"}),
    ({"kind": "minutes"}, {"minutes", "scan"}),
    ({"since": "2024"}, {"agenda", "scan"}),
    ({"until": "2023-05"}, {"minutes"}),
    ({"since": "2024-02-02", "until": "2024"}, {"scan"}),
    ({"read": "ocr"}, {"scan"}),
    ({"read": "text"}, {"minutes", "agenda"}),
    ({"state": "TX"}, set()),
    ({"since": "soon", "page": "-1", "after": "x", "read": "?", "sort": "?"}, EVERYTHING),
]


def test_a_search_is_narrowed(client, two_towns):
    for narrowed, expected in NARROWED:
        assert set(titles(client.get("/search", {"q": "rental", **narrowed}))) == expected, narrowed


def test_newest_first_and_what_counts_say(client, two_towns):
    answer = client.get("/search", {"q": "rental", "sort": "new"})
    counts, facets = answer.context["found"].counts, answer.context["facets"]

    assert titles(answer) == ["scan", "agenda", "minutes"]
    assert (counts.total, counts.years) == (3, ((2023, 1), (2024, 2)))
    assert {(choice.label, choice.count) for choice in facets.sites} == {("Bend.Or", 2), ("Reno.Nv", 1)}
    assert titles(client.get(facets.bodies[-1].url)) == ["agenda"]
    assert set(titles(client.get(facets.years[0].url))) == {"minutes"}


def test_a_chosen_site_is_let_go_by_the_same_link(client, two_towns):
    chosen = client.get("/search", {"q": "rental", "site": "bend.or"})
    (choice,) = [choice for choice in chosen.context["facets"].sites if choice.chosen]

    assert len(titles(client.get(choice.url))) == 3


def test_a_search_is_a_link(two_towns, rf):
    asked = asked_in(rf.get("/search?q=a+%22b+c%22&site=x&site=y&since=2024&sort=new&old=1&read=ocr").GET)

    assert asked_in(rf.get(asked.url).GET) == asked


def test_a_misspelt_word_is_put_right(client, two_towns):
    for typed, meant in (("rentol", "rental"), ("councli licenses", "council licenses")):
        assert client.get("/search", {"q": typed}).context["instead"].words == meant
    for typed in ("rental", "zzzzzzzz", "-rentol", ""):
        assert client.get("/search", {"q": typed}).context["instead"] is None


def test_results_come_in_pages(client, make_site, add_document, publish, public):
    site = make_site("bend.or")
    add_document(site, "packet", [f"owl number {page}" for page in range(45)])
    publish(site)
    for order in ("rank", "new"):
        seen, answer = [], client.get("/search", {"q": "owl", "sort": order})
        while True:
            seen += [hit.page.number for hit in answer.context["found"].hits]
            if not answer.context["found"].next:
                break
            answer = client.get(answer.context["found"].next.url)
        assert sorted(seen) == list(range(1, 46))


def test_results_as_files(client, two_towns):
    told = client.get("/search.json", {"q": "rental", "sort": "new"}).json()
    lines = list(csv.DictReader(io.StringIO(client.get("/search.csv", {"q": "rental"}).getvalue().decode())))

    assert (told["total"], told["next"], told["results"][0]["title"]) == (3, None, "scan")
    assert told["results"][0]["url"].startswith("http://testserver/reno.nv/")
    assert {line["title"] for line in lines} == {"scan", "agenda", "minutes"}


NASTY = "<script>alert(1)</script>=cmd|' /C calc'!A0"


def test_hostile_text_is_text_everywhere(client, make_site, add_document, publish, public):
    site = make_site("bend.or")
    site.name = NASTY
    site.save()
    add_document(site, "x", [f"owl {NASTY}"], title=f"={NASTY}", body=NASTY, url="javascript:alert(1)")
    publish(site)
    answer = client.get("/search", {"q": f'owl "{NASTY}'})
    found = client.get("/search", {"q": "owl"})
    addresses = (found.context["found"].hits[0].url, "/bend.or", "/")

    for page in (answer, found, *(client.get(address) for address in addresses)):
        assert page.status_code == 200
        assert "<script>alert" not in page.content.decode()
        assert 'href="javascript:' not in page.content.decode()
    row = next(csv.DictReader(io.StringIO(client.get("/search.csv", {"q": "owl"}).getvalue().decode())))
    assert row["title"].startswith("'=")


HOSTILE = [
    {"q": "word " * 10_000},
    {"q": '"' * 999},
    {"q": "\0🦉\u202e"},
    {"q": "owl", "site": ["x"] * 900},
    {"q": "owl", "site": "\0", "since": "9999-99-99", "page": "9" * 50, "after": "9" * 19},
    {"q": "owl", "since": "0000", "until": "٢٠٢٤"},
]


def test_hostile_addresses_are_answered(client, two_towns):
    for query in HOSTILE:
        assert client.get("/search", query).status_code == 200, query


def test_without_an_index_the_page_says_so(client, public):
    assert "nothing to search yet" in client.get("/search", {"q": "owl"}).content.decode()


def test_who_asks_too_often_waits(client, two_towns, settings, as_):
    settings.RECORDS_SEARCHES_PER_MINUTE = 2
    answers = [client.get("/search", {"q": "rental"}, REMOTE_ADDR="192.0.2.7") for _ in range(5)]

    assert 429 in [answer.status_code for answer in answers]
    assert answers[-1].status_code == 429
    assert int(answers[-1]["Retry-After"]) <= 60
    assert client.get("/search", {"q": "rental"}, REMOTE_ADDR="192.0.2.8").status_code == 200
    viewer = as_("viewer")
    assert {viewer.get("/search").status_code for _ in range(4)} == {200}


def test_the_home_finds_a_town(client, two_towns):
    home = client.get("/").content.decode()

    assert "Bend.Or" in home
    assert "Reno.Nv" in home
    assert "New" in home
    assert "Bend.Or" not in client.get("/records", {"town": "reno"}).content.decode()
    assert "No place of that name" in client.get("/records", {"town": "atlantis"}).content.decode()


def test_the_last_day_of_a_month_or_a_year():
    assert [last_day(text) for text in ("2024-02", "2023-12", "2023", "2024-02-03", "2024-13")] == [
        date(2024, 2, 29),
        date(2023, 12, 31),
        date(2023, 12, 31),
        date(2024, 2, 3),
        None,
    ]
