"""What a hostile or merely careless server sends must cost neither the listing nor the worker."""

import gzip
import json
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

import pytest

from pipeline.errors import DocumentError, PipelineError, SourceError, StageError
from pipeline.work.fetch.allowance import BoundedJar
from pipeline.work.fetch.answers import Limits, Page
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.download import download
from pipeline.work.fetch.gate import LocalGate
from pipeline.work.fetch.listing import ListedDays, take
from pipeline.work.fetch.memory import at_most
from pipeline.work.fetch.pages import is_cut, links, parse, text_of
from pipeline.work.fetch.refs import DocRef
from pipeline.work.fetch.registry import build
from tests.fakecity import FakeCity
from tests.fakecity.pdfs import make_pdf

TODAY = date(2026, 6, 2)
QUICK = Limits(retries=0, read_seconds=2, total_seconds=1.5, page_bytes=200_000, file_bytes=200_000)


@pytest.fixture
def city():
    with FakeCity() as server:
        yield server


@pytest.fixture
def client(city):
    with Client(gate=LocalGate(0), private_hosts=[city.host], limits=QUICK) as opened:
        yield opened


def code_of(failing: Callable[[], object]) -> str:
    with pytest.raises(PipelineError) as caught:
        failing()
    return caught.value.code


@contextmanager
def raw_server(speak: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that answers robots.txt with nothing and every other request by `speak`."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                line, _ = listener.accept()
            except OSError:
                return
            with line:
                try:
                    if b"robots.txt" in line.recv(4096):
                        line.sendall(b"HTTP/1.1 404 None\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                    else:
                        speak(line)
                except OSError:
                    pass  # the client has had enough, as it should

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def asking(host: str) -> Client:
    return Client(gate=LocalGate(0), private_hosts=[host], limits=QUICK)


# ---- References ---------------------------------------------------------------------------------------


def test_bad_references_are_named_and_cost_only_themselves(city, client):
    good = "".join(f"<li><a href='/2026-06-0{day}.pdf'>Agenda June {day}, 2026</a></li>" for day in (1, 2))
    long = f"<a href='/{'x' * 2800}.pdf'>Agenda</a>"
    page = city.page("/", good + long + "<a href='http://city.example:99999/a.pdf'>Agenda</a>")

    listing = take(build("generic", client, page), ListedDays.of(TODAY), {})

    assert [ref.url.rpartition("/")[2] for ref in listing.refs] == ["2026-06-01.pdf", "2026-06-02.pdf"]
    assert listing.refused == listing.facts()["refused"] == 1
    assert "1 references cannot be kept" in listing.warning
    assert "is too long" in listing.warning


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("https://city.example/\x00.pdf", "characters"),
        ("https://city.example/\ud800.pdf", "characters"),
        ("file:///etc/passwd", "no web address"),
        ("", "names no document"),
    ],
)
def test_a_feed_that_names_an_impossible_address_keeps_its_other_documents(address, reason, city, client):
    events = [
        {
            "EventId": number,
            "EventBodyName": "Council",
            "EventDate": "2026-06-01T00:00:00",
            "EventAgendaFile": url,
        }
        for number, url in enumerate(["https://city.example/a.pdf", address or " "])
    ]
    city.page("/v1/city/Events", json.dumps(events), "application/json")

    listing = take(
        build("legistar_api", client, f"{city.url}/v1/city"), ListedDays.of(TODAY, start_year=2026), {}
    )

    assert [ref.external_id for ref in listing.refs] == ["agenda-0"]
    assert ("no web address" if not address else reason) in listing.warning


def test_an_entry_that_cannot_be_read_costs_only_itself(city, client):
    events = [
        {
            "id": 1,
            "eventName": "Council",
            "startDateTime": "2026-06-01T18:00:00Z",
            "publishedFiles": [{"fileId": 7}],
        },
        {"id": 2, "publishedFiles": [["not", "a", "file"]]},
        "not an event",
    ]
    city.page("/v1/Events", json.dumps({"value": events}), "application/json")

    listing = take(build("civicclerk", client, city.url), ListedDays.of(TODAY, start_year=2026), {})

    assert [ref.external_id for ref in listing.refs] == ["7"]
    assert "2 of 3 entries cannot be read" in listing.warning


def test_a_feed_of_nothing_but_nonsense_is_the_wrong_page(city, client):
    city.page("/v1/Events", json.dumps({"value": ["not an event"]}), "application/json")

    assert (
        code_of(lambda: take(build("civicclerk", client, city.url), ListedDays.of(TODAY), {})) == "wrong_page"
    )


# ---- Pagers -------------------------------------------------------------------------------------------


def test_a_legistar_pager_that_repeats_its_page_is_left(city, client):
    grid = """<input name="__VIEWSTATE" value="x"><table class="rgMasterTable" id="ctl00_gridCalendar_ctl00"><thead><tr>
        <th class="rgHeader">Name</th><th class="rgHeader">Meeting Date</th><th class="rgHeader">Agenda</th></tr></thead>
        <tbody><tr class="rgRow"><td>Council</td><td>6/1/2026</td><td><a href="View.ashx?M=A&ID=1">Agenda</a></td></tr>
        </tbody></table><div><a class="rgCurrentPage" href="#">1</a>
        <a href="javascript:__doPostBack('next','')">2</a></div>"""
    city.page("/Calendar.aspx", grid)

    listing = take(
        build("legistar", client, f"{city.url}/Calendar.aspx"), ListedDays.of(TODAY, start_year=2026), {}
    )

    assert [ref.external_id for ref in listing.refs] == ["A-1"]
    assert "leads back to a page already read" in listing.warning
    assert len(city.gets("/Calendar.aspx")) < 12


def test_a_feed_whose_next_page_is_itself_is_left(city, client):
    feed = {"value": [], "@odata.nextLink": f"{city.url}/v1/Events?$skip=1"}
    city.page("/v1/Events", json.dumps(feed), "application/json")

    listing = take(build("civicclerk", client, city.url), ListedDays.of(TODAY, start_year=2026), {})

    assert "leads back" in listing.warning
    assert len(city.gets("/v1/Events")) < 8


# ---- Pages --------------------------------------------------------------------------------------------


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def test_rows_that_are_never_closed_are_all_listed_with_their_own_dates():
    rows = "".join(
        f"<tr><td>{number // 28 % 12 + 1}/{number % 28 + 1}/2026<td><div><b><a href=/{number}.pdf>Agenda</a>"
        for number in range(1000)
    )
    fetcher: Any = build("generic", Client(), "https://city.example/")

    found = list(fetcher.refs(f"<h1>City Council</h1><table>{rows}</table>", "https://city.example/"))

    assert len(found) == 1000
    assert [(ref.date.month, ref.date.day) for ref in found[:300:50]] == [
        (number // 28 % 12 + 1, number % 28 + 1) for number in range(0, 300, 50)
    ]
    assert not fetcher.notes


def test_a_page_of_unclosed_divisions_is_read_to_its_end():
    page = "".join(f"<div><a href={number}.pdf>Agenda {number}</a>" for number in range(3000))

    tree = parse(page, "https://city.example/")

    assert [link.text for link in links(tree)] == [f"Agenda {number}" for number in range(3000)]
    assert not is_cut(tree)


def test_a_page_too_deep_to_be_read_says_so():
    fetcher: Any = build("generic", Client(), "https://city.example/")

    took = seconds(
        lambda: list(fetcher.refs("<div>" * 200_000 + "<a href=a.pdf>Agenda</a>", "https://city.example/"))
    )

    assert took < 5
    assert "nested too deeply" in fetcher.notes[0]


def test_names_that_no_tree_has_are_left_out_of_a_deep_page():
    page = "<div>" * 300 + "<a @click=x href=/a.pdf>Agenda\x07</a><o:p>June 2, 2026</o:p>"

    (link,) = links(parse(page, "https://city.example/"))

    assert (link.url, link.text) == ("https://city.example/a.pdf", "Agenda")
    assert "June 2, 2026" in text_of(parse(page))


@pytest.mark.parametrize(
    "platform", ["generic", "granicus", "municode", "civicplus", "novusagenda", "onbase"]
)
@pytest.mark.parametrize(
    "page",
    [
        pytest.param("<div>" * 280 + "<a href=a.pdf>" * 280, id="links in links"),
        pytest.param(
            "<div>" * 250 + "".join(f"<a href=AgendaViewer.php?clip_id={n}></a>" for n in range(300)),
            id="mute",
        ),
        pytest.param(
            "<table><tr><td>" + "".join(f"<a href=/{n}.pdf>June 2, 2026</a> " for n in range(1500)),
            id="one row",
        ),
        pytest.param("<h1>" * 1500 + "<a href=a.pdf>Agenda</a>", id="headings"),
    ],
)
def test_a_small_page_is_read_in_a_short_time_however_it_is_made(platform, page):
    fetcher: Any = build(platform, Client(), "https://city.example/AgendaCenter")

    assert seconds(lambda: list(fetcher.refs(page, "https://city.example/AgendaCenter"))) < 5


@pytest.mark.parametrize("charset", ["idna", "punycode", "undefined", "utf-7", "hex", "no-such-thing"])
def test_an_odd_charset_is_read_as_the_usual_one(charset):
    page = Page("https://city.example/", "Río 1".encode(), {"content-type": f"text/html; charset={charset}"})

    assert page.text == "Río 1"


def test_a_page_in_the_old_western_charset_keeps_its_quotation_marks():
    page = Page(
        "https://city.example/", b"\x93Minutes\x94", {"content-type": "text/html; charset=iso-8859-1"}
    )

    assert page.text == "“Minutes”"


def test_json_of_any_depth_is_a_typed_error():
    assert code_of(Page("https://city.example/", b"[" * 100_000, {}).json) == "bad_json"


# ---- Answers ------------------------------------------------------------------------------------------


def test_empty_blocks_are_counted_as_they_arrive():
    def speak(line: socket.socket) -> None:
        line.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n")
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        line.sendall(packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH))
        for _ in range(2000):  # 2 MB of blocks that unpack to nothing
            line.sendall(b"\x00\x00\x00\xff\xff" * 200)

    with raw_server(speak) as host, asking(host) as client:
        assert code_of(lambda: client.page(f"http://{host}/")) == "too_large"


def test_a_bomb_is_stopped_at_the_limit(city, client):
    packed = gzip.compress(b"0" * 50_000_000)
    url = city.page("/bomb", packed, headers={"Content-Encoding": "gzip"})

    assert len(packed) < 200_000
    assert code_of(lambda: client.page(url)) == "too_large"


def test_what_follows_the_packed_data_is_not_looked_at(city, client):
    url = city.page("/a", gzip.compress(b"Agenda") + b"x" * 100_000, headers={"Content-Encoding": "gzip"})

    assert client.page(url).text == "Agenda"


@pytest.mark.parametrize("window", [15, -15])
def test_both_kinds_of_deflate_are_understood(window, city, client):
    packer = zlib.compressobj(9, zlib.DEFLATED, window)
    packed = packer.compress(b"Agenda") + packer.flush()

    assert client.page(city.page("/a", packed, headers={"Content-Encoding": "deflate"})).text == "Agenda"


def test_packed_data_that_breaks_off_is_not_the_whole(city, client):
    packed = gzip.compress(bytes(range(256)) * 40)
    url = city.page("/a", packed[: len(packed) // 2], headers={"Content-Encoding": "gzip"})

    assert code_of(lambda: client.page(url)) == "truncated"


def test_headers_that_drip_in_do_not_hold_a_worker():
    def speak(line: socket.socket) -> None:
        line.sendall(b"HTTP/1.1 200 OK\r\n")
        for _ in range(100):
            line.sendall(b"X")
            time.sleep(0.2)

    with raw_server(speak) as host, asking(host) as client:
        took = seconds(lambda: code_of(lambda: client.page(f"http://{host}/")))

    assert took < 5


def test_answers_that_are_never_the_last_word_end():
    def speak(line: socket.socket) -> None:
        for _ in range(4000):
            line.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)

    with raw_server(speak) as host, asking(host) as client:
        took = seconds(lambda: code_of(lambda: client.page(f"http://{host}/")))

    assert took < 5


def test_a_part_is_not_the_whole_file(city, client, tmp_path):
    url = city.pdf("/a.pdf", make_pdf("Agenda"), status=206)

    with pytest.raises(SourceError) as caught:
        download(client, url, tmp_path / "a.pdf")

    assert caught.value.code == "http_206"
    assert not (tmp_path / "a.pdf").exists()


def test_cookies_beyond_a_sessions_need_are_not_kept(city):
    flood = "; Path=/\r\nSet-Cookie: ".join(f"c{number}=x" for number in range(500))
    url = city.page("/", "hello", headers={"Set-Cookie": flood})
    with Client(gate=LocalGate(0), private_hosts=[city.host]) as client:
        client.page(url)
        client.page(url)

    assert 1 <= city.gets()[-1].headers["cookie"].count("=") <= BoundedJar.MOST


def test_a_page_made_of_open_inputs_is_searched_for_a_password_in_a_short_time(city, client, tmp_path):
    url = city.page("/a", "<html>" + "<input " * 25_000)

    assert seconds(lambda: download(client, url, tmp_path / "a", accept="html")) < 2


# ---- Options and memory -------------------------------------------------------------------------------


def test_a_pattern_that_would_run_away_does_not():
    fetcher: Any = build("generic", Client(), "https://city.example/", {"match": "(a+)+$"})

    assert (
        seconds(lambda: list(fetcher.refs(f"<a href=/{'a' * 2000}!.pdf>x</a>", "https://city.example/"))) < 1
    )


@pytest.mark.parametrize(
    "options",
    [{"match": "("}, {"match": r"(?=x)"}, {"pages": [{"a": 1}]}, {"pages": ["a", None]}, {"match": 5}],
)
def test_a_bad_option_is_refused_by_name(options):
    with pytest.raises(StageError, match=next(iter(options))) as caught:
        build("generic", Client(), "https://city.example/", options)

    assert caught.value.code == "bad_options"


def test_work_that_takes_too_much_memory_fails_and_its_process_lives():
    with pytest.raises(DocumentError) as caught, at_most(200):
        bytearray(400 * 1024 * 1024)

    assert caught.value.code == "memory_limit"
    assert len(bytearray(400 * 1024 * 1024)) > 0


def test_a_reference_is_tidied_before_it_is_kept(city, client):
    listing = take(
        build("generic", client, city.page("/", "<a href=/a.pdf>Agenda &#xD800;\x00x</a>")),
        ListedDays.of(TODAY),
        {},
    )

    (ref,) = listing.refs
    assert isinstance(ref, DocRef)
    assert ref.title.encode()
    assert "\x00" not in ref.title
