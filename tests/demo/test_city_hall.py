"""The made-up towns: the same papers at every start, and the unusual ones as unusual as they must be."""

from http import HTTPStatus

import httpx
import pypdfium2
import pytest

from demo.city_hall import CityHall
from demo.printing import content_of, mixed, scanned
from demo.towns import EXPECTED_FAILURES, TOWNS, Form, papers
from demo.wording import SCANNED_PHRASE, pages

EVERY_PAPER = [paper for town in TOWNS for paper in papers(town)]


def text_of(content: bytes) -> list[str]:
    document = pypdfium2.PdfDocument(content)
    try:
        return [page.get_textpage().get_text_range() for page in document]
    finally:
        document.close()


@pytest.fixture(scope="module")
def hall():
    with CityHall() as hall:
        yield hall


def test_every_form_of_paper_is_published():
    assert {paper.form for paper in EVERY_PAPER} == set(Form)


def test_the_phrase_stands_on_one_page_of_a_scan():
    where = [
        (paper.form, number)
        for paper in EVERY_PAPER
        for number, page in enumerate(pages(paper), start=1)
        if SCANNED_PHRASE in " ".join(page)
    ]

    assert [form for form, _ in where] == [Form.SCANNED]


def test_a_scan_has_no_text_and_a_mixed_paper_has_it_on_its_first_page():
    text = [["The motion carried."], ["The meeting was adjourned."]]

    assert text_of(scanned(text, "seed")) == ["", ""]
    assert [bool(page) for page in text_of(mixed(text, "seed"))] == [True, False]


def test_the_same_paper_has_the_same_bytes():
    scan = next(paper for paper in EVERY_PAPER if paper.form == Form.SCANNED)

    assert content_of(scan) == content_of(scan)


def test_everything_listed_answers_but_the_missing_one(hall: CityHall):
    with httpx.Client(base_url=f"http://{hall.host}") as client:
        answers = {paper: client.get(paper.path) for paper in EVERY_PAPER}

    missing = {paper for paper, answer in answers.items() if answer.status_code == HTTPStatus.NOT_FOUND}
    html = {paper for paper, answer in answers.items() if "text/html" in answer.headers["Content-Type"]}
    assert {paper.form for paper in missing} == {Form.MISSING}
    assert {paper.form for paper in html - missing} == {Form.HTML}


def test_an_unchanged_page_is_not_sent_again(hall: CityHall):
    address = hall.address(TOWNS[0], TOWNS[0].bodies[0])
    first = httpx.get(address)

    again = httpx.get(address, headers={"If-None-Match": first.headers["ETag"]})

    assert again.status_code == HTTPStatus.NOT_MODIFIED


def test_each_ruined_paper_has_its_expected_failure():
    ruined = {paper.form for paper in EVERY_PAPER} - {Form.DIGITAL, Form.SCANNED, Form.MIXED}

    assert ruined == set(EXPECTED_FAILURES)


def test_every_town_has_pages_for_its_bodies(hall: CityHall):
    addresses = hall.pages

    for town in TOWNS:
        assert f"/{town.subdomain}/" in addresses
        assert all(f"/{town.subdomain}/{body.path}/" in addresses for body in town.bodies)
