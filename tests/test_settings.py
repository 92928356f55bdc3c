"""Settings: a bad value stops the start and names itself; without DEBUG everything is on the safe side."""

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = ROOT / "clerk_project" / "settings.py"
KEY = "a-long-random-text-of-letters-and-digits-3141592653589793-for-tests"
SAFE = {"SECRET_KEY": KEY, "DATABASE_URL": "sqlite://:memory:"}


@pytest.fixture
def load(monkeypatch):
    """The settings as they would be with exactly these variables."""

    def load_settings(**environ: str) -> dict[str, Any]:
        for name in list(os.environ):
            if name != "PATH":
                monkeypatch.delenv(name)
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(SETTINGS))

    return load_settings


def manage(*arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environ},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("DEBUG", "maybe", "true, false"),
        ("DATABASE_URL", "nonsense", "postgres://"),
        ("DATABASE_URL", "mysql://db.example/clerk", "PostgreSQL and on SQLite"),
        ("REDIS_URL", "http://queue.example", "redis://"),
        ("TIME_ZONE", "Mars/Olympus", "America/New_York"),
        ("OCR_LIMIT", "soon", "number"),
        ("OCR_LIMIT", "0", "at least 1"),
        ("FETCH_LIMIT", "1.5", "whole number"),
        ("MAX_ATTEMPTS", "inf", "number"),
        ("RETRY_BACKOFF_SECONDS", "nan", "number"),
        ("RETRY_BACKOFF_SECONDS", "-1", "at least 0"),
        ("OCR_ENGINE", "magic wand", "tesserocr"),
        ("OCR_ACCURATE", "always", "below:90"),
        ("OCR_ACCURATE", "below:101", "below:90"),
        ("OCR_ACCURATE_MEMORY_MB", "100", "at least 800"),
    ],
)
def test_a_bad_value_is_refused_by_name(load, name: str, value: str, hint: str):
    with pytest.raises(ImproperlyConfigured, match=name) as refused:
        load(**SAFE | {name: value})

    assert hint in str(refused.value)


def test_a_bad_database_address_does_not_show_its_password(load):
    with pytest.raises(ImproperlyConfigured) as refused:
        load(SECRET_KEY=KEY, DATABASE_URL="postgrse://clerk:hunter2@db.example/clerk")

    assert "hunter2" not in str(refused.value)


def test_without_debug_a_secret_key_is_demanded(load):
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY"):
        load(DATABASE_URL="sqlite://:memory:")


def test_a_refused_start_is_one_line_and_an_error():
    ended = manage("check", DATABASE_URL="nonsense", SECRET_KEY=KEY)

    assert ended.returncode == 1
    assert ended.stderr.startswith("Clerk cannot start: DATABASE_URL")
    assert len(ended.stderr.splitlines()) == 1


def test_without_debug_cookies_need_tls(load):
    settings = load(**SAFE)

    assert settings["DEBUG"] is False
    assert settings["SESSION_COOKIE_SECURE"]
    assert settings["CSRF_COOKIE_SECURE"]


def test_sqlite_queues_its_writers(load):
    options = load(**SAFE)["DATABASES"]["default"]["OPTIONS"]

    assert options["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in options["init_command"]


def test_every_queue_has_the_limit_of_its_jobs(load):
    queues = load(**SAFE)["RQ_QUEUES"]

    minutes = {name: queue["DEFAULT_TIMEOUT"] // 60 for name, queue in queues.items()}
    assert minutes == {"high": 5, "fetch": 60, "ocr": 20, "compilation": 30, "extraction": 60, "deploy": 10}


def test_a_production_start_has_nothing_to_warn_about():
    ended = manage(
        "check",
        "--deploy",
        "--fail-level",
        "WARNING",
        SECURE_SSL_REDIRECT="1",
        SECURE_HSTS_SECONDS="3600",
        **SAFE,
    )

    assert ended.returncode == 0, ended.stderr


def test_without_tls_settings_only_these_are_asked_for():
    ended = manage("check", "--deploy", **SAFE)

    warned = {
        line.split("(")[1].split(")")[0] for line in ended.stderr.splitlines() if line.startswith("?: (")
    }
    assert warned == {"security.W004", "security.W008"}
