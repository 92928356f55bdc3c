"""Settings: a bad value stops the start and names itself; without DEBUG everything is on the safe side."""

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from clerk_project import environment

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
        for name, value in ({"CLERK_ENV_FILE": ""} | environ).items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(SETTINGS))

    return load_settings


def manage(*arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "CLERK_ENV_FILE": ""} | environ,
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
    assert minutes == {
        "high": 5,
        "fetch": 60,
        "ocr": 20,
        "compilation": 30,
        "extraction": 60,
        "deploy": 10,
        "webhooks": 2,
    }


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


# ---- The key, and who may read the database -----------------------------------------------------------


@pytest.mark.parametrize("key", ["abc", "a" * 60, "abcabcabc" * 8, "replace-with-a-long-random-text"])
def test_a_key_that_can_be_guessed_is_refused_without_being_shown(load, key: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY is too easy to guess") as refused:
        load(**SAFE | {"SECRET_KEY": key})

    assert key not in str(refused.value)
    assert load(**SAFE | {"SECRET_KEY": key, "DEBUG": "1"})["SECRET_KEY"] == key


def test_a_new_database_file_is_its_owners_alone(load, tmp_path: Path) -> None:
    load(SECRET_KEY=KEY, DATABASE_URL=f"sqlite:///{tmp_path}/new/clerk.sqlite3")

    assert (tmp_path / "new" / "clerk.sqlite3").stat().st_mode & 0o777 == 0o600


def test_a_database_file_that_all_could_read_is_closed_to_others_and_not_to_its_group(load, tmp_path) -> None:
    old = tmp_path / "clerk.sqlite3"
    old.touch()
    old.chmod(0o664)

    load(SECRET_KEY=KEY, DATABASE_URL=f"sqlite:///{old}")

    assert old.stat().st_mode & 0o777 == 0o660


def test_the_log_beside_the_database_is_as_private_as_itself(tmp_path: Path) -> None:
    database = tmp_path / "clerk.sqlite3"
    look = f"""
import os
from django.db import connection
connection.cursor().execute("CREATE TABLE t (x)")
print(*(oct(os.stat("{database}" + end).st_mode & 0o77) for end in ("", "-wal", "-shm")))
"""

    ended = manage("shell", "-c", look, DEBUG="1", DATABASE_URL=f"sqlite:///{database}")

    assert ended.stdout.split()[-3:] == ["0o0", "0o0", "0o0"], ended.stderr


# ---- The settings file --------------------------------------------------------------------------------

AWKWARD = "a&b$HOME`id`(c) 'd' \"e\" #f;g\\h=i"


def settings_file(folder: Path, text: str) -> Path:
    path = folder / "environment"
    path.write_text(text)
    return path


def test_values_are_taken_as_they_stand(tmp_path: Path) -> None:
    path = settings_file(
        tmp_path,
        f"# a comment\n; another\n\nDATABASE_URL={AWKWARD}\n export  A = b \nQUOTED='two words'\nEMPTY=\n",
    )

    assert environment.read(path) == {"DATABASE_URL": AWKWARD, "A": "b", "QUOTED": "two words", "EMPTY": ""}


def test_what_is_set_by_hand_wins_over_the_file(tmp_path: Path) -> None:
    environ = {"A": "by hand", "CLERK_ENV_FILE": str(settings_file(tmp_path, "A=file\nB=file\n"))}
    environment.load(environ)

    assert environ["A"] == "by hand"
    assert environ["B"] == "file"


def test_the_file_in_the_usual_place_is_read_unless_told_not_to(tmp_path: Path) -> None:
    usual = settings_file(tmp_path, "A=usual\n")
    told, untold, absent = {"CLERK_ENV_FILE": ""}, dict[str, str](), dict[str, str]()
    environment.load(told, usual)
    environment.load(untold, usual)
    environment.load(absent, tmp_path / "nothing")

    assert "A" not in told
    assert untold == {"A": "usual"}
    assert absent == {}


@pytest.mark.parametrize("text", ["just words with hunter2\n", "A=1\n=hunter2\n", "1A=hunter2\n"])
def test_a_line_that_is_no_setting_stops_the_start_and_is_not_shown(tmp_path: Path, text: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"line [12]: expected NAME=value") as refused:
        environment.read(settings_file(tmp_path, text))

    assert "hunter2" not in str(refused.value)


def test_a_file_that_cannot_be_read_is_an_error_and_never_a_fall_back_to_sqlite(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(ImproperlyConfigured, match="cannot be read"):
            environment.load({"CLERK_ENV_FILE": str(path)})


@pytest.mark.parametrize(
    "arguments", [["--env-file", "F", "check"], ["check", "--env-file=F"], ["check", "--env-file", "F"]]
)
def test_the_option_may_stand_anywhere(arguments: list[str]) -> None:
    environ: dict[str, str] = {}

    assert environment.take_option(["manage.py", *arguments], environ) == ["manage.py", "check"]
    assert environ == {"CLERK_ENV_FILE": "F"}


def test_the_option_without_a_file_is_refused() -> None:
    with pytest.raises(ImproperlyConfigured, match="which file"):
        environment.take_option(["manage.py", "check", "--env-file"], {})


def test_a_command_has_the_settings_of_the_file_that_it_names(tmp_path: Path) -> None:
    path = settings_file(tmp_path, f"SECRET_KEY={KEY}\nDATABASE_URL=sqlite:///{tmp_path}/a&b $(c).sqlite3\n")
    show = ["shell", "-c", "from django.conf import settings; print(settings.DATABASES['default']['NAME'])"]
    ended = manage("--env-file", str(path), *show)

    assert ended.stdout.splitlines()[-1] == f"{tmp_path}/a&b $(c).sqlite3", ended.stderr


def test_no_shipped_file_has_a_shell_read_the_settings() -> None:
    for path in (ROOT / "deploy").iterdir():
        assert "set -a" not in path.read_text()
        assert "EnvironmentFile" not in path.read_text()
