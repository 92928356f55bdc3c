"""Politeness: one connection and a minimum gap a host, for one process or for all workers together."""

import secrets
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, Protocol

import redis

from pipeline.errors import SourceError

BUSY = "host_busy"
# A host that wants to be left alone for longer than this gives the worker back to other hosts.
LONGEST_STAND = 60.0
# So long a killed worker blocks its host, and so long a living one may be kept from saying that it lives.
LEASE = 12.0


class Turn(Protocol):
    def check(self) -> None:
        """Raise if the turn is no longer ours: whoever has it now must not find a second connection."""


class Gate(Protocol):
    def turn(self, host: str, gap: float = 0) -> AbstractContextManager[Turn]:
        """Wait for the host's turn and hold it; `gap` may lengthen the set one (a robots crawl delay)."""

    def hold(self, host: str, seconds: float) -> None:
        """Nobody asks this host again before that many seconds have passed."""


class LocalGate:
    """The gate of one process, for commands and previews that run without a Redis."""

    def __init__(self, gap: float = 1.0, patience: float = 600) -> None:
        self._gap, self._patience = gap, patience
        self._locks: dict[str, threading.Lock] = defaultdict(threading.Lock)
        self._next: dict[str, float] = defaultdict(float)

    @contextmanager
    def turn(self, host: str, gap: float = 0) -> Iterator["LocalGate"]:
        with self._locks[host]:
            wait = self._next[host] - time.monotonic()
            if wait > self._patience:
                raise SourceError(
                    f"{host} asked to be left alone for {wait:.0f} s", code=BUSY, retry_after=wait
                )
            time.sleep(max(0, wait))
            try:
                yield self
            finally:
                self.hold(host, max(gap, self._gap))

    def check(self) -> None:
        """A lock in memory is not lost."""

    def hold(self, host: str, seconds: float) -> None:
        self._next[host] = max(self._next[host], time.monotonic() + seconds)


# Redis keeps the time, so that workers with different clocks agree. KEYS: lease, next. Answer: ms to wait,
# 0 when the turn is ours.
_TAKE = """
local now = redis.call('TIME')
now = now[1] * 1000 + math.floor(now[2] / 1000)
local held = redis.call('PTTL', KEYS[1])
if held > 0 then return math.max(1, math.min(held, tonumber(ARGV[3]))) end
local next = tonumber(redis.call('GET', KEYS[2]) or '0')
if next > now then return next - now end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('SET', KEYS[2], now + ARGV[3], 'PX', ARGV[3] + ARGV[2])
return 0
"""
# The gap counts from the end of a request: the next one then arrives at least that much after this one did.
_GIVE_BACK = """
local now = redis.call('TIME')
now = now[1] * 1000 + math.floor(now[2] / 1000)
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
local next = math.max(tonumber(redis.call('GET', KEYS[2]) or '0'), now + ARGV[2] + 1)
redis.call('SET', KEYS[2], next, 'PX', next - now + 1000)
return 1
"""
_HOLD = """
local now = redis.call('TIME')
now = now[1] * 1000 + math.floor(now[2] / 1000)
local next = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now + ARGV[1])
redis.call('SET', KEYS[1], next, 'PX', next - now + 1000)
return next
"""
_RENEW = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
"""


class RedisTurn:
    """A turn that a thread of its holder keeps up: a slow server does not end it, a killed process does."""

    def __init__(self, renew: Callable[[], bool], seconds: float) -> None:
        self._renew, self._seconds = renew, seconds
        self._over, self._lost = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._keep_up, daemon=True)

    def __enter__(self) -> "RedisTurn":
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._over.set()
        self._thread.join()

    def check(self) -> None:
        if self._lost.is_set():
            raise SourceError("this process stood still and lost its turn", code=BUSY)

    def _keep_up(self) -> None:
        while not self._over.wait(self._seconds):
            if not self._renew():
                self._lost.set()
                return


class RedisGate:
    """The gate that all workers on all machines share. A killed holder's turn ends with its lease."""

    def __init__(
        self,
        connection: Any,
        gap: float = 1.0,
        *,
        lease: float = LEASE,
        patience: float = 900,
        prefix: str = "clerk:host:",
    ) -> None:
        self.lease = lease
        self._gap, self._patience, self._prefix = gap, patience, prefix
        self._take, self._give_back, self._hold, self._renew = (
            connection.register_script(script) for script in (_TAKE, _GIVE_BACK, _HOLD, _RENEW)
        )

    @contextmanager
    def turn(self, host: str, gap: float = 0) -> Iterator[RedisTurn]:
        lease, following, token = (
            f"{self._prefix}{host}:lease",
            f"{self._prefix}{host}:next",
            secrets.token_hex(8),
        )
        gap_ms = int(1000 * max(gap, self._gap))
        self._wait(host, [lease, following], [token, int(1000 * self.lease), gap_ms])
        try:
            with RedisTurn(partial(self._still_ours, lease, token), self.lease / 4) as turn:
                yield turn
        finally:
            self._give_back(keys=[lease, following], args=[token, gap_ms])

    def _wait(self, host: str, keys: list[str], args: list[str | int]) -> None:
        deadline = time.monotonic() + self._patience
        while wait := int(self._take(keys=keys, args=args)) / 1000:
            if wait > LONGEST_STAND or time.monotonic() + wait > deadline:
                raise SourceError(f"{host} is busy for another {wait:.0f} s", code=BUSY, retry_after=wait)
            time.sleep(min(wait, 5) + secrets.randbelow(20) / 1000)

    def hold(self, host: str, seconds: float) -> None:
        self._hold(keys=[f"{self._prefix}{host}:next"], args=[int(1000 * seconds)])

    def _still_ours(self, key: str, token: str) -> bool:
        try:
            return bool(self._renew(keys=[key], args=[token, int(1000 * self.lease)]))
        except redis.RedisError:  # it cannot give the turn to anybody else either
            return True
