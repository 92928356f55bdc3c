"""Finishes a second of the job protocol, beside the rate of the bare update it is built on."""

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path

import django
from django.db import OperationalError, connection, connections

SECONDS = 2.0
CLIENTS = (1, 4, 16)
DOCUMENTS = 16_000
# Prepared sites of two sizes: the cost of one finish must not depend on how many documents a site has.
FEW, MANY = 2_000, 40_000


def run() -> dict[str, float]:
    """Each database in a process of its own, with its own settings."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        urls = {"pg": _postgresql_url(), "sqlite": f"sqlite:///{folder}/bench.sqlite3"}
        for name, url in urls.items():
            # Only the state of the last commits is at risk in a crash, and reconcile mends that.
            environment = os.environ | {"DATABASE_URL": url, "PGOPTIONS": "-c synchronous_commit=off"}
            environment["DEBUG"] = "0"  # as in production: it would note down every statement
            output = subprocess.run(
                [sys.executable, "-m", "benchmarks.state", name],
                env=environment,
                stdout=subprocess.PIPE,
                check=True,
            ).stdout
            figures |= json.loads(output)
    return figures


def _postgresql_url() -> str:
    name = f"bench_{uuid.uuid4().hex[:8]}"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
    head, _, options = os.environ["DATABASE_URL"].partition("?")
    return f"{head.rpartition('/')[0]}/{name}" + (f"?{options}" if options else "")


def measure(name: str) -> dict[str, float]:
    figures: dict[str, float] = {}
    for clients in CLIENTS:
        ceiling = _rate(clients, _raw_updates)
        rate = _finish_rate(clients, DOCUMENTS)
        figures[f"state.{name}_{clients}_finishes_per_s"] = rate
        figures[f"state.{name}_{clients}_raw_updates_per_s"] = ceiling
        figures[f"state.{name}_{clients}_vs_ceiling"] = rate / ceiling
    figures[f"state.{name}_finish_cost_{MANY}_vs_{FEW}_documents"] = _finish_rate(1, FEW) / _finish_rate(
        1, MANY
    )
    return {key: round(value, 3) for key, value in figures.items()}


def _finish_rate(clients: int, documents: int) -> float:
    attempts = _prepare(documents)
    return _rate(clients, lambda number, until: _finishes(attempts[number::clients], until))


def _rate(clients: int, work: Callable[[int, float], int]) -> float:
    """How many a second all of these processes did together, once every one of them is connected."""
    connections.close_all()
    ready = multiprocessing.get_context("fork").Barrier(clients)
    with tempfile.TemporaryDirectory() as folder:
        children = [_fork(Path(folder, str(number)), work, number, ready) for number in range(clients)]
        failed = [child for child in children if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])]
        if failed:
            raise RuntimeError(f"{len(failed)} of {clients} clients failed")
        results = [json.loads(path.read_text()) for path in Path(folder).iterdir()]
    return sum(count / seconds for count, seconds in results)


def _fork(result: Path, work: Callable[[int, float], int], number: int, ready: Barrier) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            connection.ensure_connection()
            ready.wait()
            began = time.monotonic()
            count = work(number, began + SECONDS)
            result.write_text(json.dumps([count, time.monotonic() - began]))
            code = 0
        except OperationalError as error:
            sys.stderr.write(f"lock error: {error}\n")
        finally:
            os._exit(code)
    return child


def _raw_updates(number: int, until: float) -> int:
    count = 0
    with connection.cursor() as cursor:
        while time.monotonic() < until:
            cursor.execute("UPDATE sites SET ocr_completed = ocr_completed + 1 WHERE subdomain = 'hot'")
            count += 1
    return count


def _finishes(attempts: list, until: float) -> int:
    for count, attempt in enumerate(attempts):
        if time.monotonic() > until:
            return count
        ledger.finish_processed(attempt, Finished())
    return len(attempts)


def _prepare(documents: int) -> list:
    """A site whose every document is claimed, and the attempts that may finish them."""
    Site.objects.all().delete()
    site = Site.objects.create(subdomain="hot", current_stage="ocr", ocr_total=documents)
    now = timezone.now()
    this = Run.objects.create(site=site, started_at=now)
    Site.objects.update(run_id=this.pk)
    Document.objects.bulk_create(
        (Document(site=site, external_id=str(number), meeting="Council") for number in range(documents)),
        batch_size=1000,
    )
    DocumentState.objects.bulk_create(
        (_claimed(site, this, pk) for pk in Document.objects.values_list("pk", flat=True)), batch_size=1000
    )
    claimed = DocumentState.objects.values_list("pk", "document_id", "attempt_token")
    return [
        Attempt(pk, this.pk, site.pk, Stage.OCR, document, "", token or uuid.UUID(int=0), 1)
        for pk, document, token in claimed
    ]


def _claimed(site: "Site", run: "Run", document_id: int) -> "DocumentState":
    now = timezone.now()
    return DocumentState(
        site=site, document_id=document_id, pipeline="ocr", run=run, status="in_progress",
        attempt_token=uuid.uuid4(), created_at=now, updated_at=now,
    )  # fmt: skip


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clerk_project.settings")
    django.setup()

from django.core.management import call_command  # noqa: E402
from django.utils import timezone  # noqa: E402

from pipeline.models import DocumentState, Run  # noqa: E402
from pipeline.state import ledger  # noqa: E402
from pipeline.state.attempt import Attempt, Finished  # noqa: E402
from sites.models import Document, Site  # noqa: E402
from sites.stages import Stage  # noqa: E402

if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    Site.objects.create(subdomain="hot", current_stage="ocr", ocr_total=1)
    print(json.dumps(measure(sys.argv[1])))
