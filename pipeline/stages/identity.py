"""Which document a file is: the same content at the same site is one document, wherever it was found."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from pipeline.state.repair import hand_over_rows
from pipeline.work.fetch.download import Downloaded, suffix_for
from pipeline.work.fetch.refs import DocRef, url_identity
from sites.models import Document, Site, Source
from sites.storage import SiteFiles, document_path

# What `path_for` puts at the end of a name: whose file it is, and the beginning of what is in it.
_MARK = re.compile(r"-([0-9a-f]{12})(?:-[0-9a-f]{8})?$")


def path_for(document: Document, downloaded: Downloaded) -> str:
    """Where this content lives. No other document has this path, and no other content comes to it:
    a worker that was given up long ago cannot put an older file in the place of a newer one."""
    mark = _mark(document.source_id, document.external_id, document.version)
    suffix = suffix_for(downloaded.content_type)
    unique = f"{mark}-{downloaded.sha256[:8]}"
    return document_path(document.meeting, document.meeting_date, document.kind, unique, suffix)


def _mark(source_id: int | None, external_id: str, version: int) -> str:
    return hashlib.sha256(f"{source_id}\n{external_id}\n{version}".encode()).hexdigest()[:12]


def digest_of(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


# ---- Before a download: documents of no source that a listing names again -------------------------------


def reclaim(source: Source, refs: Mapping[str, DocRef]) -> bool:
    """Give back to this source the documents it lists that lost theirs; whether there were any.

    They came from a source that was removed, or from storage after a restore.
    """
    marks = {_mark(source.pk, identity, 1): identity for identity in refs}
    found: dict[tuple[str, int], Document] = {}
    for orphan in Document.objects.filter(site_id=source.site_id, source=None).order_by("version", "pk"):
        identity = _identity_of(orphan, refs, marks)
        if identity and (identity, orphan.version) not in found:
            orphan.source, orphan.external_id = source, identity
            found[identity, orphan.version] = orphan
    Document.objects.bulk_update(found.values(), ["source", "external_id"], batch_size=500)
    return bool(found)


def _identity_of(orphan: Document, refs: Mapping[str, DocRef], marks: Mapping[str, str]) -> str | None:
    ref = refs.get(orphan.external_id)
    if ref is not None and orphan.url and url_identity(ref.url) == url_identity(orphan.url):
        return orphan.external_id
    mark = _MARK.search(PurePosixPath(orphan.path).stem)
    return marks.get(mark[1]) if mark else None


# ---- After a download: the content is known -----------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """Where a download belongs: a path of its own, one that it takes over, or none, for a copy."""

    path: str
    copy_of: str = ""


def learn_contents(site_id: str, size: int) -> None:
    """Files of no source that nobody has hashed yet, and that may be the one at hand."""
    files = SiteFiles.of(site_id)
    for orphan in Document.objects.filter(site_id=site_id, source=None, sha256="", size=size).exclude(
        path=""
    ):
        if files.file(orphan.path).is_file():
            Document.objects.filter(pk=orphan.pk).update(sha256=digest_of(files.file(orphan.path)))


def settle(document: Document, downloaded: Downloaded, run_id: int | None) -> Place:
    """Decide in the finishing transaction which document this is.

    Under the site's lock: of two downloads of the same file at the same moment one sees the other.
    """
    Site.objects.select_for_update(no_key=True).get(pk=document.site_id)
    twin = _twin(document, downloaded)
    if twin is None:
        return Place(path_for(document, downloaded))
    if twin.source_id is None and not document.sha256 and hand_over_rows(twin.pk, document.pk, run_id):
        _inherit(document, twin)
        return Place(twin.path)
    return Place("", copy_of=twin.path)


def _twin(document: Document, downloaded: Downloaded) -> Document | None:
    """The current document with this content. An earlier version of our own is none: it went back to it."""
    same = Document.objects.filter(
        site_id=document.site_id, sha256=downloaded.sha256, superseded_at=None
    ).exclude(path="")
    if document.source_id is not None:
        same = same.exclude(source_id=document.source_id, external_id=document.external_id)
    return same.exclude(pk=document.pk).order_by("pk").first()


def _inherit(document: Document, twin: Document) -> None:
    """What was read of the twin is read of this one; the twin was the same document, and goes."""
    values: dict[str, Any] = {"pages": twin.pages, "skip_reason": twin.skip_reason}
    twin.delete()
    Document.objects.filter(pk=document.pk).update(**values)
