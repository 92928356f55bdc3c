"""This machine's clock beside that of Redis, by which all machines tell whether a job is alive."""

import time

import django_rq
from redis.exceptions import RedisError

MOST_SECONDS = 30


class WrongClock(Exception):
    """Work with this clock would be taken for dead, or would take others' for it."""


def skew() -> float:
    """Seconds that this machine is ahead of Redis; negative when behind."""
    before = time.time()
    seconds, micro = django_rq.get_connection("high").time()
    return (before + time.time()) / 2 - (seconds + micro / 1e6)


def fault() -> str:
    """What is wrong with the clock, in words; empty when nothing is, or when Redis cannot be asked."""
    try:
        off = skew()
    except RedisError:
        return ""
    if abs(off) <= MOST_SECONDS:
        return ""
    way = "ahead of" if off > 0 else "behind"
    return f"the clock of this machine is {abs(off):.0f} s {way} that of Redis; set it (chrony, ntpd)"


def check() -> None:
    found = fault()
    if found:
        raise WrongClock(found)
