"""The one connection to Redis of this process, kept: a new one costs more than what is asked of it."""

from functools import cache

import django_rq
from django.conf import settings
from redis import Redis
from rq import Queue


def redis() -> Redis:
    """redis-py notices a fork and a server that went away, and connects anew."""
    return _kept(settings.RQ_QUEUES["high"]["URL"])


def queue(name: str) -> Queue:
    return django_rq.get_queue(name, connection=redis())


@cache
def _kept(url: str) -> Redis:
    return django_rq.get_connection("high")
