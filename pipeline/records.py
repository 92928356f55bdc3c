"""From text to records: what compilation, extraction and deploy take from tables and storage, and leave."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import quote, unquote, urlencode, urlsplit

from django.conf import settings
from django.db.models import F

from pipeline.errors import SourceError
from pipeline.work import compilation, deploy, extraction
from pipeline.work.beside import remove_old
from pipeline.work.compilation import Compiled, DocumentInfo, SiteInfo
from pipeline.work.database_file import copy_database
from pipeline.work.deploy import Release, Target
from pipeline.work.extraction import Extracted, MeetingContext
from sites.models import Document, Site, Stage
from sites.storage import Share, SiteFiles, share


@dataclass(frozen=True)
class Deployed:
    """What the ledger keeps of a deploy."""

    pages: int
    facts: int
    version: str
    changed: bool
    hooks: int


def compile_site(site_id: str) -> Compiled:
    site, files = Site.objects.get(pk=site_id), SiteFiles.of(site_id)
    with shared() as storage:
        for folder in files.folders("txt"):
            storage.pull_all(folder)
        storage.pull(files.database)
    documents = (_info(document, files) for document in read_documents(site_id))
    compiled = compilation.compile_site(files.database, _site_info(site), documents)
    _push_database(files)
    return compiled


def extract_document(document: Document) -> Extracted:
    files = SiteFiles.of(document.site_id)
    text_dir, facts_file = files.text_dir(document.path), files.facts_file(document.path)
    day = document.meeting_date.isoformat() if document.meeting_date else ""
    with shared() as storage:
        storage.pull(text_dir)
        storage.pull(facts_file)
    found = extraction.extract_document(
        text_dir, facts_file, MeetingContext(document.body, day, document.kind)
    )
    with shared() as storage:
        storage.push(facts_file)
    return found


def deploy_site(
    site_id: str, began: datetime, output: Path, before: Callable[[], None] = lambda: None
) -> Deployed:
    """Text and facts joined in `output` and published. `began` dates the version: a retry gives the same.

    `before` is the last word before readers see it: a job of a run that is over stops there.
    """
    site, files = Site.objects.get(pk=site_id), SiteFiles.of(site_id)
    with shared() as storage:
        for folder in files.folders("facts"):
            storage.pull_all(folder)
        storage.pull(files.database)
    facts = ((stable_id(row), files.facts_file(row.path)) for row in read_documents(site_id))
    remove_old(output.parent, "deploy-*.db")
    try:
        assembled = deploy.assemble(files.database, facts, output)
        _push_database(files)
        version = deploy.version_of(began, assembled.digest)
        release = Release(site_id, version, output, deploy.datasette_metadata(_site_info(site)))
        before()
        published = deploy.publish(release, target_urls())
        hooks = deploy.run_hooks(settings.AFTER_DEPLOY_COMMAND, release, published)
    finally:
        output.unlink(missing_ok=True)
    changed = any(each.changed for each in published)
    return Deployed(assembled.pages, assembled.facts, published[0].version, changed, hooks)


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


def targets() -> list[tuple[str, Target]]:
    return [(url, deploy.target_for(url)) for url in target_urls()]


@contextmanager
def shared() -> Iterator[Share]:
    """The storage that machines share; what it cannot do now it may do later."""
    try:
        yield share()
    except OSError as error:
        raise SourceError(str(error), code="storage") from error


def _push_database(files: SiteFiles) -> None:
    if not settings.STORAGE_URL:
        return
    files.scratch.mkdir(parents=True, exist_ok=True)
    # A copy of one moment, for a reader may be keeping part of the database in its log.
    copy = files.scratch / f"push-{uuid.uuid4().hex[:12]}.db"
    remove_old(files.scratch, "push-*.db")
    try:
        copy_database(files.database, copy)
        with shared() as storage:
            storage.push(copy, to=files.database)
    finally:
        copy.unlink(missing_ok=True)


def read_documents(site_id: str) -> Iterator[Document]:
    """Documents whose text is there and which nobody left out on purpose, in a stable order.

    Each knows when it was read. The files' own times will not do: on every machine they are others.
    """
    wanted = Document.objects.filter(site_id=site_id, skip_reason="")
    read = wanted.filter(ledger__pipeline=Stage.OCR, ledger__status="processed")
    read = read.annotate(read_at=F("ledger__processed_at"))
    return read.select_related("source").order_by("pk").iterator(chunk_size=1000)


def stable_id(document: Document) -> str:
    """The same document has the same id in every build, on every machine, in the database over all sites."""
    return compilation.stable_id(
        document.site_id, _source_url(document), document.external_id, document.version
    )


def _source_url(document: Document) -> str:
    return document.source.url if document.source else ""


def _site_info(site: Site) -> SiteInfo:
    return SiteInfo(site.pk, site.name or "", site.state or "", site.kind or "", site.country or "")


def _info(document: Document, files: SiteFiles) -> DocumentInfo:
    return DocumentInfo(
        id=stable_id(document),
        text_dir=files.text_dir(document.path),
        url=document.url,
        source=_source_url(document),
        title=document.title,
        body=document.body,
        meeting=document.meeting,
        date=document.meeting_date,
        kind=document.kind,
        version=document.version,
        sha256=document.sha256,
        content_type=document.content_type,
        fetched_at=document.fetched_at,
        superseded=document.superseded_at is not None,
        read_at=document.read_at,  # type: ignore[attr-defined]
    )
