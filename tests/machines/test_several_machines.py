"""Worker machines with folders and addresses of their own, and what may go wrong between them.

PostgreSQL over TCP, Redis with a password, S3. `make machines` runs it with more sites and documents.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import django_rq
import pytest
from django.conf import settings as django_settings
from django.db import connection
from redis import Redis
from redis.exceptions import RedisError

from pipeline import flow
from pipeline.models import DocumentState, Run, Status
from pipeline.reconcile import reconcile
from pipeline.stages.deploy import targets
from pipeline.verify import verify
from sites.models import Site, Source
from tests.conftest import assert_counters_equal_ledger, assert_each_transition_once
from tests.fakecity.pdfs import make_pdf
from tests.fakecity.server import FakeCity
from tests.machines.network import Line, to_port, to_unix
from tests.pdfs import scanned
from tests.work.s3_server import KEYS, s3_server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(1200)]
ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from services.found import Finder  # noqa: E402

SITES, DOCUMENTS = int(os.environ.get("MACHINES_SITES", "1")), int(os.environ.get("MACHINES_DOCUMENTS", "3"))
PASSWORD = "a-password-of-redis"
GRACE = 6
SKEWED = "import time\n_real = time.time\ntime.time = lambda: _real() + 3600\n"


class Machine:
    """A host name, a folder and a network of its own."""

    def __init__(self, name: str, root: Path, servers: dict[str, Callable[[], socket.socket]]) -> None:
        self.name, self.root = name, root / name
        self.root.mkdir()
        self.lines = {server: Line(connect) for server, connect in servers.items()}
        self.process: subprocess.Popen[bytes] | None = None
        database = connection.settings_dict
        s3 = f"http://127.0.0.1:{self.lines['s3'].port}"
        self.environ = {
            **os.environ,
            **KEYS,
            "DJANGO_SETTINGS_MODULE": "clerk_project.settings",
            "DATABASE_URL": f"postgres://{database['USER']}@127.0.0.1:{self.lines['postgres'].port}/{database['NAME']}",
            "REDIS_URL": f"redis://:{PASSWORD}@127.0.0.1:{self.lines['redis'].port}/0",
            "STORAGE_DIR": str(self.root / "storage"),
            "STORAGE_URL": f"s3://shared/x?endpoint={s3}",
            "DEPLOY_TARGETS": f"s3://published?endpoint={s3}",
            "SEARCH_INDEX": "0",
            "RECONCILE_GRACE_SECONDS": str(GRACE),
            "RETRY_BACKOFF_SECONDS": "1",
            "FETCH_HOST_GAP_SECONDS": "0.01",
            "FETCH_PRIVATE_HOSTS": ",".join(django_settings.FETCH_PRIVATE_HOSTS),
        }

    def start(self, *queues: str, **more: str) -> "Machine":
        log = (self.root / "workers.log").open("ab")
        named = ["unshare", "--uts", "sh", "-c", f'hostname {self.name}; exec "$@"', "sh"]
        self.process = subprocess.Popen(
            [*named, sys.executable, "-m", "tests.machines.machine", *queues],
            cwd=ROOT,
            env=self.environ | more,
            stdout=log,
            stderr=log,
        )
        return self

    def stop(self, how: int = signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(120)
            self.process = None

    def cut_off(self) -> None:
        for line in self.lines.values():
            line.cut()

    def back(self) -> None:
        for line in self.lines.values():
            line.mend()

    @property
    def said(self) -> str:
        return (self.root / "workers.log").read_text(errors="replace")


@pytest.fixture
def redis_with_password(tmp_path, settings) -> Iterator[int]:
    """Over TCP; this process uses it, too."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = Finder.of(os.environ).redis().path
    words = [program, "--port", str(port), "--requirepass", PASSWORD, "--save", "", "--dir", tmp_path]
    server = subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL)
    url = f"redis://:{PASSWORD}@127.0.0.1:{port}/0"
    before = settings.REDIS_URL
    try:
        wait_until(lambda: answers(url), 20)
        with pytest.raises(RedisError, match="authenticat"):
            Redis(port=port).ping()
        settings.REDIS_URL = url
        for queue in settings.RQ_QUEUES.values():
            queue["URL"] = url
        yield port
    finally:
        for queue in settings.RQ_QUEUES.values():
            queue["URL"] = before
        server.terminate()
        server.wait(20)


def answers(url: str) -> bool:
    try:
        return bool(Redis.from_url(url).ping())
    except RedisError:
        return False


def wait_until(
    condition: Callable[[], bool], seconds: float, each: Callable[[], object] = lambda: None
) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        each()
        time.sleep(0.3)


@pytest.fixture
def world(
    tmp_path, settings, monkeypatch, redis_with_password
) -> Iterator[tuple[Callable[..., Machine], FakeCity]]:
    if connection.vendor != "postgresql":
        pytest.skip("several machines have PostgreSQL")
    if subprocess.run(["unshare", "--uts", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no machine can have a name of its own here")
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    settings.RECONCILE_GRACE_SECONDS, settings.FETCH_HOST_GAP_SECONDS, settings.SEARCH_INDEX = (
        GRACE,
        0.01,
        False,
    )
    database = connection.settings_dict
    with ExitStack() as stack:
        city = stack.enter_context(FakeCity())
        endpoint = stack.enter_context(s3_server("shared", "published"))
        settings.FETCH_PRIVATE_HOSTS = [city.host]
        settings.STORAGE_URL = f"s3://shared/x?endpoint={endpoint}"
        settings.DEPLOY_TARGETS = [f"s3://published?endpoint={endpoint}"]
        servers = {
            "postgres": to_unix(f"{database['HOST']}/.s.PGSQL.{database['PORT'] or 5432}"),
            "redis": to_port(redis_with_password),
            "s3": to_port(int(endpoint.rpartition(":")[2])),
        }

        def machine(name: str) -> Machine:
            made = Machine(name, tmp_path, servers)
            for line in made.lines.values():
                stack.callback(line.close)
            stack.callback(made.stop, signal.SIGKILL)
            return made

        yield machine, city


def publish_files(city: FakeCity) -> list[Site]:
    """Each city has as many scans as texts: the scans need Tesseract."""
    sites = []
    for number in range(SITES):
        name = f"city{number}.il"
        links = ""
        for document in range(DOCUMENTS):
            path = f"/{name}/council-minutes-2024-0{document % 9 + 1}-{document // 9 + 10}.pdf"
            words = f"Motion {document} to adopt the ordinance of {name} carried."
            city.pdf(path, make_pdf(words) if document % 2 else scanned([[words]]))
            links += f'<li><a href="{path}">City Council Minutes {document}</a></li>'
        city.page(f"/{name}", f"<ul>{links}</ul>")
        site = Site.objects.create(subdomain=name)
        Source.objects.create(site=site, platform="generic", url=f"{city.url}/{name}")
        sites.append(site)
    return sites


def read_so_far() -> int:
    return DocumentState.objects.filter(pipeline="ocr", status=Status.PROCESSED).count()


def test_three_machines_finish_whatever_happens_to_them(world, tmp_path):
    machine, city = world
    sites = publish_files(city)
    (tmp_path / "skewed").mkdir()
    (tmp_path / "skewed" / "sitecustomize.py").write_text(SKEWED)
    all_queues = [f"{name}=1" for name in django_settings.RQ_QUEUES]
    first = machine("first").start(*all_queues)
    second = machine("second").start("fetch=1", "ocr=2", "deploy=1")
    blind = machine("blind").start("ocr=1", OCR_ENGINE="pytesseract", TESSERACT_CMD="/no/such/tesseract")
    skewed = machine("late").start("ocr=1", PYTHONPATH=str(tmp_path / "skewed"))
    runs = [flow.start(site.pk) for site in sites]

    # One is cut off in mid-run, with jobs in hand.
    wait_until(lambda: read_so_far() > 0, 300, reconcile)
    second.cut_off()
    # The storage is away for a while.
    for each in (first, blind):
        each.lines["s3"].cut()
    time.sleep(2)
    for each in (first, blind):
        each.lines["s3"].mend()
    # The next version comes while the old one's workers run.
    environ = first.environ | {"DJANGO_SETTINGS_MODULE": "tests.machines.next.settings"}
    migrated = subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    try:
        assert migrated.returncode == 0, migrated.stderr
        second.back()
        blind.stop()
        blind.start("ocr=1", "deploy=1", DJANGO_SETTINGS_MODULE="tests.machines.next.settings")
        running = Run.objects.running()
        wait_until(lambda: not running.exists(), 600, reconcile)
    finally:
        for each in (first, second, blind, skewed):
            each.stop()
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE document_pipeline_state DROP COLUMN IF EXISTS next_version")
            cursor.execute("DELETE FROM django_migrations WHERE app = 'next'")

    for run, site in zip(runs, sites, strict=True):
        assert Run.objects.get(pk=run.pk).status == Run.Status.COMPLETED
        assert_each_transition_once(run)
        [(_, target)] = targets()
        assert len(target.versions(site.pk)) == 1
    assert read_so_far() == SITES * DOCUMENTS
    assert not DocumentState.objects.filter(status=Status.FAILED_TERMINAL).exists()
    assert_counters_equal_ledger()
    found = verify(with_files=True)
    assert found.ok, found.problems
    assert "that of Redis; set it" in skewed.said
    assert django_rq.get_queue("ocr").count == 0
