"""How much time and how many bytes a request may take, counted where they arrive: at the connection."""

import ssl
import time
from http.cookiejar import Cookie, CookieJar
from typing import Any

import httpcore

from pipeline.errors import DocumentError, SourceError


class Allowance:
    """What is left for the request that is under way. Headers that drip in count like everything else."""

    def __init__(self) -> None:
        self._deadline, self._bytes = float("inf"), float("inf")

    def open(self, deadline: float, most: float) -> None:
        self._deadline, self._bytes = deadline, most

    def seconds(self, timeout: float | None) -> float | None:
        """The timeout of the next step; an error when the time is up."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise SourceError("the server was too slow: the time for its answer is up", code="timeout_total")
        return left if timeout is None and left != float("inf") else min(timeout or left, left)

    def spend(self, count: int) -> None:
        self._bytes -= count
        if self._bytes < 0:
            raise DocumentError("the server sends more bytes than an answer may have", code="too_large")


class BoundedStream(httpcore.NetworkStream):
    """A connection that keeps to an allowance."""

    def __init__(self, stream: httpcore.NetworkStream, allowance: Allowance) -> None:
        self._stream, self._allowance = stream, allowance

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            piece = self._stream.read(max_bytes, self._allowance.seconds(timeout))
        except httpcore.ReadTimeout:
            self._allowance.seconds(timeout)  # which of the two times is up?
            raise
        self._allowance.spend(len(piece))
        return piece

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._allowance.seconds(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "BoundedStream":
        secured = self._stream.start_tls(ssl_context, server_hostname, self._allowance.seconds(timeout))
        return BoundedStream(secured, self._allowance)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class BoundedJar(CookieJar):
    """The cookies of one job: enough for a session, not for a server that fills memory with them."""

    MOST, LONGEST = 60, 4096

    def set_cookie(self, cookie: Cookie) -> None:
        known = any(
            (kept.domain, kept.path, kept.name) == (cookie.domain, cookie.path, cookie.name) for kept in self
        )
        fits = len(cookie.name) + len(cookie.value or "") <= self.LONGEST
        if fits and (known or len(self) < self.MOST):
            super().set_cookie(cookie)
