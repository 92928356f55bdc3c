"""Feeds and calendars: what is new, for programs that people follow things with."""

from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.django_db
ATOM = "{http://www.w3.org/2005/Atom}"


def entries(answer) -> list[tuple[str, str]]:
    assert answer["Content-Type"].startswith("application/atom+xml")
    root = ElementTree.fromstring(answer.content)
    return [
        (entry.findtext(f"{ATOM}title", ""), link.get("href", ""))
        for entry in root.iter(f"{ATOM}entry")
        for link in entry.iter(f"{ATOM}link")
    ]


def test_the_feed_of_a_site_has_its_documents_and_of_a_body_only_its_own(client, town):
    everything = entries(client.get("/bend.or/feed.atom"))
    parks = entries(client.get("/bend.or/feed.atom", {"body": "Parks Board"}))

    assert len(everything) == 3
    assert [title for title, _ in parks] == ["parks (Parks Board, minutes, 2023-05-02)"]
    assert client.get(parks[0][1].removeprefix("http://testserver")).status_code == 302


def test_the_feed_of_a_search_leads_to_the_pages_it_finds(client, town):
    found = entries(client.get("/feeds/search.atom", {"q": "bridge"}))

    assert [title for title, _ in found] == ["Bend.Or: minutes (City Council, minutes, 2024-01-15), page 2"]
    assert "<mark>bridge</mark>" in client.get(found[0][1].removeprefix("http://testserver")).content.decode()


def test_a_feed_holds_what_xml_cannot(client, make_site, add_document, publish, public):
    site = make_site("odd.ca")
    add_document(site, "bell\x07 & <b>", ["form\x0cfeed \x00and\x1b more"])
    publish(site)

    assert entries(client.get("/odd.ca/feed.atom"))[0][0].startswith("bell & <b>")


def test_the_calendar_has_each_meeting_as_a_day(client, town):
    answer = client.get("/bend.or/meetings.ics", {"body": "City Council"})
    lines = answer.content.decode().split("\r\n")

    assert answer["Content-Type"].startswith("text/calendar")
    assert lines.count("BEGIN:VEVENT") == 1
    assert {"DTSTART;VALUE=DATE:20240115", "DTEND;VALUE=DATE:20240116"} < set(lines)
    assert "SUMMARY:City Council\\, Bend.Or" in lines
    assert all(len(line.encode()) <= 75 for line in lines)


def test_feeds_are_for_readers(client, town, settings):
    settings.RECORDS_PUBLIC = False

    for address in ("/bend.or/feed.atom", "/feeds/search.atom?q=bridge", "/bend.or/meetings.ics"):
        assert client.get(address)["Location"].startswith("/admin/login/")
