"""Which body met, on which day, and which documents are one: what pages say beside it must not be taken for it."""

from datetime import date
from typing import Any

import pytest

from pipeline.work.fetch.client import Client
from pipeline.work.fetch.dates import undated
from pipeline.work.fetch.platforms.civicweb import named
from pipeline.work.fetch.refs import DocRef, convened
from pipeline.work.fetch.registry import build, fetcher_class

DAY = date(2026, 6, 2)
MUNICODE = "https://meetings.municode.com/PublishPage?cid=X"


def refs(platform: str, page: str, url: str) -> list[DocRef]:
    fetcher: Any = build(platform, Client(), url)
    return list(fetcher.refs(page, url))


def test_a_civicweb_meeting_with_only_the_number_of_its_type_has_the_name_of_the_others():
    meetings = [
        {"Id": 1, "TypeId": 20, "Name": "Regular Board - May 28 2026"},
        {"Id": 2, "MeetingTypeId": 20, "MeetingTypeName": "Board of Trustees", "Name": "Board - May 14 2026"},
        {"Id": 3, "TypeId": 99, "Name": "Audit Committee - May 20, 2026"},
    ]
    fetcher: Any = build("civicweb", Client(), "https://x.civicweb.net/Portal/", {"types": [20]})

    bodies = [
        ref.body
        for row in named(meetings)
        for ref in fetcher.refs(row, [{"Id": row["Id"], "Name": "Agenda"}])
    ]

    assert bodies == ["Board of Trustees", "Board of Trustees", "Audit Committee"]
    assert [row["Id"] for row in fetcher.wanted(meetings)] == [1, 2]


def test_the_icons_beside_a_municode_meeting_are_not_its_body():
    page = """<div class="row"><span>PDF icon</span> <span>html icon</span><h4>City Council Meeting - June 2, 2026</h4>
      <a href="https://mccmeetings.blob.core.usgovcloudapi.net/x/MEET-Agenda-1.pdf">Agenda</a></div>"""

    (ref,) = refs("municode", page, MUNICODE)

    assert (ref.body, ref.date) == ("City Council Meeting", DAY)


def test_a_municode_document_as_pdf_and_as_page_is_one():
    page = """<table><tr><td class="date">6/2/2026</td><td class="meeting">City Council</td>
      <td class="agenda"><a href="https://mccmeetings.blob.core.usgovcloudapi.net/x/MEET-Agenda-1.pdf">PDF</a>
        <a href="https://meetings.municode.com/adaHtmlDocument/index?cc=X&me=1">HTML</a></td>
      <td class="minutes"><a href="https://meetings.municode.com/adaHtmlDocument/index?cc=X&me=1&ip=True">HTML</a>
      </td></tr></table>"""

    assert [(ref.kind, ref.content_hint) for ref in refs("municode", page, MUNICODE)] == [
        ("agenda", "pdf"),
        ("minutes", "html"),
    ]


def test_a_citys_own_municode_site_is_recognised():
    html = "<a href='https://www.town.gov/sites/g/files/vyhlif123/f/agendas/06-02-2026.pdf'>Agenda</a>"

    assert fetcher_class("municode").detect("https://www.town.gov/meetings", html) > fetcher_class(
        "generic"
    ).detect("https://www.town.gov/meetings", html)


def test_a_strip_of_tabs_is_not_a_body_and_the_tab_of_the_panel_is():
    page = """<ul class="nav-tabs"><li><a href="#p1">City Council</a></li><li><a href="#p2">Planning Commission</a></li>
      </ul><div id="p2"><table><tr><td>June 2, 2026</td>
      <td><a href="/AgendaViewer.php?view_id=1&clip_id=9">Agenda</a></td></tr></table></div>
      <div class="tabs"><button>City Council</button><button>Parks Board</button></div><div><table>
      <tr><td headers="Name">Library Board</td><td>June 2, 2026</td>
      <td><a href="/AgendaViewer.php?view_id=1&clip_id=8">Agenda</a></td></tr></table></div>"""

    found = refs("granicus", page, "https://x.granicus.com/ViewPublisher.php?view_id=1")

    assert [ref.body for ref in found] == ["Planning Commission", "Library Board"]


def test_the_day_in_a_name_counts_more_than_the_day_of_the_upload():
    page = """<table><tr><td headers="Name">City Council 06/02/2026</td><td headers="Date">June 5, 2026</td>
      <td><a href="/AgendaViewer.php?view_id=1&clip_id=9">Agenda</a></td></tr></table>"""

    (ref,) = refs("granicus", page, "https://x.granicus.com/ViewPublisher.php?view_id=1")

    assert (ref.body, ref.date) == ("City Council", DAY)


def test_an_onbase_summary_is_minutes():
    page = """<table><tr><td>City Council</td><td>6/2/2026 7:00:00 PM</td>
      <td><a href="/AgendaOnline/Documents/ViewAgenda?meetingId=7&doctype=3">Summary</a></td></tr></table>"""

    (ref,) = refs("onbase", page, "https://x.example/AgendaOnline/Meetings/Search")

    assert (ref.kind, ref.date) == ("minutes", DAY)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("Planning Commission - June 2, 2026", "Planning Commission"),
        ("Tuesday, June 2, 2026 Board of Education", "Board of Education"),
        ("City Council (6/2/2026)", "City Council"),
        ("Council 06-02-2026 at 6:00 PM", "Council"),
        ("May Day Committee", "May Day Committee"),
        ("March Air Reserve Board", "March Air Reserve Board"),
    ],
)
def test_a_name_without_its_date(name, body):
    assert undated(name) == body


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("Planning Commission Special Called Meeting", "Planning Commission"),
        ("Board of Education Budget Hearing", "Board of Education"),
        ("Public Hearing", "Public Hearing"),
        ("Town Meeting", "Town Meeting"),
    ],
)
def test_the_body_of_a_meeting_by_its_name(name, body):
    assert convened(name) == body
