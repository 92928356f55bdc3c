"""Server time of the pages and of `pipeline_status` with 10,000 sites and a million ledger rows."""

import time
from collections.abc import Callable
from functools import partial
from io import StringIO
from statistics import median

from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection, reset_queries
from django.test import Client, override_settings

from benchmarks import _crowd
from sites.models import Site

TIMES = 5
PAGES = {
    "dashboard": "/",
    "site list": "/admin/sites/site/",
    "site list, searched": "/admin/sites/site/?q=city77",
    "site list, stuck": "/admin/sites/site/?condition=stuck",
    "site page": "/admin/sites/site/city1.ca/change/",
    "failures": "/admin/pipeline/documentstate/?standing=failed",
    "failures of a code": "/admin/pipeline/documentstate/?code=timeout",
    "ledger of a site": "/admin/pipeline/documentstate/?q=city77.ca",
    "ledger, words": "/admin/pipeline/documentstate/?q=broken",
    "ledger, no such words": "/admin/pipeline/documentstate/?q=heliport",
    "documents": "/admin/sites/document/",
    "documents of a site": "/admin/sites/document/?q=city77.ca",
    "documents, no such words": "/admin/sites/document/?q=heliport",
    "runs": "/admin/pipeline/run/",
}


def run() -> dict[str, float]:
    call_command("migrate", verbosity=0)
    if Site.objects.exists():
        raise SystemExit("pages: this benchmark fills a database of its own, and this one has sites in it")
    rows = _crowd.make()
    client = Client()
    user, _ = User.objects.get_or_create(username="bench", is_staff=True, is_superuser=True)
    client.force_login(user)
    figures = {"ledger rows": float(rows)}
    with override_settings(ALLOWED_HOSTS=["testserver"]):
        for name, address in PAGES.items():
            figures |= _measure(name, partial(_get, client, address))
    return figures | _measure("pipeline_status", lambda: call_command("pipeline_status", stdout=StringIO()))


def _get(client: Client, address: str) -> None:
    answer = client.get(address)
    if answer.status_code != 200:
        raise RuntimeError(f"{address}: {answer.status_code}")


def _measure(name: str, work: Callable[[], object]) -> dict[str, float]:
    """The median; the first time is not counted, which fills the caches of templates and of the database."""
    work()
    seconds = []
    for _ in range(TIMES):
        cache.clear()  # the dear way, as the first of many who look at the same time has it
        reset_queries()
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return {f"{name}, seconds": median(seconds), f"{name}, queries": float(len(connection.queries))}
