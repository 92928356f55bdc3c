"""robots.txt: asked once a day per host, remembered for all workers."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from protego import Protego

REMEMBER_SECONDS = 24 * 3600
LONGEST_DELAY = 60.0


class Cache(Protocol):
    def get(self, key: str) -> str | None: ...
    def set(self, key: str, value: str, seconds: int) -> None: ...


class MemoryCache:
    def __init__(self) -> None:
        self._kept: dict[str, tuple[float, str]] = {}

    def get(self, key: str) -> str | None:
        until, value = self._kept.get(key, (0.0, ""))
        return value if until > time.monotonic() else None

    def set(self, key: str, value: str, seconds: int) -> None:
        self._kept[key] = (time.monotonic() + seconds, value)


class RedisCache:
    """Shared by all workers: a job is a process of its own and would ask again each time."""

    def __init__(self, connection: Any, prefix: str = "clerk:") -> None:
        self._connection, self._prefix = connection, prefix

    def get(self, key: str) -> str | None:
        value = self._connection.get(self._prefix + key)
        return value.decode() if isinstance(value, bytes) else value

    def set(self, key: str, value: str, seconds: int) -> None:
        self._connection.set(self._prefix + key, value, ex=seconds)


@dataclass(frozen=True)
class Rules:
    allowed: bool
    delay: float


class Robots:
    """`ask` fetches a robots.txt: its text, empty where there is none; it raises where nobody can tell."""

    def __init__(self, ask: Callable[[str], str], user_agent: str, cache: Cache) -> None:
        self._ask, self._user_agent, self._cache = ask, user_agent, cache
        self._parsed: dict[str, Protego] = {}

    def rules(self, url: str) -> Rules:
        parts = urlsplit(url)
        rules = self._rules_of(f"{parts.scheme}://{parts.netloc}")
        delay = rules.crawl_delay(self._user_agent) or 0.0
        return Rules(rules.can_fetch(url, self._user_agent), min(delay, LONGEST_DELAY))

    def _rules_of(self, origin: str) -> Protego:
        if origin not in self._parsed:
            text = self._cache.get(f"robots:{origin}")
            if text is None:
                text = self._ask(f"{origin}/robots.txt")
                self._cache.set(f"robots:{origin}", text, REMEMBER_SECONDS)
            self._parsed[origin] = Protego.parse(text)
        return self._parsed[origin]
