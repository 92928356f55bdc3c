"""The towns' web server: a page for each body, and the papers that it links to."""

import hashlib
import threading
from dataclasses import dataclass, field
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from typing import Any

from demo.printing import content_of
from demo.towns import TOWNS, Body, Paper, Town, papers


@dataclass(frozen=True)
class Page:
    content: bytes
    content_type: str

    @property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.content).hexdigest()[:16]}"'


@dataclass
class CityHall:
    """`with CityHall() as hall:` serves every town on a free port of the loopback address."""

    pages: dict[str, Page] = field(default_factory=dict)

    def __enter__(self) -> "CityHall":
        self.pages = published()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self.pages))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    def address(self, town: Town, body: Body) -> str:
        return f"http://{self.host}/{town.subdomain}/{body.path}/"


def published() -> dict[str, Page]:
    """Every address that answers."""
    found = {
        "/robots.txt": Page(b"User-agent: *\nAllow: /\n", "text/plain"),
        "/": _page("Three towns", _towns()),
    }
    for town in TOWNS:
        found[f"/{town.subdomain}/"] = _page(town.name, _bodies(town))
        for body, group in groupby(papers(town), key=lambda paper: paper.body):
            listed = list(group)
            found[f"/{town.subdomain}/{body.path}/"] = _page(body.name, _meetings(listed))
            for paper in listed:
                content = content_of(paper)
                if content is not None:
                    found[paper.path] = Page(
                        content, "application/pdf" if content[:4] == b"%PDF" else "text/html"
                    )
    return found


def _page(title: str, body: str) -> Page:
    head = f"<!doctype html><html><head><title>{escape(title)}</title></head>"
    html = f"{head}<body><h1>{escape(title)}</h1>{body}</body></html>"
    return Page(html.encode(), "text/html; charset=utf-8")


def _towns() -> str:
    return "".join(
        f'<p><a href="/{town.subdomain}/">{escape(town.name)}, {town.state}</a></p>' for town in TOWNS
    )


def _bodies(town: Town) -> str:
    return "".join(f'<p><a href="{body.path}/">{escape(body.name)}</a></p>' for body in town.bodies)


def _meetings(listed: list[Paper]) -> str:
    rows = []
    for day, of_day in groupby(listed, key=lambda paper: paper.day):
        links = "".join(f'<td><a href="{paper.path}">{paper.kind.title()}</a></td>' for paper in of_day)
        rows.append(f"<tr><td>{day:%B %-d, %Y}</td>{links}</tr>")
    return f"<table>{''.join(rows)}</table>"


def _handler_for(pages: dict[str, Page]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            page = pages.get(self.path.partition("?")[0])
            if page is None:
                self.send_error(HTTPStatus.NOT_FOUND)
            elif self.headers.get("If-None-Match") == page.etag:
                self._answer(HTTPStatus.NOT_MODIFIED, page, b"")
            else:
                self._answer(HTTPStatus.OK, page, page.content)

        def _answer(self, status: HTTPStatus, page: Page, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", page.content_type)
            self.send_header("ETag", page.etag)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """The demo's screen is for the pipeline."""

    return Handler
