"""A password in a setting is in no output: not of a command, a log, a page or a table."""

import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.test import Client
from django.views.debug import get_exception_reporter_filter

from pipeline import redaction
from pipeline.errors import SourceError, describe
from pipeline.models import ReconcileRun
from pipeline.reconcile import CouldNotLook, reconcile
from pipeline.redaction import RedactedStream, redact

ROOT = Path(__file__).resolve().parent.parent
PASSWORD = "Tr0ub4dor-and-3"
# A form of each kind of setting that may carry a password. Every other setting gets the bare word.
ADDRESSES = {
    "DATABASE_URL": f"postgres://clerk:{PASSWORD}@127.0.0.1:9/clerk",
    "REDIS_URL": f"redis://clerk:{PASSWORD}@127.0.0.1:9/0",
    "STORAGE_URL": f"s3://key:{PASSWORD}@bucket/prefix?endpoint=http://k:{PASSWORD}@127.0.0.1:9",
    "DEPLOY_TARGETS": f"s3:bucket?endpoint=http://k:{PASSWORD}@127.0.0.1:9",
    "AFTER_DEPLOY_COMMAND": f"curl https://k:{PASSWORD}@127.0.0.1:9/purge",
    "SECRET_KEY": f"{PASSWORD}-and-long-enough-to-be-a-key-0123456789",
    "CSRF_TRUSTED_ORIGINS": f"https://k:{PASSWORD}@clerk.example",
    "FETCH_USER_AGENT": f"Clerk (https://k:{PASSWORD}@clerk.example)",
}
COMMANDS = (
    *("reconcile", "reconcile --json", "reconcile --dry-run", "pipeline_status", "pipeline_status --json"),
    *("health", "verify", "verify --json", "verify --files", "workers --burst", "run_pipeline alameda.ca"),
    *("retry_failed", "migrate", "check", "webhooks", "migrate_stuck_sites --dry-run", "diffsettings"),
)


@pytest.mark.parametrize(
    "text",
    [
        f"Error 111 connecting to redis://:{PASSWORD}@queue.example:6379/0",
        f"postgres://clerk:{PASSWORD}@db/clerk refused",
        f"GET https://token{PASSWORD}@city.example/a 401",
        f"('rediss://default:{PASSWORD}@q:1/0',)",
        f"connection failed: host=db password={PASSWORD} user=clerk",
        f"https://example.org/hook?token={PASSWORD}&x=1",
    ],
)
def test_credentials_are_hidden_wherever_they_stand(text: str) -> None:
    assert PASSWORD not in redact(text)
    assert redaction.HIDDEN in redact(text)


@pytest.mark.parametrize(
    "text", ["mail clerk@example.org", "https://city.example/a?b=c@d", "redis://127.0.0.1:6379/0", "3 @ 4"]
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


def test_a_password_is_known_however_a_message_words_it(monkeypatch) -> None:
    monkeypatch.setattr(redaction, "_secrets", [])
    redaction.remember({"REDIS_URL": "redis://:caf%C3%A9-au-lait@q/0", "SECRET_KEY": PASSWORD})

    assert redact(f"AUTH café-au-lait failed; caf%C3%A9-au-lait; {PASSWORD}") == "AUTH *** failed; ***; ***"


def test_a_stream_is_guarded_and_stays_what_it_is(capsys) -> None:
    stream = RedactedStream(sys.stdout)
    print(f"redis://:{PASSWORD}@q/0", file=stream)

    assert capsys.readouterr().out == "redis://***@q/0\n"
    assert stream.encoding == sys.stdout.encoding


def pasted() -> Iterator[tuple[str, str]]:
    """Every setting with an address in it; those that take addresses also with a part of one."""
    for name in re.findall(r"^\| `([A-Z_]+)`", (ROOT / "README.md").read_text(), re.MULTILINE):
        for form in ("redis://u:{}@q/0", "ftp://u:{}@q/0", "x=postgres://u:{}@q"):
            yield name, form
        if name.endswith("_URL"):
            yield name, "u:{}@q"


@pytest.mark.parametrize(("name", "form"), pasted())
def test_a_setting_that_is_refused_is_named_without_its_password(name: str, form: str, monkeypatch) -> None:
    """Somebody pasted an address into it, whole or in part."""
    for other in os.environ:
        monkeypatch.delenv(other)
    for setting, text in {"CLERK_ENV_FILE": "", "DATABASE_URL": "sqlite://:memory:", "DEBUG": "1"}.items():
        monkeypatch.setenv(setting, text)
    monkeypatch.setenv(name, form.format(PASSWORD))
    try:
        runpy.run_path(str(ROOT / "clerk_project" / "settings.py"))
    except ImproperlyConfigured as error:
        assert PASSWORD not in str(error)
        assert name in str(error)


RUN_ALL = """
import os, sys
from django.core.management import execute_from_command_line
from pipeline import redaction
os.environ["DJANGO_SETTINGS_MODULE"] = "clerk_project.settings"
redaction.guard_streams()
for line in sys.argv[1:]:
    print("#", line)
    try:
        execute_from_command_line(["manage.py", *line.split()])
    except SystemExit as ended:
        print("ended", ended.code)
    except Exception:
        sys.excepthook(*sys.exc_info())
"""


def test_no_command_prints_a_password(tmp_path: Path) -> None:
    """Neither the database nor Redis answers: the messages that name them are the ones that leak."""
    folders = {name: str(tmp_path / name) for name in ("STORAGE_DIR", "DEPLOY_DIR", "SEARCH_INDEX_DIR")}
    environ = {"PATH": os.environ["PATH"], "CLERK_ENV_FILE": "", "LOG_LEVEL": "DEBUG", **folders, **ADDRESSES}
    ended = subprocess.run(
        [sys.executable, "-c", RUN_ALL, *COMMANDS], cwd=ROOT, env=environ, capture_output=True, text=True
    )

    assert PASSWORD not in ended.stdout + ended.stderr
    assert ended.stdout.count("#") >= len(COMMANDS)
    assert redaction.HIDDEN in ended.stdout + ended.stderr


def test_manage_py_guards_what_it_prints(tmp_path: Path) -> None:
    command = "from django.conf import settings; print(settings.REDIS_URL); {}[settings.SECRET_KEY]"
    environ = {"PATH": os.environ["PATH"], "CLERK_ENV_FILE": "", **ADDRESSES}
    ended = subprocess.run(
        [sys.executable, "manage.py", "shell", "-c", command],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
    )

    assert PASSWORD not in ended.stdout + ended.stderr
    assert "redis://***@127.0.0.1:9/0" in ended.stdout
    assert "KeyError" in ended.stderr


@pytest.mark.django_db
def test_pages_tables_and_json_hide_the_password_of_a_redis_that_is_away(settings, capsys) -> None:
    settings.REDIS_URL = ADDRESSES["REDIS_URL"]
    for queue in settings.RQ_QUEUES.values():
        queue["URL"] = settings.REDIS_URL
    User.objects.create_superuser("root", password="x")
    browser = Client()
    browser.force_login(User.objects.get())
    try:
        with pytest.raises(CouldNotLook) as refused:
            reconcile()
        said = str(refused.value)
        call_command("pipeline_status")
        with pytest.raises(SystemExit):
            call_command("health")
        pages = [
            browser.get(path).content.decode() for path in ("/", "/admin/", "/admin/pipeline/reconcilerun/")
        ]
    finally:
        for queue in settings.RQ_QUEUES.values():
            queue["URL"] = os.environ["REDIS_URL"]
    printed = capsys.readouterr()
    kept = json.dumps(list(ReconcileRun.objects.values("error", "repairs")))

    for text in (said, kept, printed.out, printed.err, *pages):
        assert PASSWORD not in text
    assert "does not answer" in said


def test_a_failure_is_kept_without_the_password_in_its_address() -> None:
    failure = describe(SourceError(f"https://u:{PASSWORD}@city.example: 401", code="http"))

    assert PASSWORD not in failure.message
    assert "city.example" in failure.message


def test_the_error_page_of_a_developer_hides_addresses_too(rf) -> None:
    cleanse = get_exception_reporter_filter(rf.get("/")).cleanse_setting

    shown = [cleanse(name, value) for name, value in ADDRESSES.items()]
    shown.append(cleanse("RQ_QUEUES", {"high": {"URL": ADDRESSES["REDIS_URL"]}}))

    assert PASSWORD not in str(shown)
