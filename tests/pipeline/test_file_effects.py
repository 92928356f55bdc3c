"""What jobs do to files: never a ghost's over a newer one, and never while others wait for the database."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import boto3
import pytest
from botocore.config import Config
from django.db import connection
from django.utils import timezone

from pipeline import flow, protocol
from pipeline.errors import Fenced
from pipeline.models import DocumentState, Run, Status
from pipeline.queue import pauses
from pipeline.stages import compilation, deploy, extraction, fetch
from pipeline.state import ledger
from pipeline.state.attempt import Attempt
from pipeline.work.deploy import s3
from sites import storage_s3
from sites.models import Document, Site, Source
from sites.stages import Stage
from sites.storage import SiteFiles
from tests.fakecity import FakeCity, make_pdf
from tests.work.s3_server import KEYS, s3_server

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.both_databases,
    pytest.mark.usefixtures("trivial_jobs"),
]
WORK = {
    Stage.FETCH: fetch.run_download,
    Stage.COMPILATION: compilation.run,
    Stage.EXTRACTION: extraction.run,
    Stage.DEPLOY: deploy.run,
}
TEXT = "Moved by Lee, seconded by Ng, to buy a quetzal for $5,000. Carried 3-0."
MORE = "Moved by Ruiz, seconded by Lee, to sell the quetzal for $6,000. Carried 3-0."


@pytest.fixture
def document(make_site, make_documents) -> Document:
    """Read, compiled and with its facts."""
    (document,) = make_documents(make_site(), ["ok"])
    now = timezone.now()
    for stage in (Stage.OCR, Stage.EXTRACTION):
        DocumentState.objects.create(
            site=document.site,
            document=document,
            pipeline=stage,
            status=Status.PROCESSED,
            created_at=now,
            updated_at=now,
            processed_at=now,
        )
    write(document, TEXT)
    compilation.compile_site(document.site_id)
    extraction.extract_document(document)
    return document


def write(document: Document, text: str) -> None:
    folder = SiteFiles.of(document.site_id).text_dir(document.path)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "1.txt").write_text(text)


def row_in(document: Document, stage: Stage) -> DocumentState:
    """The row of this stage's job, in a run that is there."""
    if stage == Stage.EXTRACTION:
        DocumentState.objects.filter(pipeline=stage).delete()
    flow.start(document.site_id, first=Stage.COMPILATION if stage == Stage.EXTRACTION else stage)
    return DocumentState.objects.get(run__status=Run.Status.RUNNING, pipeline=stage)


# ---- Ghosts -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with s3_server("clerk") as url:
        yield url


@pytest.fixture
def shared(endpoint, settings, tmp_path, monkeypatch) -> Callable[[], dict[str, str]]:
    """Storage and a target on S3; what is in there, by name."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    settings.STORAGE_URL = f"s3://clerk/{tmp_path.name}?endpoint={endpoint}"
    settings.DEPLOY_TARGETS = [f"s3://clerk/{tmp_path.name}/served?endpoint={endpoint}"]
    client = boto3.client("s3", endpoint_url=endpoint)

    def objects() -> dict[str, str]:
        found = client.list_objects_v2(Bucket="clerk", Prefix=tmp_path.name).get("Contents", ())
        return {each["Key"]: each["ETag"] for each in found}

    return objects


def effects(site_id: str) -> dict[str, Any]:
    """What others see of a site's files: the rows of databases, for their bytes change without them."""
    files = SiteFiles.of(site_id)
    with closing(sqlite3.connect(files.database)) as compiled:
        rows = list(compiled.execute("SELECT document_id, page, text FROM pages ORDER BY 1, 2"))
    facts = {path.name: path.read_text() for path in files.root.rglob("facts/**/*.json")}
    return {"pages": rows, "facts": facts}


@pytest.mark.parametrize("stage", [Stage.COMPILATION, Stage.EXTRACTION, Stage.DEPLOY])
def test_a_ghost_writes_over_nothing_here_and_on_s3(stage, shared, document):
    row = row_in(document, stage)
    claim = (row.pk, row.run_id or 0, row.enqueue_seq, "job")
    ghost = ledger.claim(*claim, delivery=0)
    newer = ledger.claim(*claim, delivery=1)  # the queue has delivered it again
    assert ghost and newer
    WORK[stage](newer)
    before = effects(document.site_id), shared()

    write(document, MORE)
    DocumentState.objects.filter(pipeline=Stage.OCR).update(processed_at=timezone.now())
    if stage == Stage.DEPLOY:
        compilation.compile_site(document.site_id)
        before = effects(document.site_id), shared()
    with pytest.raises(Fenced):
        WORK[stage](ghost)

    assert (effects(document.site_id), shared()) == before


def test_a_job_of_another_stage_under_the_same_numbers_does_nothing(document):
    """As it may lie in a queue that is newer than the database, which was restored."""
    row = row_in(document, Stage.EXTRACTION)
    worked: list[Attempt] = []

    protocol.run_job(Stage.OCR, worked.append, row.pk, row.run_id, row.enqueue_seq)

    row.refresh_from_db()
    assert (worked, row.status, row.attempt_count) == ([], Status.PENDING, 0)


# ---- Storage that hangs, or refuses -------------------------------------------------------------------


class Storage(BaseHTTPRequestHandler):
    """An S3 that has nothing, and takes nothing: it looks who waits, and answers late or not at all."""

    look: Callable[[], str]
    seen: list[str]
    hangs: bool
    over: Event

    def do_GET(self) -> None:
        self._answer(200, b'<?xml version="1.0"?><ListBucketResult></ListBucketResult>')

    def do_HEAD(self) -> None:
        self._answer(404, b"")

    def do_PUT(self) -> None:
        self.seen.append(self.look())
        if self.hangs:
            self.over.wait(10)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer(503, b"<Error><Code>SlowDown</Code></Error>")

    do_POST = do_DELETE = do_PUT

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if self.command != "HEAD" else b"")

    def log_message(self, *args: object) -> None: ...


def who_waits() -> str:
    """Another connection writes, and looks for transactions that are held open."""
    try:
        Site.objects.update(extra="written while storage hangs")
        if connection.vendor != "postgresql":
            return ""
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'")
            return "" if cursor.fetchone() == (0,) else "a transaction is held open"
    except Exception as error:
        return str(error)
    finally:
        connection.close()


@pytest.fixture
def away(request, settings, monkeypatch, tmp_path) -> Iterator[list[str]]:
    """What was seen at each upload: whether anybody had to wait for it."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    impatient = Config(connect_timeout=1, read_timeout=0.3, retries={"total_max_attempts": 1})
    monkeypatch.setattr(storage_s3, "PATIENCE", impatient)
    monkeypatch.setattr(s3, "PATIENCE", impatient)
    seen: list[str] = []
    over = Event()
    members = {"look": staticmethod(who_waits), "seen": seen, "over": over, "hangs": request.param == "hangs"}
    handler = type("Away", (Storage,), members)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        address = f"endpoint=http://127.0.0.1:{server.server_port}"
        settings.STORAGE_URL = f"s3://clerk/{tmp_path.name}?{address}"
        settings.DEPLOY_TARGETS = [f"s3://clerk/served?{address}"]
        yield seen
        over.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def city(settings) -> Iterator[FakeCity]:
    settings.FETCH_HOST_GAP_SECONDS = 0.005
    with FakeCity() as server:
        settings.FETCH_PRIVATE_HOSTS = [server.host]
        server.pdf("/files/a.pdf", make_pdf("Roll call"))
        yield server


def to_download(document: Document, city: FakeCity) -> DocumentState:
    source = Source.objects.create(site=document.site, platform="generic", url=f"{city.url}/meetings")
    known = Document.objects.create(
        site=document.site, source=source, external_id="a", meeting="C", url=f"{city.url}/files/a.pdf"
    )
    run = flow.start(document.site_id)
    (row_id,) = ledger.add_rows(document.site_id, run.pk, Stage.FETCH, [known.pk])
    Site.objects.update(fetch_total=2)
    return DocumentState.objects.get(pk=row_id)


@pytest.mark.parametrize(
    ("away", "stage"),
    [*(("hangs", stage) for stage in WORK), ("refuses", Stage.EXTRACTION), ("refuses", Stage.DEPLOY)],
    indirect=["away"],
)
def test_while_storage_is_away_nobody_waits_and_no_document_pays(stage, document, city, away):
    row = to_download(document, city) if stage == Stage.FETCH else row_in(document, stage)

    protocol.run_job(stage, WORK[stage], row.pk, row.run_id, row.enqueue_seq)

    row.refresh_from_db()
    assert (row.status, row.attempt_count) == (Status.FAILED_RETRYABLE, 0), row.error_message
    assert row.error_code in ("storage", "deploy_s3")
    assert away and set(away) == {""}
    assert pauses.current()[0].where == pauses.EVERYWHERE
