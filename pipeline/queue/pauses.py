"""Queues that stand still, on one machine or on all, while something that their jobs need is away."""

import json
import os
import time
from dataclasses import dataclass
from typing import Any

import structlog
from redis.exceptions import RedisError

from pipeline.queue import connection

log = structlog.get_logger()

KEY = "clerk:pauses"
EVERYWHERE = "*"
# Seconds of the first pause and, doubled each time in a row, of the longest.
SHORTEST, LONGEST = 15, 300
# Trouble that came this long after the last one is another one.
MEMORY = 3600


@dataclass(frozen=True)
class Pause:
    queue: str
    where: str
    reason: str
    since: float
    until: float
    times: int


def this_machine() -> str:
    return os.uname().nodename


def pause(queue: str, where: str, reason: str) -> float:
    """Take no more jobs of this queue there for a while, longer each time in a row; for how many seconds."""
    now, place = time.time(), f"{queue}:{where}"
    try:
        redis = _redis()
        before = _read(place, redis.hget(KEY, place))
        if before and before.until > now:
            return before.until - now  # another worker has met the same trouble
        recent = before if before and before.until > now - MEMORY else None
        times = recent.times + 1 if recent else 1
        seconds = float(min(SHORTEST * 2 ** (times - 1), LONGEST))
        told = {"reason": reason[:500], "since": recent.since if recent else now, "times": times}
        redis.hset(KEY, place, json.dumps(told | {"until": now + seconds}))
    except RedisError as error:
        log.warning("the pause of a queue could not be noted", queue=queue, error=str(error))
        return SHORTEST
    log.warning("queue paused", queue=queue, where=where, seconds=seconds, reason=reason)
    return seconds


def lift(queue: str) -> None:
    """A job went well here: whatever was in the way is gone."""
    try:
        _redis().hdel(KEY, *_places(queue))
    except RedisError as error:
        log.warning("the pause of a queue could not be lifted", queue=queue, error=str(error))


def reason_to_wait(queue: str) -> str:
    """Why this machine takes no job of this queue now; empty when it may."""
    for place, value in zip(_places(queue), _redis().hmget(KEY, _places(queue)), strict=True):
        found = _read(place, value)
        if found and found.until > time.time():
            return found.reason
    return ""


def current() -> list[Pause]:
    """Every trouble that nobody has seen the end of, while it is fresh; empty when Redis does not answer."""
    try:
        entries = _redis().hgetall(KEY)
    except RedisError:
        return []
    found = (_read(place.decode(), value) for place, value in sorted(entries.items()))
    return [each for each in found if each and each.until > time.time() - MEMORY]


def _places(queue: str) -> list[str]:
    return [f"{queue}:{this_machine()}", f"{queue}:{EVERYWHERE}"]


def _read(place: str, value: bytes | None) -> Pause | None:
    if value is None:
        return None
    queue, _, where = place.partition(":")
    return Pause(queue, where, **json.loads(value))


def _redis() -> Any:
    return connection.redis()
