"""Pictures of pages, drawn when somebody looks, by a child process; kept on disk within a bound."""

import fcntl
import os
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control
from django.utils.http import parse_etags

from pipeline.errors import DocumentError
from pipeline.work import pictures
from pipeline.work.ocr.picture import draw_page
from pipeline.work.ocr.process.parent import keep_warm
from pipeline.work.pictures import WIDTHS
from records.access import is_public
from records.files import original_of
from records.published import PublishedDocument

SHARDS = 16
# A day, not for ever: what is taken down must go from the caches of others, too.
KEEP_SECONDS = 24 * 60 * 60
# Drawing takes memory and a processor: more at once would only make everybody wait.
AT_ONCE = 2
PATIENCE_SECONDS = 10
# How stale the time of last use may be: a picture in use is not written to at every look.
USED_SECONDS = 60 * 60
_warming = threading.Lock()


def answer(request: HttpRequest, document: PublishedDocument, page: int, width: int) -> HttpResponse:
    if width not in WIDTHS:
        raise Http404("pictures have two sizes")
    key = key_of(document, page, width)
    etag = f'"{key}"'
    if etag in parse_etags(request.headers.get("If-None-Match", "")):
        return _with_headers(HttpResponse(status=304), etag)
    try:
        picture = kept(key) or _drawn(document, page, width, key)
    except Busy:
        return HttpResponse(status=503, headers={"Retry-After": "5", "Cache-Control": "no-store"})
    return _with_headers(HttpResponse(picture, content_type="image/webp"), etag)


def picture_of(document: PublishedDocument, page: int, width: int) -> bytes | None:
    """The same for a mail; None where there is no picture, or everybody is waiting for one."""
    key = key_of(document, page, width)
    try:
        return kept(key) or _drawn(document, page, width, key)
    except (Busy, Http404):
        return None


def key_of(document: PublishedDocument, page: int, width: int) -> str:
    """The same file gives the same picture. Without a digest the document itself stands for its file."""
    content = document.sha256 or f"{document.site}/{document.id}"
    return pictures.key_of(content, page, width)


def _with_headers(response: HttpResponse, etag: str) -> HttpResponse:
    response["ETag"] = etag
    patch_cache_control(response, max_age=KEEP_SECONDS, **_who())
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
    try:
        with _turn():
            picture = kept(key) or draw_page(file, page, width)
    except DocumentError as error:
        raise Http404("this page cannot be drawn") from error
    keep(key, picture)
    return picture


class Busy(Exception):
    """Too many pictures are being drawn."""


@contextmanager
def _turn() -> Iterator[None]:
    """One of the few places for drawing, shared by all processes of the machine."""
    folder = Path(settings.RECORDS_IMAGE_CACHE_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        for number in range(AT_ONCE):
            with (folder / f".drawing-{number}").open("w") as place:
                try:
                    fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                with _warming:
                    keep_warm()
                yield
                return
        time.sleep(0.05)
    raise Busy


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
    return pictures.path_of(Path(settings.RECORDS_IMAGE_CACHE_DIR), key)
