"""Nothing private is ever connected to, whatever an address, a name or a redirect makes of it."""

import ipaddress
import socket
from collections.abc import Iterator

import httpcore
import pytest

from pipeline.errors import PipelineError
from pipeline.work.fetch.addresses import is_public
from pipeline.work.fetch.answers import Limits
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.gate import LocalGate
from tests.fakecity import FakeCity

PRIVATE_V4 = (
    "127.0.0.1",
    "127.8.9.10",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.100.100.200",
    "0.0.0.0",
    "192.0.0.192",
    "198.18.0.1",
    "168.63.129.16",
    "224.0.0.1",
    "255.255.255.255",
)
# Names that a resolver of the attacker's own answers with whatever it likes.
NAMES = {
    "localhost": ["127.0.0.1"],
    "localtest.example": ["127.0.0.1"],
    "metadata.google.internal": ["169.254.169.254"],
    "intranet.example": ["10.1.2.3"],
    "both.example": ["93.184.216.34", "192.168.0.7"],
    "six.example": ["fd00::1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "127.0.0.1.nip.example": ["127.0.0.1"],
    "xn--bcher-kva.example": ["10.0.0.9"],
}


def v4_forms(address: str) -> Iterator[str]:
    """One address in the spellings that resolvers and browsers take for it."""
    parts = [int(part) for part in address.split(".")]
    number = int(ipaddress.IPv4Address(address))
    yield address
    yield f"{address}."
    yield str(number)
    yield hex(number)
    yield f"0{number:o}"
    yield ".".join(hex(part) for part in parts)
    yield ".".join(f"0{part:o}" for part in parts)
    yield f"{parts[0]}.{parts[1]}.{parts[2] * 256 + parts[3]}"
    yield f"{parts[0]}.{number & 0xFFFFFF}"
    yield f"0x{parts[0]:x}.{parts[1]}.0{parts[2]:o}.{parts[3]}"
    yield "".join(chr(0xFF10 + int(digit)) if digit.isdigit() else digit for digit in address)
    yield "".join(chr(0x2460 + int(digit) - 1) if digit in "123456789" else digit for digit in address)
    yield address.replace(".", "\u3002")
    yield address.replace(".", "%2e")
    yield f"[::ffff:{address}]"
    yield f"[::ffff:{number >> 16:x}:{number & 0xFFFF:x}]"
    yield f"[::{address}]"
    yield f"[64:ff9b::{address}]"
    yield f"[2002:{number >> 16:x}:{number & 0xFFFF:x}::1]"
    yield f"[2001:0:{number >> 16:x}:{number & 0xFFFF:x}::{number ^ 0xFFFFFFFF & 0xFFFF:x}]"
    yield f"[fe80::5efe:{address}]"


def hosts() -> Iterator[str]:
    for address in PRIVATE_V4:
        yield from v4_forms(address)
    yield from (
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[fe80::1]",
        "[fe80::1%25eth0]",
        "[fc00::1]",
        "[fd12:3456:789a::1]",
        "[ff02::1]",
        "[2001:db8::1]",
        "[64:ff9b:1::1]",
        "[100::1]",
        "LOCALHOST",
        "localhost.",
    )
    yield from NAMES


TRICKS = [f"http://{host}/" for host in hosts()] + [
    "http://example.com@127.0.0.1/",
    "http://93.184.216.34:80@10.0.0.1/",
    "http://127.0.0.1#@93.184.216.34/",
    "http://127.0.0.1\\@93.184.216.34/",
    "http:\\\\127.0.0.1\\",
    "//127.0.0.1/",
    "///127.0.0.1/",
    "http:127.0.0.1/",
    "http:/127.0.0.1/",
    "http://127.0.0.1:22/",
    "https://127.0.0.1/",
    "HTTP://127.0.0.1/",
    "http://127.0.0.1\t/",
    "http://127.0.0.1%00.example.com/",
    "file:///etc/passwd",
    "ftp://127.0.0.1/x",
    "gopher://127.0.0.1:6379/_FLUSHALL",
    "dict://127.0.0.1:11211/stats",
    "unix:///var/run/docker.sock",
    "data:text/html,hello",
    "javascript:alert(1)",
    "http://",
    "http:///",
    "http://[::1",
    "http://a" + "a" * 300 + "/",
]


@pytest.fixture
def city():
    with FakeCity() as server:
        yield server


@pytest.fixture
def connected(city, monkeypatch) -> list[str]:
    """Where connections were opened to, the city's own apart; none is really made."""
    opened: list[str] = []
    real_connect, real_lookup = httpcore.SyncBackend.connect_tcp, socket.getaddrinfo
    own = int(city.host.rpartition(":")[2])

    def connect(self, host, port, *args, **kwargs):
        if (host, port) == ("127.0.0.1", own):
            return real_connect(self, host, port, *args, **kwargs)
        opened.append(host)
        raise httpcore.ConnectError("no route")

    def lookup(host, port, *args, **kwargs):
        known = NAMES.get(str(host).lower().rstrip("."))
        if known is None:
            return real_lookup(host, port, *args, **kwargs)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in known]

    monkeypatch.setattr(httpcore.SyncBackend, "connect_tcp", connect)
    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    return opened


@pytest.fixture
def client(city):
    limits = Limits(retries=0, connect_seconds=2)
    with Client(gate=LocalGate(0), private_hosts=[city.host], limits=limits) as opened:
        yield opened


def test_there_are_at_least_two_hundred_tricks():
    assert len(set(TRICKS)) >= 200


@pytest.mark.parametrize("trick", sorted(set(TRICKS)), ids=repr)
def test_a_trick_gets_nowhere_private_asked_for_directly(trick, client, connected):
    with pytest.raises(PipelineError):
        client.page(trick)

    assert [host for host in connected if not is_public(host)] == []


@pytest.mark.parametrize("trick", sorted(set(TRICKS)), ids=repr)
def test_a_trick_gets_nowhere_private_as_a_redirect(trick, city, client, connected):
    # As raw bytes: a header can carry what a URL library would never write.
    city.page("/start", b"", status=302, headers={"Location": trick.encode().decode("latin-1")})
    before = len(city.asked)

    try:
        client.page(f"{city.url}/start")
    except PipelineError:
        pass
    else:
        # Some of these are only odd ways to name a path of the city itself; that is not private to it.
        assert {asked.headers["host"] for asked in city.asked[before:]} == {city.host}

    assert [host for host in connected if not is_public(host)] == []


def test_the_address_that_was_checked_is_the_one_that_is_used(client, connected, monkeypatch):
    answers = iter([["93.184.216.34"], ["127.0.0.1"], ["127.0.0.1"]])

    def rebinding(host, port, *args, **kwargs):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in next(answers)]

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)

    with pytest.raises(PipelineError):
        client.page("http://rebinding.example/robots.txt")

    assert connected == ["93.184.216.34"]


def test_a_private_host_is_fetched_only_where_it_is_named_with_its_port(city):
    city.page("/", "hello")
    name, port = city.host.split(":")
    with Client(gate=LocalGate(0), private_hosts=[f"{name}:{int(port) + 1}"]) as stranger:
        with pytest.raises(PipelineError, match="not on the open internet"):
            stranger.page(f"{city.url}/")
    with Client(gate=LocalGate(0), private_hosts=[name]) as friend:
        assert friend.page(f"{city.url}/").text == "hello"


def test_no_private_host_is_fetched_by_default(city):
    with Client(gate=LocalGate(0)) as client, pytest.raises(PipelineError) as refused:
        client.page(f"{city.url}/")

    assert refused.value.code == "unsafe_address"
    assert city.asked == []


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "64:ff9b::808:808"])
def test_the_open_internet_is_open(address):
    assert is_public(address)


def test_proxies_of_the_environment_are_not_used(city, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    city.page("/", "hello")
    with Client(gate=LocalGate(0), private_hosts=[city.host]) as client:
        assert client.page(f"{city.url}/").text == "hello"
