"""Cities' own pages: files wherever they are named, agendas that are pages, and what a page leads to."""

from datetime import date
from typing import Any

import pytest

from pipeline.work.fetch.client import Client
from pipeline.work.fetch.download import (
    DOC_TYPE,
    DOCX_TYPE,
    ODT_TYPE,
    RTF_TYPE,
    Downloaded,
    download,
    suffix_for,
)
from pipeline.work.fetch.gate import LocalGate
from pipeline.work.fetch.listing import ListedDays, take
from pipeline.work.fetch.refs import DocRef
from pipeline.work.fetch.registry import build, fetcher_class
from tests.fakecity import FakeCity
from tests.work.office_files import make_doc, make_docx, make_odt, make_rtf

TODAY, DAY = date(2026, 6, 10), date(2026, 6, 2)
HOME = "https://town.example/board/"


@pytest.fixture
def city():
    with FakeCity() as server:
        yield server


@pytest.fixture
def client(city):
    with Client(gate=LocalGate(0), private_hosts=[city.host]) as opened:
        yield opened


def refs(page: str, url: str = HOME) -> list[DocRef]:
    fetcher: Any = build("generic", Client(), url)
    return list(fetcher.refs(page, url))


def told(page: str) -> list[tuple]:
    return [(ref.url.rpartition("/")[2], ref.date, ref.kind) for ref in refs(page)]


def test_files_of_office_programs_are_documents_like_any_other():
    page = """<ul><li>June 2, 2026 - <a href="/media/1/06-02-26-agenda.docx">Agenda</a> |
      <a href="/media/2/minutes.doc">Minutes</a> | <a href="/media/3/budget.xlsx">Budget</a></li>
      <li>June 9, 2026 - <a href="/m/4.odt">Agenda</a> <a href="/m/5.RTF">Minutes</a></li></ul>"""

    assert told(page) == [
        ("06-02-26-agenda.docx", DAY, "agenda"),
        ("minutes.doc", DAY, "minutes"),
        ("4.odt", date(2026, 6, 9), "agenda"),
        ("5.RTF", date(2026, 6, 9), "minutes"),
    ]


@pytest.mark.parametrize(
    ("content", "content_type", "suffix"),
    [
        (make_docx("Agenda"), DOCX_TYPE, ".docx"),
        (make_odt("Agenda"), ODT_TYPE, ".odt"),
        (make_rtf("Agenda"), RTF_TYPE, ".rtf"),
        (make_doc("Agenda"), DOC_TYPE, ".doc"),
    ],
)
def test_an_office_file_is_known_by_its_content(content, content_type, suffix, city, client, tmp_path):
    got = download(client, city.page("/file", content, "application/octet-stream"), tmp_path / "file")

    assert isinstance(got, Downloaded)
    assert (got.content_type, suffix_for(got.content_type)) == (content_type, suffix)


def test_files_in_menus_frames_and_attributes_are_found():
    page = """<h2>Board of Zoning Appeals</h2><form><label>Download agendas</label><select>
      <option value="">Choose</option><option value="/bza/agenda/2026/crr06-02-2026.pdf">June 2, 2026</option>
      <option value="/bza/agenda/2026/crr06-09-2026.pdf">June 9, 2026</option></select></form>
      <iframe src="/files/Agenda-06-16-2026.pdf"></iframe>
      <div class="flip" data-pdf-url="/books/minutes-2026-06-02.pdf"></div>
      <iframe src="https://www.youtube.com/embed/abc"></iframe>"""

    assert told(page) == [
        ("crr06-02-2026.pdf", DAY, "agenda"),
        ("crr06-09-2026.pdf", date(2026, 6, 9), "agenda"),
        ("Agenda-06-16-2026.pdf", date(2026, 6, 16), "agenda"),
        ("minutes-2026-06-02.pdf", DAY, "minutes"),
    ]


def test_files_in_the_data_of_scripts_have_the_dates_and_names_around_them():
    page = r"""<script>$(function () { var data = [
      {"title": "Regular Meeting", "meetingDate": "2026-06-02T00:00:00", "agendaPacket": null,
       "agendaDocument": {"url": "https:\/\/files.town.example\/a1.pdf", "dateCreated": "2026-05-20"}},
      {"title": "Special Meeting", "meetingDate": "2026-06-09", "minutes": {"url": "/files/b2.docx"}}];
      draw(data); });</script><script>var other = "/files/Agenda-2026-06-16.pdf", broken = {"a": [</script>"""

    assert told(page) == [
        ("a1.pdf", DAY, "agenda"),
        ("b2.docx", date(2026, 6, 9), "minutes"),
        ("Agenda-2026-06-16.pdf", date(2026, 6, 16), "agenda"),
    ]


def test_agendas_that_are_pages_or_lie_behind_short_addresses_are_documents():
    page = """<a href="/agendas">Agendas</a><ul>
      <li>June 2, 2026 <a href="/meetings/june-2-2026-meeting-agenda/">Agenda</a> | <a href="/x/y/">Minutes</a>
        <a href="https://www.youtube.com/watch?v=1">Watch the minutes</a></li></ul>
      <table><tr><td>Tuesday, June 9, 2026</td><td><a href="https://sho.rt/HQ">Legal Notice</a></td>
        <td><a href="https://sho.rt/np">Agenda (Spanish)</a> <a href="https://sho.rt/cJ">Packet</a></td></tr></table>
      <p>Read about <a href="/how-to-read-minutes">minutes</a>.</p>"""

    assert [(ref.url.rpartition("//")[2], ref.date, ref.kind, ref.content_hint) for ref in refs(page)] == [
        ("town.example/meetings/june-2-2026-meeting-agenda/", DAY, "agenda", "html"),
        ("town.example/x/y/", DAY, "minutes", "html"),
        ("sho.rt/HQ", date(2026, 6, 9), "other", "html"),
        ("sho.rt/np", date(2026, 6, 9), "agenda", "html"),
        ("sho.rt/cJ", date(2026, 6, 9), "packet", "html"),
    ]


def test_the_row_of_a_table_speaks_for_the_meeting_and_not_the_name_of_the_file():
    page = """<table><tr><td>6/2/2026</td><td>Retirement Committee</td>
      <td><a href="/061826_Notice.pdf">Meeting Notice</a></td></tr>
      <tr><td><a href="/061826_Agenda.pdf">Agenda</a></td><td>Posted 6/12/2026</td></tr></table>
      <p><strong>2026 Agendas</strong></p><p><a href="/6%202%2026%20PUBLIC%20AGENDA.pdf">June</a></p>"""

    assert [ref.date for ref in refs(page)] == [DAY, date(2026, 6, 18), DAY]


@pytest.mark.parametrize(
    ("shared", "asked"),
    [
        (
            "https://drive.google.com/file/d/1AbC/view?usp=sharing",
            "https://drive.google.com/uc?export=download&id=1AbC",
        ),
        ("https://drive.google.com/open?id=1AbC", "https://drive.google.com/uc?export=download&id=1AbC"),
        (
            "https://docs.google.com/document/d/1AbC/edit",
            "https://docs.google.com/document/d/1AbC/export?format=pdf",
        ),
        ("https://www.dropbox.com/s/x/a.pdf?dl=0", "https://www.dropbox.com/s/x/a.pdf?dl=1"),
        (
            "https://town.sharepoint.com/:b:/s/x/Ey?e=1",
            "https://town.sharepoint.com/:b:/s/x/Ey?e=1&download=1",
        ),
        ("https://1drv.ms/b/s!Ab", "https://1drv.ms/b/s!Ab"),
    ],
)
def test_a_file_in_a_shared_folder_is_listed_and_asked_for_as_a_file(shared, asked):
    (ref,) = refs(f"<li>June 2, 2026 <a href='{shared}'>Agenda</a></li>")

    assert (ref.date, ref.kind) == (DAY, "agenda")
    assert fetcher_class("generic").request_for(ref.url) == (asked, None)


def test_archives_by_year_and_the_pages_of_meetings_are_read_too(city, client):
    home = city.page(
        "/board",
        """<h1>Planning Commission</h1><a href="/board/2025">2025 Agendas</a> <a href="/board/2019">2019 Agendas</a>
        <a href="/event/june-2">Planning Commission Meeting - June 2, 2026</a> <a href="/about">About us</a>
        <a href="https://elsewhere.example/2025">2025 Agendas</a> <a href="/gone/2025-minutes">2025 Minutes</a>""",
    )
    city.page("/board/2025", "<a href='/a.pdf'>Agenda March 4, 2025</a><a href='/board'>2026 Agendas</a>")
    city.page(
        "/event/june-2",
        "<a href='/files/17.pdf'>Agenda</a><a href='/event/june-9'>Board Meeting June 9, 2026</a>",
    )

    listing = take(build("generic", client, home), ListedDays.of(TODAY, start_year=2020), {})

    assert {(ref.url.removeprefix(city.url), ref.date, ref.body) for ref in listing.refs} == {
        ("/a.pdf", date(2025, 3, 4), ""),
        ("/files/17.pdf", DAY, "Planning Commission Meeting"),
    }
    assert {asked.path for asked in city.gets()} == {
        "/board",
        "/board/2025",
        "/event/june-2",
        "/gone/2025-minutes",
    }
    assert "cannot be read" in listing.warning


def test_a_page_is_not_left_where_that_is_switched_off(city, client):
    home = city.page("/board", "<a href='/board/2025'>2025 Agendas</a>")

    take(build("generic", client, home, {"follow": False}), ListedDays.of(TODAY), {})

    assert [asked.path for asked in city.gets()] == ["/board"]


def test_the_year_may_stand_in_the_folder_of_a_file():
    page = """<a href="/Planning/2026/June2_Packet.pdf">SCPC</a>
      <a href="/wp-content/uploads/2027/01/Dec-15-minutes.pdf">Minutes</a>"""

    assert [ref.date for ref in refs(page)] == [DAY, None]


def test_what_stands_among_the_minutes_is_not_always_minutes():
    page = """<h2>Minutes</h2><a href="/1.pdf">June 2, 2026</a><a href="/2.pdf">2025 Audit of the district</a>
      <a href="/3.pdf">Bylaws</a><a href="/June-Meeting-Book.pdf">June</a>"""

    assert [ref.kind for ref in refs(page)] == ["minutes", "other", "other", "packet"]
