"""The compilation stage: the texts of a site become its database."""

from collections.abc import Callable
from dataclasses import asdict

from pipeline.stages.documents import pages_read, read_documents, source_url, stable_id
from pipeline.stages.shared_files import push_database, shared
from pipeline.state.attempt import Attempt, Finished
from pipeline.work.database import compilation
from pipeline.work.database.compilation import Compiled, DocumentInfo, SiteInfo
from sites.models import Document, Site
from sites.storage import SiteFiles


def run(attempt: Attempt) -> Finished:
    compiled = compile_site(attempt.site_id, before=attempt.check)

    def record() -> None:
        Site.objects.filter(pk=attempt.site_id).update(pages=compiled.pages)

    return Finished(asdict(compiled), record)


def compile_site(site_id: str, before: Callable[[], None] = lambda: None) -> Compiled:
    """`before` is asked each time before something is seen outside: a job that was fenced off stops there."""
    site, files = Site.objects.get(pk=site_id), SiteFiles.of(site_id)
    with shared() as storage:
        for folder in files.folders("txt"):
            storage.pull_all(folder)
        storage.pull(files.database)
    documents = (_info(document, files) for document in read_documents(site_id))
    compiled = compilation.compile_site(files.database, site_info(site), documents, before)
    push_database(files, before)
    return compiled


def site_info(site: Site) -> SiteInfo:
    return SiteInfo(site.pk, site.name or "", site.state or "", site.kind or "", site.country or "")


def _info(document: Document, files: SiteFiles) -> DocumentInfo:
    return DocumentInfo(
        id=stable_id(document),
        text_dir=files.text_dir(document.path),
        url=document.url,
        source=source_url(document),
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
        pages_read=pages_read(document),
    )
