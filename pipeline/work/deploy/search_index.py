"""Publishes to the search index over all sites: what changed in a site's database, in one commit."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pipeline.errors import SourceError
from pipeline.work.deploy import releases
from pipeline.work.deploy.directory import DirectoryTarget
from pipeline.work.deploy.releases import Published, Release
from pipeline.work.index import generations, writing
from pipeline.work.index.contents import summary_of
from pipeline.work.index.schema import open_index


@dataclass(frozen=True)
class SearchIndexTarget:
    """`index:///srv/index?databases=/srv/records`: the versions to go back to are those kept over there."""

    root: Path
    databases: Path | None = None

    @classmethod
    def of(cls, url: str) -> "SearchIndexTarget":
        databases = releases.options_of(url, "databases").get("databases")
        return cls(Path(unquote(urlsplit(url).path)), Path(databases) if databases else None)

    def publish(self, release: Release) -> Published:
        previous = self.current(release.site)
        releases.refuse_late(release, [previous] if previous else [])
        return self._sync(release.site, release.version, release.database, previous)

    def versions(self, site: str) -> list[str]:
        return DirectoryTarget(self.databases).versions(site) if self.databases else []

    def current(self, site: str) -> str | None:
        folder = generations.serving(self.root)
        if folder is None:
            return None
        with _as_source_errors(self.root):
            summary = summary_of(open_index(folder).searcher(), site)
        return summary.version if summary else None

    def switch(self, site: str, version: str) -> Published:
        if version not in self.versions(site) or self.databases is None:
            raise releases.unknown_version(site, version)
        kept = DirectoryTarget(self.databases).kept(site, version)
        return self._sync(site, version, kept, self.current(site))

    def withdraw(self, site: str, document_ids: Collection[str]) -> None:
        with _as_source_errors(self.root):
            for document_id in document_ids:
                writing.remove_document(self.root, site, document_id)

    def withdraw_site(self, site: str) -> None:
        with _as_source_errors(self.root):
            writing.remove_site(self.root, site)

    def _sync(self, site: str, version: str, database: Path, previous: str | None) -> Published:
        with _as_source_errors(self.root):
            writing.sync_site(self.root, site, version, database)
        return Published(str(self.root), version, previous, changed=previous != version)


@contextmanager
def _as_source_errors(root: Path) -> Iterator[None]:
    """The library says everything as a ValueError."""
    try:
        yield
    except ValueError as error:
        raise SourceError(f"the search index in {root}: {error}", code="search_index") from error
