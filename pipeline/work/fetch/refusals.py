"""What statuses and httpx's errors mean, as errors of ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from pipeline.errors import DocumentError, PipelineError, SourceError

# Worth another try although they are the client's fault on paper: firewalls and rate limits answer so.
PASSING = {403, 408, 425, 429}
PARTIAL = 206


def check_status(response: httpx.Response) -> None:
    """Raise what the status means; nothing for a success."""
    status = response.status_code
    if status < 300 and status != PARTIAL:
        return
    message = f"{response.url} answered {status} {response.reason_phrase}".strip()
    # Nobody asked for a part of it, and a part must not pass for the whole.
    if status in PASSING or status == PARTIAL:
        raise SourceError(message, code=f"http_{status}", retry_after=retry_after(response))
    if status >= 500:
        raise SourceError(message, code="http_5xx", retry_after=retry_after(response))
    raise DocumentError(message, code=f"http_{status}")


def retry_after(response: httpx.Response) -> float | None:
    """Seconds to wait, from either form of the header."""
    value = response.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


@contextmanager
def typed_errors(url: str) -> Iterator[None]:
    """httpx's errors as ours, at the border."""
    try:
        yield
    except PipelineError:
        raise
    except httpx.ConnectTimeout as error:
        raise SourceError(f"{url} did not accept a connection in time", code="timeout_connect") from error
    except httpx.TimeoutException as error:
        raise SourceError(f"{url} did not answer in time", code="timeout_read") from error
    except httpx.ConnectError as error:
        code = (
            "tls_failed" if "SSL" in str(error) or "certificate" in str(error).lower() else "connect_failed"
        )
        raise SourceError(f"{url}: {error}", code=code) from error
    except httpx.RemoteProtocolError as error:
        code = (
            "truncated"
            if "complete message body" in str(error) or "incomplete" in str(error)
            else "bad_protocol"
        )
        raise SourceError(f"{url}: {error}", code=code) from error
    except httpx.DecodingError as error:
        raise SourceError(f"{url}: {error}", code="bad_encoding") from error
    except (httpx.InvalidURL, UnicodeError) as error:
        raise DocumentError(f"{url!r} is not a usable address: {error}", code="bad_url") from error
    except httpx.HTTPError as error:
        raise SourceError(f"{url}: {type(error).__name__} {error}", code="connect_failed") from error
