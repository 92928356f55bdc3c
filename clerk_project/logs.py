"""One form for every log line: Clerk's, Django's and the queue's."""

import logging
import sys
from typing import Any

import structlog
from django.apps import apps
from django.utils.module_loading import import_string

from pipeline import redaction


def configured(form: str, level: str) -> dict[str, Any]:
    """Set up structlog, and return Django's LOGGING in the same form."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, _kept, _rendered_as(form)],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level)),
        # Standard error: what a command prints for a person or a machine stays clean.
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "processor": _rendered_as(form),
        "foreign_pre_chain": shared,
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"clerk": formatter},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "clerk"}},
        "root": {"handlers": ["stderr"], "level": "WARNING"},
    }


def _kept(logger: Any, method: str, event: Any) -> Any:
    """Models cannot be imported while the settings are read; by the first line that a job writes they can."""
    if apps.models_ready:
        keep: Any = import_string("pipeline.job_log.keep")
        keep(logger, method, event)
    return event


def _rendered_as(form: str) -> Any:
    colors = sys.stderr.isatty()
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=colors)
    )
    return lambda logger, method, event: redaction.redact(renderer(logger, method, event))
