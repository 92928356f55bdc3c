"""The gate: one request at a time to a host, with a gap, whoever asks."""

import threading
import time
from itertools import pairwise

import django_rq
import pytest

from pipeline.errors import SourceError
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.gate import LocalGate, RedisGate
from pipeline.work.fetch.robots import RedisCache
from tests.fakecity import FakeCity

GAP = 0.05


@pytest.fixture
def connection():
    return django_rq.get_connection("fetch")


def gaps(times: list[float]) -> list[float]:
    ordered = sorted(times)
    return [later - earlier for earlier, later in pairwise(ordered)]


@pytest.mark.slow
def test_eight_workers_with_twenty_sites_on_one_host_never_fall_below_the_gap(in_processes):
    sites, workers = 20, 8
    with FakeCity() as city:
        city.answer("/", lambda request: None)
        for site in range(sites):
            for document in range(2):
                city.pdf(f"/site{site}/{document}.pdf", b"%PDF-1.4", delay=0.002 * (site % 5))

        def work(number: int) -> None:
            own = django_rq.get_connection("fetch")
            client = Client(gate=RedisGate(own, GAP), cache=RedisCache(own), private_hosts=[city.host])
            for site in range(number, sites, workers):
                for document in range(2):
                    client.page(f"{city.url}/site{site}/{document}.pdf")

        codes = in_processes(workers, work)

    assert codes == [0] * workers
    assert len(city.gets()) == 2 * sites
    # robots.txt is a request to the host like any other, and is remembered for all workers.
    assert len(city.asked) - 2 * sites < workers
    assert min(gaps([asked.at for asked in city.asked])) >= GAP


def test_hosts_do_not_wait_for_each_other(connection):
    gate = RedisGate(connection, 5)
    began = time.monotonic()

    for host in ("a.example", "b.example", "c.example"):
        with gate.turn(host):
            pass

    assert time.monotonic() - began < 1


def test_two_requests_to_a_host_never_overlap(connection):
    gate, inside, most = RedisGate(connection, 0.01), [0], [0]

    def ask() -> None:
        with gate.turn("a.example"):
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            time.sleep(0.03)
            inside[0] -= 1

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert most[0] == 1


def test_a_turn_of_a_killed_worker_ends_with_its_lease(connection):
    killed = RedisGate(connection, 0.01, lease=0.3)
    turn = killed.turn("a.example")
    turn.__enter__()  # and never left

    began = time.monotonic()
    with RedisGate(connection, 0.01).turn("a.example"):
        waited = time.monotonic() - began

    assert 0.2 < waited < 2


def test_a_long_download_keeps_its_turn(connection):
    gate = RedisGate(connection, 0.01, lease=0.4)
    with gate.turn("a.example") as turn:
        for _ in range(8):
            time.sleep(0.1)
            turn.renew()
        impatient = RedisGate(connection, 0.01, patience=0.05)
        with pytest.raises(SourceError), impatient.turn("a.example"):
            pass


def test_a_late_worker_does_not_give_back_somebody_elses_turn(connection):
    late = RedisGate(connection, 0.01, lease=0.1).turn("a.example")
    late.__enter__()
    time.sleep(0.2)
    with RedisGate(connection, 0.01, lease=5).turn("a.example"):
        late.__exit__(None, None, None)
        with pytest.raises(SourceError), RedisGate(connection, 0.01, patience=0.05).turn("a.example"):
            pass


@pytest.mark.parametrize(
    "make", [lambda redis: RedisGate(redis, 0, patience=1), lambda redis: LocalGate(0, 1)]
)
def test_a_host_that_asked_to_be_left_alone_is_left_alone(make, connection):
    gate = make(connection)
    gate.hold("a.example", 60)

    with pytest.raises(SourceError) as caught, gate.turn("a.example"):
        pass

    assert caught.value.code == "host_busy"
    assert caught.value.retry_after == pytest.approx(60, abs=2)
