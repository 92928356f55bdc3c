"""Where a database can be published, by URL; a package may offer more under `clerk.deploy_targets`."""

from collections.abc import Callable, Collection
from functools import cache
from importlib.metadata import entry_points
from pkgutil import resolve_name
from typing import Protocol, runtime_checkable

from pipeline.errors import StageError
from pipeline.work.deploy.releases import Published, Release

ENTRY_POINTS = "clerk.deploy_targets"
# By name, so that a library which only one of them needs may be absent.
BUILT_IN = {
    "directory": "pipeline.work.deploy.directory:DirectoryTarget.of",
    "s3": "pipeline.work.deploy.s3:S3Target.of",
    "index": "pipeline.work.deploy.search_index:SearchIndexTarget.of",
    "command": "pipeline.work.deploy.command:CommandTarget.of",
}


class Target(Protocol):
    def publish(self, release: Release) -> Published:
        """Make this release the one readers get. Doing it twice is the same as once."""

    def versions(self, site: str) -> list[str]:
        """What could be served, oldest first."""

    def current(self, site: str) -> str | None:
        """The version readers get now."""

    def switch(self, site: str, version: str) -> Published:
        """Serve a version that is kept."""


@runtime_checkable
class Withdrawing(Protocol):
    """A target that can take documents out of what it serves before the next deploy."""

    def withdraw(self, site: str, document_ids: Collection[str]) -> None: ...

    def withdraw_site(self, site: str) -> None: ...


@cache
def offered() -> dict[str, Callable[[], Callable[[str], Target]]]:
    return {point.name: point.load for point in entry_points(group=ENTRY_POINTS)}


def target_for(url: str) -> Target:
    """The target a URL names by its scheme, such as `directory:///srv/records`."""
    scheme = url.partition(":")[0]
    if scheme in offered():
        return offered()[scheme]()(url)
    if scheme not in BUILT_IN:
        known = ", ".join(sorted({*BUILT_IN, *offered()}))
        raise StageError(
            f"no deploy target is called {scheme!r}; there are {known}", code="deploy_target_unknown"
        )
    try:
        make: Callable[[str], Target] = resolve_name(BUILT_IN[scheme])
    except ModuleNotFoundError as error:
        raise StageError(
            f"the target {scheme} needs the package {error.name}", code="deploy_target_unknown"
        ) from error
    return make(url)


def publish(release: Release, urls: list[str], before: Callable[[], None] = lambda: None) -> list[Published]:
    """To every target in turn, each time if `before` still allows it.

    A target that serves this very content already is left as it is.
    """
    return [_publish(target_for(url), release, before) for url in urls]


def _publish(target: Target, release: Release, before: Callable[[], None]) -> Published:
    before()
    serving = target.current(release.site)
    if serving and serving.rpartition("-")[2] == release.digest:
        return Published(release.site, serving, serving, changed=False)
    return target.publish(release)
