"""Publishes to a folder: a link per site, swapped in one step, to one of the versions that are kept."""

import fcntl
import json
import shutil
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pipeline.work.deploy import catalogue, releases
from pipeline.work.deploy.releases import Published, Release
from pipeline.work.deploy.withdrawal import documents_in, version_without, withdraw_documents
from pipeline.work.files import replacing, write_text

VERSIONS = ".versions"


@dataclass(frozen=True)
class DirectoryTarget:
    """`{root}/{site}.db` links to `{root}/.versions/{site}/{version}.db`; readers keep what they opened."""

    root: Path
    keep: int = releases.DEFAULT_KEEP

    @classmethod
    def of(cls, url: str) -> "DirectoryTarget":
        return cls(Path(unquote(urlsplit(url).path)), releases.keep_of(releases.options_of(url, "keep")))

    def publish(self, release: Release) -> Published:
        kept = self.kept(release.site, release.version)
        if not kept.is_file():
            write_text(kept.with_suffix(".json"), json.dumps(release.metadata, ensure_ascii=False))
            with replacing(kept) as building:
                shutil.copyfile(release.database, building)
        with self._alone():
            releases.refuse_late(release, self.versions(release.site))
            published = self._swap(release.site, release.version)
        self._prune(release.site)
        return published

    def versions(self, site: str) -> list[str]:
        return sorted(path.stem for path in (self.root / VERSIONS / site).glob("[!.]*.db"))

    def current(self, site: str) -> str | None:
        link = self._link(site)
        return link.readlink().stem if link.is_symlink() else None

    def served(self) -> list[tuple[str, str, Path]]:
        """Every site with the version that serves and its file."""
        return [(link.stem, link.readlink().stem, link.resolve()) for link in self._links() if link.exists()]

    def switch(self, site: str, version: str) -> Published:
        if not self.kept(site, version).is_file():
            raise releases.unknown_version(site, version)
        with self._alone():
            return self._swap(site, version)

    def withdraw(self, site: str, document_ids: Collection[str]) -> None:
        """Serve the current version without these, and keep no version that holds one of them."""
        current = self.current(site)
        for version in self.versions(site):
            kept = self.kept(site, version)
            if not documents_in(kept, document_ids):
                continue
            if version == current:
                self._serve_without(site, version, document_ids)
            kept.unlink(missing_ok=True)
            kept.with_suffix(".json").unlink(missing_ok=True)

    def _serve_without(self, site: str, version: str, document_ids: Collection[str]) -> None:
        fresh = self.kept(site, version_without(version, document_ids))
        about = _read_json(self.kept(site, version).with_suffix(".json"))
        write_text(fresh.with_suffix(".json"), json.dumps(about, ensure_ascii=False))
        with replacing(fresh) as building:
            shutil.copyfile(self.kept(site, version), building)
            withdraw_documents(building, document_ids)
        with self._alone():
            # A deploy that came meanwhile has left them out itself.
            if self.current(site) == version:
                self._swap(site, fresh.stem)

    def _swap(self, site: str, version: str) -> Published:
        previous = self.current(site)
        if previous != version:
            beside = self.root / f".{uuid.uuid4().hex[:12]}.link"
            beside.symlink_to(Path(VERSIONS, site, f"{version}.db"))
            beside.replace(self._link(site))
        self._describe(site)
        return Published(str(self._link(site)), version, previous, changed=previous != version)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One writer at a time: `metadata.json` tells of every site."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for leftover in self.root.glob(".*.link"):
                leftover.unlink()
            yield

    def _describe(self, site: str) -> None:
        link = self._link(site)
        about = _about(link) if link.is_symlink() else None
        catalogue.describe(
            self.root, site, about, lambda: ((each.stem, _about(each)) for each in self._links())
        )

    def withdraw_site(self, site: str) -> None:
        """Nothing of the site is served or kept."""
        with self._alone():
            self._link(site).unlink(missing_ok=True)
            self._describe(site)
            shutil.rmtree(self.root / VERSIONS / site, ignore_errors=True)

    def _links(self) -> list[Path]:
        return sorted(path for path in self.root.glob("[!.]*.db") if path.is_symlink())

    def _link(self, site: str) -> Path:
        return self.root / f"{site}.db"

    def kept(self, site: str, version: str) -> Path:
        return self.root / VERSIONS / site / f"{version}.db"

    def _prune(self, site: str) -> None:
        for version in releases.to_prune(self.versions(site), self.current(site), self.keep):
            self.kept(site, version).unlink(missing_ok=True)
            self.kept(site, version).with_suffix(".json").unlink(missing_ok=True)


def _about(link: Path) -> Any:
    return _read_json(link.resolve().with_suffix(".json"))


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
