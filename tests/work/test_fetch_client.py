"""The client: polite, patient, obedient, and never taken in."""

import gzip
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise

import pytest

from pipeline.errors import DocumentError, PipelineError, SourceError
from pipeline.work.fetch.answers import Limits
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.gate import LocalGate
from tests.fakecity import FakeCity

QUICK = Limits(backoff_seconds=0.01, patience_seconds=1, read_seconds=0.5, connect_seconds=1)


@pytest.fixture
def city():
    with FakeCity() as server:
        yield server


@pytest.fixture
def client(city):
    with Client(gate=LocalGate(0), private_hosts=[city.host], limits=QUICK) as opened:
        yield opened


def code_of(failing) -> str:
    with pytest.raises(PipelineError) as caught:
        failing()
    return caught.value.code


def test_it_says_who_it_is(city, client):
    city.page("/", "hello")

    client.page(f"{city.url}/")

    assert city.gets()[0].headers["user-agent"].startswith("Clerk/")


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (404, "http_404", DocumentError),
        (410, "http_410", DocumentError),
        (401, "http_401", DocumentError),
        (403, "http_403", SourceError),
        (429, "http_429", SourceError),
        (500, "http_5xx", SourceError),
        (503, "http_5xx", SourceError),
    ],
)
def test_a_status_is_an_error_with_a_stable_code(status, code, error, city):
    city.page("/", "<html>sorry</html>", status=status)
    client = Client(gate=LocalGate(0), private_hosts=[city.host], limits=Limits(retries=0))

    with pytest.raises(error) as caught:
        client.page(f"{city.url}/")

    assert caught.value.code == code


def test_passing_trouble_is_tried_again(city, client):
    city.page("/", "at last")
    city.fault("/", times=2, status=500)

    assert client.page(f"{city.url}/").text == "at last"
    assert len(city.gets()) == 3


def test_what_is_gone_is_not_asked_for_again(city, client):
    assert code_of(lambda: client.page(f"{city.url}/gone")) == "http_404"
    assert len(city.gets("/gone")) == 1


def test_retry_after_is_obeyed_by_everybody_who_asks_this_host(city):
    city.page("/other", "hello")
    city.page("/", "at last")
    city.fault("/", status=429, headers={"Retry-After": "1"})
    gate = LocalGate(0)
    first = Client(gate=gate, private_hosts=[city.host], limits=Limits(retries=0))
    second = Client(gate=gate, private_hosts=[city.host])

    with pytest.raises(SourceError) as caught:
        first.page(f"{city.url}/")
    second.page(f"{city.url}/other")

    refused, following = (asked for asked in city.asked if asked.path in ("/", "/other"))
    assert caught.value.retry_after == 1
    assert following.at - refused.at >= 1


def test_a_long_retry_after_goes_back_to_the_queue(city, client):
    city.page("/", "", status=503, headers={"Retry-After": "3600"})
    began = time.monotonic()

    with pytest.raises(SourceError) as caught:
        client.page(f"{city.url}/")

    assert caught.value.retry_after == 3600
    assert time.monotonic() - began < 5


def test_retry_after_may_be_a_date(city, client):
    moment = datetime.now(UTC) + timedelta(seconds=120)
    city.page("/", "", status=429, headers={"Retry-After": format_datetime(moment, usegmt=True)})

    with pytest.raises(SourceError) as caught:
        client.page(f"{city.url}/")

    assert caught.value.retry_after == pytest.approx(120, abs=5)


def test_a_nonsensical_retry_after_is_none(city):
    city.page("/", "", status=429, headers={"Retry-After": "soon"})
    client = Client(gate=LocalGate(0), private_hosts=[city.host], limits=Limits(retries=0))

    with pytest.raises(SourceError) as caught:
        client.page(f"{city.url}/")

    assert caught.value.retry_after is None


def test_a_slow_server_runs_into_the_time_limit(city, client):
    city.page("/", "too late", delay=2)

    assert code_of(lambda: client.page(f"{city.url}/")) == "timeout_read"


def test_a_dripping_server_runs_into_the_limit_for_all_of_it(city):
    city.page("/", "x" * 2000, drip=0.05)
    limits = Limits(retries=0, total_seconds=0.5)
    client = Client(gate=LocalGate(0), private_hosts=[city.host], limits=limits)

    assert code_of(lambda: client.page(f"{city.url}/")) == "timeout_total"


def test_a_body_that_breaks_off_is_no_page(city):
    city.page("/", "x" * 5000, truncate_at=100)
    client = Client(gate=LocalGate(0), private_hosts=[city.host], limits=Limits(retries=0))

    assert code_of(lambda: client.page(f"{city.url}/")) == "truncated"


def test_a_page_larger_than_allowed_is_left(city):
    city.page("/declared", b"x" * 5000)
    city.page("/packed", gzip.compress(b"x" * 500_000), headers={"Content-Encoding": "gzip"})
    city.page(
        "/twice", gzip.compress(gzip.compress(b"x" * 500_000)), headers={"Content-Encoding": "gzip, gzip"}
    )
    limits = Limits(retries=0, page_bytes=1000)
    client = Client(gate=LocalGate(0), private_hosts=[city.host], limits=limits)

    assert code_of(lambda: client.page(f"{city.url}/declared")) == "too_large"
    assert code_of(lambda: client.page(f"{city.url}/packed")) == "too_large"
    assert code_of(lambda: client.page(f"{city.url}/twice")) == "bad_encoding"


def test_redirects_are_followed_and_loops_are_left(city, client):
    city.redirect("/old", "/new", status=301)
    city.page("/new", "here")
    city.redirect("/loop", "/pool")
    city.redirect("/pool", "/loop")

    assert client.page(f"{city.url}/old").url == f"{city.url}/new"
    assert code_of(lambda: client.page(f"{city.url}/loop")) == "redirect_loop"


def test_a_name_that_does_not_exist_is_passing_trouble(client):
    assert code_of(lambda: client.page("http://no-such-city.invalid/")) == "dns_failed"


def test_nobody_listening_is_passing_trouble(city):
    with FakeCity() as gone:
        address, host = gone.url, gone.host
    client = Client(gate=LocalGate(0), private_hosts=[host], limits=Limits(retries=0))

    assert code_of(lambda: client.page(address)) == "connect_failed"


def test_the_page_says_in_what_letters_it_is_written(city, client):
    city.page("/header", "Año".encode("latin-1"), "text/html; charset=iso-8859-1")
    city.page("/meta", '<meta charset="windows-1252">Año'.encode("cp1252"), "text/html")
    city.page("/nonsense", "Año", "text/html; charset=klingon")

    assert client.page(f"{city.url}/header").text == "Año"
    assert client.page(f"{city.url}/meta").text.endswith("Año")
    assert client.page(f"{city.url}/nonsense").text == "Año"


# ---- robots.txt ---------------------------------------------------------------------------------------


def test_robots_are_obeyed(city, client):
    city.robots(
        "User-agent: *\nDisallow: /private/\n\nUser-agent: Clerk\nDisallow: /not-for-clerk/\nCrawl-delay: 1"
    )
    city.page("/open", "hello")
    city.page("/not-for-clerk/x", "secret")

    assert client.page(f"{city.url}/open").text == "hello"
    assert code_of(lambda: client.page(f"{city.url}/not-for-clerk/x")) == "robots_disallowed"
    assert city.gets("/not-for-clerk") == []


def test_robots_hold_for_the_target_of_a_redirect_too(city, client):
    city.robots("User-agent: *\nDisallow: /private/")
    city.redirect("/way", "/private/x")

    assert code_of(lambda: client.page(f"{city.url}/way")) == "robots_disallowed"
    assert city.gets("/private") == []


def test_the_crawl_delay_lengthens_the_gap(city, client):
    city.robots("User-agent: *\nCrawl-delay: 0.4")
    city.page("/", "hello")

    for _ in range(3):
        client.page(f"{city.url}/")

    times = [asked.at for asked in city.gets()]
    assert min(later - earlier for earlier, later in pairwise(times)) >= 0.4


def test_robots_are_asked_for_once(city, client):
    city.page("/", "hello")

    for _ in range(5):
        client.page(f"{city.url}/")

    assert len([asked for asked in city.asked if asked.path == "/robots.txt"]) == 1


def test_where_nobody_can_tell_nothing_is_fetched(city):
    city.page("/robots.txt", "", status=500)
    city.page("/", "hello")
    client = Client(gate=LocalGate(0), private_hosts=[city.host], limits=Limits(retries=0))

    assert code_of(lambda: client.page(f"{city.url}/")) == "http_5xx"
    assert city.gets() == []


def test_a_home_page_in_the_place_of_robots_has_no_rules(city, client):
    city.page("/robots.txt", "<html>Disallow: /</html>")
    city.page("/", "hello")

    assert client.page(f"{city.url}/").text == "hello"


def test_a_host_that_allows_us_more_is_named_in_a_setting(city):
    city.robots("User-agent: *\nDisallow: /")
    city.page("/", "hello")
    client = Client(gate=LocalGate(0), private_hosts=[city.host], robots_exempt_hosts=[city.host])

    assert client.page(f"{city.url}/").text == "hello"
    assert [asked.path for asked in city.asked] == ["/"]
