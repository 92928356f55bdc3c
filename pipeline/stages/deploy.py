"""The deploy stage: text and facts of a site are joined and published."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import quote, unquote, urlencode, urlsplit

from django.conf import settings

from pipeline.models import Retirement, Run
from pipeline.stages import publications
from pipeline.stages.compilation import site_info
from pipeline.stages.decisions import taken_down_documents
from pipeline.stages.documents import extracted_ids, read_documents, stable_id
from pipeline.stages.shared_files import push_database, shared
from pipeline.state.attempt import Attempt, Finished
from pipeline.work import deploy
from pipeline.work.database.schema import Extent
from pipeline.work.deploy import FactsFile, Release, Target
from pipeline.work.deploy.directory import DirectoryTarget
from pipeline.work.deploy.targets import Withdrawing
from pipeline.work.deploy.withdrawal import digest_without, withdraw_documents
from pipeline.work.files import remove_old
from pipeline.work.index.upkeep import Served
from sites.models import Site
from sites.storage import SiteFiles


@dataclass(frozen=True)
class Deployed:
    """What the ledger keeps of a deploy."""

    pages: int
    documents: int
    facts: int
    version: str
    changed: bool
    hooks: int


def run(attempt: Attempt) -> Finished:
    began = Run.objects.get(pk=attempt.run_id).started_at
    output = SiteFiles.of(attempt.site_id).scratch / f"deploy-{attempt.token.hex}.db"
    forced = publications.is_forced(attempt.site_id, attempt.run_id)
    deployed = deploy_site(attempt.site_id, began, output, attempt.check, may_shrink=forced)

    def record() -> None:
        holds = Extent(deployed.pages, deployed.documents)
        publications.record(attempt.site_id, holds, deployed.version)

    return Finished(asdict(deployed), record)


def deploy_site(
    site_id: str,
    began: datetime,
    output: Path,
    before: Callable[[], None] = lambda: None,
    *,
    may_shrink: bool = False,
) -> Deployed:
    """Text and facts joined in `output` and published. `began` dates the version: a retry gives the same.

    `before` is the last word before readers see it: a job of a run that is over stops there. So does one that
    would show them much less, unless a person said that it may.
    """
    site, files = Site.objects.get(pk=site_id), SiteFiles.of(site_id)
    _pull(files)
    remove_old(output.parent, "deploy-*.db")
    try:
        assembled = deploy.assemble(files.database, _facts_files(site_id, files), output, before)
        push_database(files, before)
        holds = Extent(assembled.pages, assembled.documents)
        if not may_shrink:
            publications.refuse_much_less(
                site_id, publications.published_now(site_id, databases_dir()), holds
            )
        published = _publish(site, began, output, assembled.digest, before)
    finally:
        output.unlink(missing_ok=True)
    return Deployed(facts=assembled.facts, **asdict(holds), **asdict(published))


def _pull(files: SiteFiles) -> None:
    with shared() as storage:
        for folder in files.folders("facts"):
            storage.pull_all(folder)
        storage.pull(files.database)


def _facts_files(site_id: str, files: SiteFiles) -> Iterator[FactsFile]:
    extracted = extracted_ids(site_id)
    for row in read_documents(site_id):
        yield FactsFile(stable_id(row), files.facts_file(row.path), expected=row.pk in extracted)


@dataclass(frozen=True)
class _Published:
    version: str
    changed: bool
    hooks: int


def _publish(
    site: Site, began: datetime, output: Path, digest: str, before: Callable[[], None]
) -> _Published:
    """Without what is taken down, to every target; then the hooks."""
    site_id, gone = site.pk, taken_down_ids(site.pk)
    version = deploy.version_of(began, digest_without(digest, withdraw_documents(output, gone)))
    release = Release(site_id, version, output, deploy.datasette_metadata(site_info(site)))
    published = deploy.publish(release, target_urls(), before)
    # Taken down while this was being published: whoever did it found the version before.
    withdraw(site_id, taken_down_ids(site_id) - gone)
    if Retirement.objects.removed().filter(subdomain=site_id).exists():
        withdraw_site(site_id)
    hooks = deploy.run_hooks(settings.AFTER_DEPLOY_COMMAND, release, published)
    return _Published(published[0].version, any(each.changed for each in published), hooks)


def taken_down_ids(site_id: str) -> set[str]:
    return {stable_id(document) for document in taken_down_documents(site_id)}


def withdraw(site_id: str, document_ids: Collection[str]) -> None:
    """Take documents out of what readers have now, ahead of the next deploy, wherever that can be done."""
    if not document_ids:
        return
    for _, target in targets():
        if isinstance(target, Withdrawing):
            target.withdraw(site_id, document_ids)


def withdraw_site(site_id: str) -> list[str]:
    """Take a whole site from readers; what a target cannot take back is named."""
    beyond = []
    for url, target in targets():
        if isinstance(target, Withdrawing):
            target.withdraw_site(site_id)
        else:
            beyond.append(url)
    return beyond


def target_urls() -> list[str]:
    """Where databases are published, and last the search index, which follows them."""
    urls = settings.DEPLOY_TARGETS or [f"directory://{quote(str(settings.DEPLOY_DIR))}"]
    if not settings.SEARCH_INDEX or any(url.startswith("index:") for url in urls):
        return urls
    databases = urlencode({"databases": databases_dir()})
    return [*urls, f"index://{quote(str(settings.SEARCH_INDEX_DIR))}?{databases}"]


def databases_dir() -> Path:
    """Where the deployed databases lie that readers read: the first folder among the targets."""
    for url in settings.DEPLOY_TARGETS:
        if url.startswith("directory:"):
            return Path(unquote(urlsplit(url).path))
    return Path(settings.DEPLOY_DIR)


def served() -> Iterator[Served]:
    """The databases that readers have now."""
    for site_id, version, database in DirectoryTarget(databases_dir()).served():
        yield Served(site_id, version, database)


def targets() -> list[tuple[str, Target]]:
    return [(url, deploy.target_for(url)) for url in target_urls()]
