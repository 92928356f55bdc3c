"""A private PostgreSQL on a socket of its own; never run by root, without fsync unless its data are kept."""

import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .found import Program
from .janitor import Janitor
from .server import Server, ServiceError

ENVIRON = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "jit": "off",
    "log_min_messages": "warning",
    "log_min_error_statement": "panic",
}
# For data nobody will miss: several times faster, and lost when the machine (not the server) crashes.
THROW_AWAY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def other_user() -> dict[str, Any]:
    """PostgreSQL refuses to run as root: whom to run it as then, as arguments of Popen. Empty for others."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise ServiceError(
        "PostgreSQL does not run as root, and there is no user `postgres` or `nobody` to run it as"
    )


def can_reach(path: Path, as_user: Mapping[str, Any]) -> bool:
    test = ["/bin/sh", "-c", 'test -x "$1"', "sh", str(path)]
    return subprocess.run(test, cwd="/", capture_output=True, **as_user).returncode == 0


def postgres_server(
    program: Program, folder: Path, data: Path | None, changes: Sequence[str], janitor: Janitor
) -> Server:
    as_user = other_user()
    postgres = program.path if can_reach(program.path, as_user) else _copied_within_reach(program, folder)
    cluster, home = _folders(folder, data, as_user)
    if not (cluster / "PG_VERSION").exists():
        _create(postgres, cluster, home, as_user)
    (cluster / "postmaster.pid").unlink(missing_ok=True)
    settings = {**SETTINGS, "unix_socket_directories": str(home), **({} if data else THROW_AWAY)}
    settings |= dict(change.split("=", 1) for change in changes)
    options = [text for name, value in settings.items() for text in ("-c", f"{name}={value}")]
    return Server(
        name="postgres",
        command=[postgres, "-D", cluster, *options],
        folder=home,
        is_ready=lambda: _is_ready(cluster),
        stop_signals=[(signal.SIGINT, 20), (signal.SIGQUIT, 10)],
        janitor=janitor,
        environ=ENVIRON,
        as_user=as_user,
    )


def postgres_url(folder: Path) -> str:
    return f"postgres://clerk@{quote(str(folder / 'postgres'), safe='')}/clerk"


def _folders(folder: Path, data: Path | None, as_user: Mapping[str, Any]) -> tuple[Path, Path]:
    """The cluster's folder and the one for socket and log, both owned by the user that PostgreSQL runs as."""
    home = folder / "postgres"
    cluster = data / "postgres" if data else home / "cluster"
    for made in (home, cluster):
        made.mkdir(mode=0o700, parents=True, exist_ok=True)
        if as_user:
            os.chown(made, as_user["user"], as_user["group"])
    if not can_reach(cluster, as_user):
        raise ServiceError(
            f"{cluster} cannot be reached by the user PostgreSQL runs as; choose another --data"
        )
    return cluster, home


def _copied_within_reach(program: Program, folder: Path) -> Path:
    """A wheel in a checkout under a private home: a copy, with the libraries that its programs need."""
    if program.origin != "wheel":
        raise ServiceError(f"{program.path} cannot be run by the user PostgreSQL runs as")
    install = program.path.parents[1]
    package = install.parent
    copy = folder / "wheel" / package.name / install.name
    shutil.copytree(
        install, copy, symlinks=True, ignore=shutil.ignore_patterns("*.a", "include", "doc", "man")
    )
    libraries = package.with_name(f"{package.name}.libs")
    shutil.copytree(libraries, folder / "wheel" / libraries.name, symlinks=True)
    return copy / "bin" / program.path.name


def _create(postgres: Path, cluster: Path, home: Path, as_user: Mapping[str, Any]) -> None:
    locale = "C.UTF-8" if os.uname().sysname == "Linux" else "C"
    initdb: list[str | Path] = [
        postgres.with_name("initdb"),
        "-D",
        cluster,
        "-U",
        "clerk",
        "--auth=trust",
        "--no-sync",
    ]
    _run([*initdb, "--encoding=UTF8", f"--locale={locale}"], home, as_user)
    # Single-user mode needs no client program and no running server.
    single: list[str | Path] = [postgres, "--single", "-c", "fsync=off", "-D", cluster, "postgres"]
    _run(single, home, as_user, "CREATE DATABASE clerk OWNER clerk;\n")


def _run(command: Sequence[str | Path], folder: Path, as_user: Mapping[str, Any], text: str = "") -> None:
    ended = subprocess.run(
        command,
        cwd=folder,
        env=ENVIRON,
        input=text,
        capture_output=True,
        text=True,
        start_new_session=True,
        **as_user,
    )
    if ended.returncode != 0:
        raise ServiceError(
            f"{' '.join(map(str, command))} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}"
        )


def _is_ready(cluster: Path) -> bool:
    """The server writes its state into the eighth line of its lock file."""
    try:
        lines = (cluster / "postmaster.pid").read_text().splitlines()
    except OSError:
        return False
    return len(lines) >= 8 and lines[7].strip() == "ready"
