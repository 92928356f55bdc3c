"""What a server answered: pages held in memory, and bodies that are read piece by piece within limits."""

import codecs
import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from pipeline.errors import DocumentError, SourceError
from pipeline.work.fetch.gate import Turn
from pipeline.work.fetch.unpacking import unpack

# Codecs that Python has and no page is written in; some take quadratic time, some refuse to go on.
NO_CHARSETS = {"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "utf-7"}
# Pages that say so mean its superset, as every browser knows.
MEANT = {"iso8859-1": "cp1252", "ascii": "cp1252"}


@dataclass(frozen=True)
class Limits:
    connect_seconds: float = 15
    read_seconds: float = 45
    total_seconds: float = 900
    page_bytes: int = 30 * 1024 * 1024
    file_bytes: int = 500 * 1024 * 1024
    redirects: int = 8
    retries: int = 2
    # The longest pause between two tries inside a job; what asks for more goes back to the queue.
    patience_seconds: float = 20
    backoff_seconds: float = 1


@dataclass(frozen=True)
class Page:
    url: str
    content: bytes
    headers: Mapping[str, str]

    @property
    def text(self) -> str:
        try:
            name = codecs.lookup(self._charset()).name
            name = "utf-8" if name in NO_CHARSETS else MEANT.get(name, name)
            return self.content.decode(name, errors="replace")
        except LookupError:
            return self.content.decode(errors="replace")

    def _charset(self) -> str:
        declared = re.search(r"charset=[\"']?([\w.:-]+)", self.headers.get("content-type", ""), re.I)
        inside = re.search(rb"<meta[^>]{0,200}charset=[\"']?([\w.:-]+)", self.content[:4096], re.I)
        if declared:
            return declared.group(1)
        return inside.group(1).decode("ascii", "replace") if inside else "utf-8"

    def json(self) -> Any:
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError) as error:
            raise SourceError(f"{self.url} did not answer with JSON", code="bad_json") from error


@dataclass
class Answer:
    """A response whose body has not been read yet; its host's turn is held until it is closed."""

    response: httpx.Response
    turn: Turn
    deadline: float
    limits: Limits = field(default_factory=Limits)

    def chunks(self, most: int) -> Iterator[bytes]:
        """The body, unpacked. Both what is sent and what it unpacks to may be `most` bytes."""
        declared = self.response.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > most:
            raise DocumentError(
                f"{self.response.url} has {declared} bytes, over the {most} allowed", code="too_large"
            )
        if "," in self.response.headers.get("content-encoding", ""):
            # Each layer multiplies what a small body unpacks to.
            raise DocumentError(f"{self.response.url} is packed more than once", code="bad_encoding")
        yield from self._unpacked(self._raw(most), most)

    def _raw(self, most: int) -> Iterator[bytes]:
        size = 0
        for piece in self.response.iter_raw():
            size += len(piece)
            if size > most:
                raise DocumentError(f"{self.response.url} is over the {most} bytes allowed", code="too_large")
            if time.monotonic() > self.deadline:
                raise SourceError(f"{self.response.url} was too slow", code="timeout_total")
            self.turn.check()
            yield piece

    def _unpacked(self, pieces: Iterator[bytes], most: int) -> Iterator[bytes]:
        size = 0
        for piece in unpack(
            pieces, self.response.headers.get("content-encoding", ""), str(self.response.url)
        ):
            size += len(piece)
            if size > most:
                raise DocumentError(f"{self.response.url} is over the {most} bytes allowed", code="too_large")
            yield piece
