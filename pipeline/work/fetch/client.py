"""The one HTTP client: checked addresses, politeness, robots, limits, typed errors."""

import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import httpcore
import httpx

from pipeline.errors import DocumentError, PipelineError, SourceError
from pipeline.work.fetch.addresses import CheckedBackend, PrivateHosts
from pipeline.work.fetch.allowance import Allowance, BoundedJar
from pipeline.work.fetch.answers import Answer, Limits, Page
from pipeline.work.fetch.gate import Gate, LocalGate
from pipeline.work.fetch.refusals import check_status, retry_after, typed_errors
from pipeline.work.fetch.robots import Cache, MemoryCache, Robots

REDIRECTS = {301, 302, 303, 307, 308}
DEFAULT_RETRY_AFTER = 30.0
# What comes before a body: headers, and answers that are not the last word (100 Continue).
HEAD_BYTES = 1024 * 1024


@cache
def _tls() -> ssl.SSLContext:
    """Certificates are always checked. Reading them takes long enough to do it once per process."""
    return httpx.create_ssl_context()


class CheckedTransport(httpx.HTTPTransport):
    """httpx's transport over a pool whose connections go only to checked addresses."""

    def __init__(self, private_hosts: PrivateHosts, allowance: Allowance) -> None:
        super().__init__(verify=_tls(), trust_env=False)
        self._pool = httpcore.ConnectionPool(
            ssl_context=_tls(),
            max_connections=10,
            keepalive_expiry=5,
            network_backend=CheckedBackend(private_hosts, allowance),
        )


class Client:
    """Ask here for every page and file: `page`, `post`, or `answer` for a body too large to hold."""

    def __init__(
        self,
        *,
        gate: Gate | None = None,
        cache: Cache | None = None,
        private_hosts: Iterable[str] = (),
        robots_exempt_hosts: Iterable[str] = (),
        local_dirs: Iterable[Path] = (),
        user_agent: str = "Clerk/1.0 (civic records archive)",
        limits: Limits | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self._local_dirs = [Path(folder).resolve() for folder in local_dirs]
        self._gate = gate or LocalGate()
        self._exempt = {host.lower() for host in robots_exempt_hosts}
        self._robots = Robots(self._robots_text, user_agent.partition("/")[0].strip(), cache or MemoryCache())
        self._allowance = Allowance()
        self._http = httpx.Client(
            transport=CheckedTransport(PrivateHosts(private_hosts), self._allowance),
            cookies=BoundedJar(),
            headers={"User-Agent": user_agent, "Accept": "*/*", "Accept-Encoding": "gzip, deflate"},
            timeout=httpx.Timeout(self.limits.read_seconds, connect=self.limits.connect_seconds),
            follow_redirects=False,
            # No proxies or .netrc from the environment: a proxy would connect where no address was checked.
            trust_env=False,
        )

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def page(
        self, url: str, *, params: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
    ) -> Page:
        return self._page("GET", url, params=params, headers=headers)

    def post(
        self,
        url: str,
        *,
        data: Mapping[str, Any] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Page:
        return self._page("POST", url, data=data, json=json, headers=headers)

    def _page(self, method: str, url: str, **parts: Any) -> Page:
        for retry in range(self.limits.retries + 1):
            try:
                with self.answer(method, url, **parts) as answer:
                    check_status(answer.response)
                    content = b"".join(answer.chunks(self.limits.page_bytes))
                    return Page(str(answer.response.url), content, answer.response.headers)
            except SourceError as error:
                pause = max(error.retry_after or 0, self.limits.backoff_seconds * 2**retry)
                if retry == self.limits.retries or pause > self.limits.patience_seconds:
                    raise
                time.sleep(pause)
        raise AssertionError("the last try returns or raises")

    @contextmanager
    def answer(self, method: str, url: str, **parts: Any) -> Iterator[Answer]:
        """The response after redirects; each hop is checked, polite and allowed by robots on its own."""
        request = self._request(method, url, **parts)
        seconds = self.limits.total_seconds
        for _ in range(self.limits.redirects + 1):
            delay = self._obey_robots(request.url)
            with self._gate.turn(_host(request.url), delay) as turn, typed_errors(str(request.url)):
                # Waiting for a turn is not the server's fault, and not on its clock.
                deadline = time.monotonic() + seconds
                self._allowance.open(deadline, HEAD_BYTES)
                response = self._http.send(request, stream=True)
                try:
                    self._note_pause(response)
                    following = self._next_hop(response)
                    if following is None:
                        # The pieces of a body have heads of their own; `chunks` counts what is in them.
                        self._allowance.open(deadline, 2 * self.limits.file_bytes + HEAD_BYTES)
                        yield Answer(response, turn, deadline, self.limits)
                        return
                finally:
                    response.close()
            seconds = max(0.0, deadline - time.monotonic())
            request = following
        raise DocumentError(f"{url} redirects more than {self.limits.redirects} times", code="redirect_loop")

    def local_path(self, url: str) -> Path:
        """The file or folder that a path or file: URL names, if it lies in a folder that may be read."""
        parts = urlsplit(url)
        path = Path(unquote(parts.path) if parts.scheme == "file" else url).resolve()
        if not any(path.is_relative_to(folder) for folder in self._local_dirs):
            raise DocumentError(f"{path} is not in a folder that FETCH_LOCAL_DIRS names", code="bad_url")
        return path

    def _request(self, method: str, url: str, **parts: Any) -> httpx.Request:
        with typed_errors(url):
            request = self._http.build_request(method, url, **parts)
        _check_url(request.url)
        return request

    def _next_hop(self, response: httpx.Response) -> httpx.Request | None:
        if response.status_code not in REDIRECTS or "location" not in response.headers:
            return None
        if response.next_request is None:
            raise DocumentError(f"{response.url} redirects to nowhere", code="bad_redirect")
        _check_url(response.next_request.url)
        return response.next_request

    def _note_pause(self, response: httpx.Response) -> None:
        """429 and 503 speak for the host: all workers leave it alone for as long as it asks."""
        if response.status_code in (429, 503):
            self._gate.hold(_host(response.url), min(retry_after(response) or DEFAULT_RETRY_AFTER, 3600))

    def _obey_robots(self, url: httpx.URL) -> float:
        if (
            url.path == "/robots.txt"
            or _host(url) in self._exempt
            or (url.host or "").lower() in self._exempt
        ):
            return 0.0
        rules = self._robots.rules(str(url))
        if not rules.allowed:
            raise DocumentError(f"robots.txt of {url.host} does not allow {url}", code="robots_disallowed")
        return rules.delay

    def _robots_text(self, url: str) -> str:
        try:
            page = self.page(url)
        except PipelineError as error:
            if error.code.startswith("http_4") and error.code != "http_429":
                return ""
            raise
        # A page where robots.txt should be (a site that answers everything with its home page) has no rules.
        return "" if page.content.lstrip()[:1] == b"<" else page.text[:500_000]


def _host(url: httpx.URL) -> str:
    """The politeness key: name and port, so that two servers on one test machine are two hosts."""
    name = url.host.lower().rstrip(".")
    return f"{name}:{url.port}" if url.port else name


def _check_url(url: httpx.URL) -> None:
    if url.scheme not in ("http", "https") or not url.host:
        raise DocumentError(f"{url} is not an http address", code="bad_url")
    if url.userinfo:
        raise DocumentError(f"{url} carries a user name", code="bad_url")
