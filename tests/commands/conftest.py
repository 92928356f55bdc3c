"""Commands as a shell calls them: what they print, and the code they end with."""

from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO

import pytest
from django.core.management import CommandError, call_command, load_command_class

from pipeline import flow
from sites.models import Site


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def manage() -> Callable[..., Ran]:
    def run(name: str, *arguments: str) -> Ran:
        out, err = StringIO(), StringIO()
        code = 0
        command = load_command_class("pipeline", name)
        # Wrong arguments end it as they do in a shell.
        command._called_from_command_line = True  # type: ignore[attr-defined]
        try:
            with redirect_stderr(err):
                call_command(command, *arguments, stdout=out, stderr=err)
        except CommandError as error:
            code = error.returncode
            err.write(str(error))
        except SystemExit as error:
            code = int(error.code or 0)
        return Ran(code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def ended(make_site, trivial_jobs, run_jobs) -> Site:
    """A site whose run has ended with one good document and one broken one."""
    site = make_site(titles=["ok", "bad"])
    flow.start(site.pk)
    run_jobs()
    return Site.objects.get(pk=site.pk)


@pytest.fixture
def in_ocr(make_site, trivial_jobs, run_jobs) -> Site:
    """A site in OCR with two jobs in the queue."""
    site = make_site(titles=["ok", "bad"])
    flow.start(site.pk)
    run_jobs(only="fetch")
    run_jobs(only="high")
    return Site.objects.get(pk=site.pk)


@pytest.fixture
def no_redis(settings) -> Iterator[None]:
    for queue in settings.RQ_QUEUES.values():
        queue["URL"] = "redis://127.0.0.1:1/0"
    yield
    for queue in settings.RQ_QUEUES.values():
        queue["URL"] = settings.REDIS_URL
