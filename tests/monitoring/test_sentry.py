"""A bug in a job arrives at a receiver of our own, saying where it happened and nothing secret."""

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import sentry_sdk
import structlog
from django.core.exceptions import ImproperlyConfigured

from clerk_project import sentry
from pipeline import flow, redaction
from tests.test_settings import SAFE
from tests.test_settings import load as load

SECRET = "correct-horse-battery"


@pytest.fixture
def received() -> Iterator[list[dict[str, Any]]]:
    """Every event that reaches the receiver."""
    events: list[dict[str, Any]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            lines = [json.loads(line) for line in body.splitlines() if line.startswith(b"{")]
            events.extend(line for line in lines if "exception" in line or "logentry" in line)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *arguments: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sentry.start(f"http://key@127.0.0.1:{server.server_port}/3", "1.2.3", "drill")
    yield events
    sentry_sdk.get_client().close(timeout=2)
    sentry_sdk.init()  # nowhere, for the tests to come
    server.shutdown()
    server.server_close()


@pytest.mark.django_db(transaction=True)
def test_a_bug_in_a_job_arrives_with_its_site_run_stage_and_job(
    received, make_site, run_jobs, trivial_jobs
) -> None:
    site = make_site(titles=["crash", "bad", "ok"])
    run_id = flow.start(site.pk)
    run_jobs()
    sentry_sdk.flush(5)

    bugs = [event for event in received if "ZeroDivisionError" in json.dumps(event)]
    assert bugs
    assert bugs[0]["release"] == "clerk@1.2.3"
    tags = bugs[0]["tags"]
    assert (tags["site"], tags["stage"]) == (site.pk, "ocr")
    assert tags["job"].startswith("ocr-")
    assert run_id is None or tags["run"] == str(getattr(run_id, "pk", run_id))
    # A document that is broken is no bug of ours.
    raised = [value["type"] for event in received for value in event.get("exception", {}).get("values", [])]
    assert set(raised) == {"ZeroDivisionError"}


def test_no_secret_goes_along(received, monkeypatch) -> None:
    monkeypatch.setattr(redaction, "_secrets", [SECRET])
    structlog.contextvars.bind_contextvars(site="alameda.ca")
    hidden = {"inside": [f"token={SECRET}", f"postgres://clerk:{SECRET}@db/clerk"]}
    try:
        raise ValueError(f"cannot reach redis://:{SECRET}@queue:6379 with {hidden} and {SECRET}")
    except ValueError as error:
        sentry_sdk.capture_exception(error)
    sentry_sdk.flush(5)
    structlog.contextvars.clear_contextvars()

    [event] = received
    assert SECRET not in json.dumps(event)
    assert event["tags"]["site"] == "alameda.ca"
    frames = event["exception"]["values"][0]["stacktrace"]["frames"]
    assert not any("vars" in frame for frame in frames)


def test_an_address_that_is_none_is_refused_without_being_shown(load) -> None:
    with pytest.raises(ImproperlyConfigured, match="SENTRY_DSN") as refused:
        load(**SAFE, SENTRY_DSN="sentry-key-4711")

    assert "4711" not in str(refused.value)
