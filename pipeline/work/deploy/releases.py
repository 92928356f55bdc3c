"""What is published: one version of one site's database."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pipeline.errors import StageError

DEFAULT_KEEP = 5
STAMP = "%Y%m%dT%H%M%S%fZ"


@dataclass(frozen=True)
class Release:
    site: str
    # Sorts by age and ends in the digest of the content: the same content of one run is the same version.
    version: str
    database: Path
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        return self.version.rpartition("-")[2]


@dataclass(frozen=True)
class Published:
    location: str
    version: str
    previous: str | None
    changed: bool


def version_of(began: datetime, digest: str) -> str:
    return f"{began:{STAMP}}-{digest[:12]}"


def options_of(url: str, *known: str) -> dict[str, str]:
    """The query of a target's URL; a word it does not know is a mistake in the settings."""
    options = dict(parse_qsl(urlsplit(url).query))
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise StageError(f"{url}: unknown option {', '.join(unknown)}", code="deploy_target_options")
    return options


def keep_of(options: dict[str, str]) -> int:
    keep = options.get("keep", str(DEFAULT_KEEP))
    if not keep.isdigit() or int(keep) < 1:
        raise StageError(
            f"keep={keep}: expected a number of versions, at least 1", code="deploy_target_options"
        )
    return int(keep)


def refuse_late(release: Release, versions: list[str]) -> None:
    """The job of an older run may come late, after it was given up: what a newer run has published stays.

    A version that is dated in the future was made by a clock that was wrong, and stops nobody.
    """
    now = f"{datetime.now(UTC):{STAMP}}"
    newer = [version for version in versions if _stamp(release.version) < _stamp(version) <= now]
    if newer:
        raise StageError(
            f"{release.site}: {newer[-1]} of a newer run is there already; {release.version} comes too late",
            code="deploy_late",
        )


def _stamp(version: str) -> str:
    return version.partition("-")[0]


def to_prune(versions: list[str], current: str | None, keep: int) -> list[str]:
    """All but the newest few and the one being served."""
    return [version for version in versions[:-keep] if version != current]


def unknown_version(site: str, version: str) -> StageError:
    return StageError(f"{site} has no kept version {version}", code="deploy_version_unknown")
