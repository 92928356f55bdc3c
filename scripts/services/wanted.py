"""What was asked for, turned into servers to start and an environment for the command."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .found import Finder
from .janitor import Janitor
from .postgres import postgres_server, postgres_url
from .redis import redis_server, redis_url
from .server import Server
from .tesseract import tesseract_environ


@dataclass(frozen=True)
class Wanted:
    sqlite: bool = False
    data: Path | None = None
    postgres_changes: tuple[str, ...] = ()


@dataclass
class Resolved:
    servers: list[Server] = field(default_factory=list)
    environ: dict[str, str] = field(default_factory=dict)


def resolve(wanted: Wanted, folder: Path, janitor: Janitor, environ: Mapping[str, str]) -> Resolved:
    """Find each service: the environment's, else the system's, else the wheel's. Nothing is running yet."""
    finder = Finder.of(environ)
    resolved = Resolved()
    home = wanted.data or folder
    if wanted.sqlite:
        resolved.environ["DATABASE_URL"] = f"sqlite:///{home / 'clerk.sqlite3'}"
    elif not environ.get("DATABASE_URL"):
        changes = wanted.postgres_changes
        resolved.servers.append(postgres_server(finder.postgres(), folder, wanted.data, changes, janitor))
        resolved.environ["DATABASE_URL"] = postgres_url(folder)
    if not environ.get("REDIS_URL"):
        resolved.servers.append(redis_server(finder.redis(), folder, wanted.data, janitor))
        resolved.environ["REDIS_URL"] = redis_url(folder)
    if not environ.get("TESSERACT_CMD"):
        resolved.environ |= tesseract_environ(finder.tesseract(), folder)
    # What the machine is set up for is nothing to the command: it gets services of its own.
    resolved.environ["CLERK_ENV_FILE"] = environ.get("CLERK_ENV_FILE", "")
    resolved.environ |= {"OMP_THREAD_LIMIT": "1", "CLERK_SERVICES_DIR": str(folder)}
    for name, value in _defaults(home).items():
        if not environ.get(name):
            resolved.environ[name] = value
    return resolved


def _defaults(home: Path) -> dict[str, str]:
    return {
        "STORAGE_DIR": str(home / "storage"),
        "DEPLOY_DIR": str(home / "deployed"),
        "SECRET_KEY": secrets.token_urlsafe(48),
        "DEBUG": "1",
    }
