"""The gate: one request at a time to a host, with a gap, whoever asks."""

import os
import signal
import threading
import time
from itertools import pairwise
from multiprocessing import get_context
from types import SimpleNamespace

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


LOST = 7


@pytest.fixture
def holder():
    """A worker of its own process that holds the turn of a.example until it is told to go on."""
    context = get_context("fork")
    holding, go_on = context.Event(), context.Event()

    def hold() -> None:
        gate = RedisGate(django_rq.get_connection("fetch"), 0.01, lease=0.4)
        try:
            with gate.turn("a.example") as turn:
                holding.set()
                go_on.wait()
                time.sleep(0.3)
                turn.check()
        except SourceError:
            os._exit(LOST)

    process = context.Process(target=hold)
    process.start()
    assert holding.wait(20)
    yield SimpleNamespace(process=process, go_on=go_on)
    process.kill()
    process.join()


def is_taken(connection) -> bool:
    try:
        with RedisGate(connection, 0.01, patience=0.05).turn("a.example"):
            return False
    except SourceError:
        return True


def test_a_turn_is_kept_however_long_the_server_takes(connection, holder):
    time.sleep(1.2)

    assert is_taken(connection)
    holder.go_on.set()
    holder.process.join()
    assert holder.process.exitcode == 0
    assert not is_taken(connection)


def test_the_turn_of_a_killed_worker_ends_with_its_lease(connection, holder):
    holder.process.kill()
    holder.process.join()

    with RedisGate(connection, 0.01, patience=20).turn("a.example"):
        assert is_taken(connection)


def test_a_worker_that_stood_still_notices_and_does_not_give_back_somebody_elses_turn(connection, holder):
    os.kill(holder.process.pid, signal.SIGSTOP)
    with RedisGate(connection, 0.01, patience=20).turn("a.example"):
        os.kill(holder.process.pid, signal.SIGCONT)
        holder.go_on.set()
        holder.process.join()

        assert holder.process.exitcode == LOST
        assert is_taken(connection)


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
