"""Publishes by a command of the operator's: it gets the database and its version in its environment."""

import os
import shlex
import subprocess
from dataclasses import dataclass

from pipeline.errors import SourceError, StageError
from pipeline.work.deploy.releases import Published, Release

LIMIT_SECONDS = 9 * 60
TAIL = 300


@dataclass(frozen=True)
class CommandTarget:
    """`command:/usr/local/bin/publish --fast`; exit code 0 is success. To swap in one step is up to it."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, url: str) -> "CommandTarget":
        words = tuple(shlex.split(url.partition(":")[2]))
        if not words:
            raise StageError(f"{url!r}: no command after the colon", code="deploy_target_options")
        return cls(words)

    def publish(self, release: Release) -> Published:
        run_command(self.words, environment_of(release), code="deploy_command")
        return Published(shlex.join(self.words), release.version, None, changed=True)

    def versions(self, site: str) -> list[str]:
        return []

    def current(self, site: str) -> str | None:
        return None

    def switch(self, site: str, version: str) -> Published:
        raise StageError("a command target keeps no versions to go back to", code="deploy_version_unknown")


def environment_of(release: Release) -> dict[str, str]:
    return {
        "CLERK_SITE": release.site,
        "CLERK_VERSION": release.version,
        "CLERK_DATABASE": str(release.database),
    }


def run_command(words: tuple[str, ...], environment: dict[str, str], *, code: str) -> None:
    """Run it to its end; whatever goes wrong is told with the last it said."""
    try:
        done = subprocess.run(
            words,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_SECONDS,
            check=False,
        )
    except OSError as error:
        raise StageError(f"{words[0]}: {error.strerror}", code=code) from error
    except subprocess.TimeoutExpired as error:
        raise SourceError(f"{words[0]} was not done after {LIMIT_SECONDS} s", code=code) from error
    if done.returncode:
        said = done.stdout.decode("utf-8", "replace").strip()[-TAIL:]
        raise SourceError(f"{words[0]} ended with {done.returncode}: {said}", code=code)
