"""The fake municipality's web server: pages by path, faults on demand, and a log of who asked for what."""

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    at: float
    status: int
    # What was sent back: its type, and how much of it.
    content_type: str
    sent: int


@dataclass
class Reply:
    body: bytes = b""
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    validators: bool = True
    delay: float = 0
    # Bytes sent before the connection breaks although more were promised.
    truncate_at: int | None = None
    # Seconds between two small pieces of the body.
    drip: float = 0


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


class QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what these tests are about."""


Handler = Callable[[Request], Reply | None]


class FakeCity:
    """`with FakeCity() as city:`, then `city.page(path, …)`; `city.asked` is its log."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._replies: dict[str, list[Reply]] = {}
        self._handlers: list[tuple[str, Handler]] = []
        self._lock = threading.Lock()
        self._server = QuietServer(("127.0.0.1", 0), _handler_class(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> "FakeCity":
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    def page(
        self, path: str, body: bytes | str, content_type: str = "text/html; charset=utf-8", **more: Any
    ) -> str:
        """Publish; later calls for the same path replace what was there. Gives the full address."""
        content = body.encode() if isinstance(body, str) else body
        self._replies[path] = [Reply(content, content_type, **more)]
        return self.url + path

    def pdf(self, path: str, content: bytes, **more: Any) -> str:
        return self.page(path, content, "application/pdf", **more)

    def redirect(self, path: str, target: str, status: int = 302) -> str:
        return self.page(path, b"", status=status, headers={"Location": target})

    def fault(self, path: str, times: int = 1, **reply: Any) -> None:
        """Answer the next `times` requests for this path badly, then as before."""
        self._replies[path] = [Reply(**reply)] * times + self._replies.get(path, [])

    def robots(self, text: str) -> None:
        self.page("/robots.txt", text, "text/plain")

    def answer(self, prefix: str, handler: Handler) -> None:
        """A function that answers every path below the prefix (None: not found)."""
        self._handlers.append((prefix, handler))

    def gets(self, path: str = "") -> list[Asked]:
        """What was asked for, robots.txt apart."""
        return [asked for asked in self.asked if asked.path != "/robots.txt" and asked.path.startswith(path)]

    def reply_to(self, request: Request) -> Reply:
        with self._lock:
            waiting = self._replies.get(request.path)
            if waiting:
                return waiting.pop(0) if len(waiting) > 1 else waiting[0]
        for prefix, handler in self._handlers:
            if request.path.startswith(prefix):
                found = handler(request)
                if found is not None:
                    return found
        return Reply(b"<html><h1>404 Not Found</h1></html>", status=404)

    def log(self, asked: Asked) -> None:
        with self._lock:
            self.asked.append(asked)


def _handler_class(city: FakeCity) -> type[BaseHTTPRequestHandler]:
    class CityHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def do_HEAD(self) -> None:
            self._serve()

        def _serve(self) -> None:
            arrived = time.time()
            request = self._read()
            reply = city.reply_to(request)
            etag = f'"{hashlib.md5(reply.body).hexdigest()}"'
            fresh = reply.validators and reply.status == 200 and request.headers.get("if-none-match") == etag
            status = 304 if fresh else reply.status
            values = (request.method, request.path, request.query, request.headers, request.body)
            sent = 0 if fresh else len(reply.body)
            city.log(Asked(*values, arrived, status, reply.content_type, sent))
            time.sleep(reply.delay)
            try:
                self._send(reply, status, etag)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _read(self) -> Request:
            parts = urlsplit(self.path)
            query = {
                name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()
            }
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", 0)))
            return Request(self.command, parts.path, query, headers, body)

        def _send(self, reply: Reply, status: int, etag: str) -> None:
            self.send_response(status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.validators and reply.status == 200:
                self.send_header("ETag", etag)
            if status == 304:
                self.end_headers()
                return
            self.send_header("Content-Type", reply.content_type)
            if "Content-Length" not in reply.headers:
                self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            for piece in _pieces(reply):
                self.wfile.write(piece)
                self.wfile.flush()
            if reply.truncate_at is not None:
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return CityHandler


def _pieces(reply: Reply) -> Iterator[bytes]:
    body = reply.body if reply.truncate_at is None else reply.body[: reply.truncate_at]
    step = 16 if reply.drip else max(1, len(body))
    for start in range(0, len(body), step):
        yield body[start : start + step]
        time.sleep(reply.drip)
