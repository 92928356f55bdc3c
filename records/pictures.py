"""Pictures of pages, drawn when somebody looks, by a child process; kept on disk within a bound."""

import hashlib
import os
import threading
import time
import uuid
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control

from pipeline.errors import DocumentError
from pipeline.work.ocr.picture import draw_page
from pipeline.work.ocr.process.parent import keep_warm
from records.access import is_public
from records.files import original_of
from records.published import PublishedDocument

# A page to read, and one to choose among others.
READ, CHOOSE = 1200, 240
WIDTHS = (READ, CHOOSE)
SHARDS = 16
YEAR_SECONDS = 365 * 24 * 60 * 60
# How stale the time of last use may be: a picture in use is not written to at every look.
USED_SECONDS = 60 * 60
_warming = threading.Lock()


def answer(request: HttpRequest, document: PublishedDocument, page: int, width: int) -> HttpResponse:
    if width not in WIDTHS:
        raise Http404("pictures have two sizes")
    key = key_of(document, page, width)
    etag = f'"{key}"'
    if request.headers.get("If-None-Match") == etag:
        return _with_headers(HttpResponse(status=304), etag)
    picture = kept(key) or _drawn(document, page, width, key)
    return _with_headers(HttpResponse(picture, content_type="image/webp"), etag)


def key_of(document: PublishedDocument, page: int, width: int) -> str:
    """The same file gives the same picture. Without a digest the document itself stands for its file."""
    content = document.sha256 or f"{document.site}/{document.id}"
    return hashlib.blake2b(f"{content} {page} {width}".encode(), digest_size=16).hexdigest()


def _with_headers(response: HttpResponse, etag: str) -> HttpResponse:
    response["ETag"] = etag
    patch_cache_control(response, max_age=YEAR_SECONDS, immutable=True, **_who())
    return response


def _who() -> dict[str, bool]:
    return {"public": True} if is_public() else {"private": True}


def kept(key: str) -> bytes | None:
    path = _path(key)
    try:
        picture = path.read_bytes()
        if path.stat().st_mtime < time.time() - USED_SECONDS:
            os.utime(path)
    except OSError:
        return None
    return picture


def _drawn(document: PublishedDocument, page: int, width: int, key: str) -> bytes:
    original = original_of(document)
    file = original.file if original else None
    if file is None:
        raise Http404("the file of this document is not kept here")
    with _warming:
        keep_warm()
    try:
        picture = draw_page(file, page, width)
    except DocumentError as error:
        raise Http404("this page cannot be drawn") from error
    keep(key, picture)
    return picture


def keep(key: str, picture: bytes) -> None:
    path = _path(key)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{uuid.uuid4().hex[:12]}")
    beside.write_bytes(picture)
    beside.replace(path)
    make_room(path.parent, settings.RECORDS_IMAGE_CACHE_MB * 2**20 // SHARDS)


def make_room(shard: Path, most: int) -> None:
    """Each part of the cache has its share of the bound: what was longest not looked at goes first."""
    with os.scandir(shard) as entries:
        files = sorted((entry.stat().st_mtime, entry.stat().st_size, entry.path) for entry in entries)
    excess = sum(size for _, size, _ in files) - most
    for _, size, path in files:
        if excess <= 0:
            return
        Path(path).unlink(missing_ok=True)
        excess -= size


def _path(key: str) -> Path:
    return Path(settings.RECORDS_IMAGE_CACHE_DIR) / key[0] / f"{key}.webp"
