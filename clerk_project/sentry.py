"""Bugs are sent to Sentry where SENTRY_DSN says so: with site, run, stage and job, and without secrets."""

from typing import Any

import sentry_sdk
import structlog

from pipeline.redaction import redact

TAGS = ("site", "run", "stage", "job", "request")


def start(dsn: str, version: str, environment: str) -> None:
    sentry_sdk.init(
        dsn=dsn,
        release=f"clerk@{version}",
        environment=environment or None,
        before_send=prepared,
        before_breadcrumb=lambda crumb, hint: scrubbed(crumb),
        # What stood in variables, and what people sent, is not needed to fix a bug.
        include_local_variables=False,
        max_request_body_size="never",
    )


def prepared(event: Any, hint: dict[str, Any]) -> Any:
    """What the log lines of this moment carry becomes tags, and no password goes along."""
    bound = structlog.contextvars.get_contextvars()
    tags = {name: str(bound[name]) for name in TAGS if name in bound}
    event["tags"] = {**(event.get("tags") or {}), **tags}
    return scrubbed(event)


def scrubbed(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: scrubbed(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [scrubbed(each) for each in value]
    return value
