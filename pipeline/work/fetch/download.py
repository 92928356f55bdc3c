"""Bring one file home: streamed, capped, hashed, sniffed, and renamed into place only when it is whole."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import DocumentError
from pipeline.work.fetch.answers import Limits
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.refs import HTML, PDF
from pipeline.work.fetch.refusals import check_status
from pipeline.work.files import replacing

PDF_TYPE, HTML_TYPE = "application/pdf", "text/html"
# Texts written with office programs: the types they are kept as, and the names of their files.
OFFICE_TYPES = {
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.oasis.opendocument.text": ".odt",
    "application/rtf": ".rtf",
    "application/msword": ".doc",
}
DOCX_TYPE, ODT_TYPE, RTF_TYPE, DOC_TYPE = OFFICE_TYPES
# Where in an archive its list of contents lies, and where in a Word file the names of its parts.
_LIST_BYTES = 256 * 1024
# A header may come late: readers accept it within the first kilobyte.
SNIFF_BYTES = 1024
CHUNK = 1024 * 1024
_MARKUP = re.compile(
    rb"^\s*(?:<!doctype\s+html|<html|<head|<body|<\?xml[^>]*>\s*<(?:!doctype\s+)?html)", re.I
)
_LOGIN = re.compile(rb"<input[^<>]{1,2000}?type\s{0,20}=\s{0,20}[\"']?password", re.I)


@dataclass(frozen=True)
class Downloaded:
    sha256: str
    size: int
    content_type: str
    etag: str = ""
    last_modified: str = ""


class NotModified:
    """The server says that the file is the one we have."""


NOT_MODIFIED = NotModified()


def download(
    client: Client,
    url: str,
    dest: Path,
    *,
    etag: str = "",
    last_modified: str = "",
    accept: str = PDF,
    form: Mapping[str, str] | None = None,
    limits: Limits | None = None,
) -> Downloaded | NotModified:
    """Write the file at `url` to `dest`. `accept` is the reference's content hint."""
    limits = limits or client.limits
    conditions = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    headers = {name: value for name, value in conditions.items() if value}
    with client.answer("POST" if form else "GET", url, data=form, headers=headers) as answer:
        if answer.response.status_code == 304 and headers:
            return NOT_MODIFIED
        check_status(answer.response)
        with replacing(dest) as partial:
            digest, size = _save(answer.chunks(limits.file_bytes), partial)
            content_type = _accepted_type(
                partial, url, answer.response.headers.get("content-type", ""), accept
            )
    validators = (answer.response.headers.get(name, "") for name in ("etag", "last-modified"))
    return Downloaded(digest, size, content_type, *validators)


def copy(
    client: Client, url: str, dest: Path, *, etag: str = "", accept: str = PDF
) -> Downloaded | NotModified:
    """`download` for a local source: a file of this machine; its size and time stand in for an ETag."""
    path = client.local_path(url)
    if not path.is_file():
        raise DocumentError(f"{path} is not there", code="http_404")
    facts = path.stat()
    tag = f"{facts.st_mtime_ns}-{facts.st_size}"
    if etag == tag:
        return NOT_MODIFIED
    with replacing(dest) as partial, path.open("rb") as file:
        digest, size = _save(iter(lambda: file.read(CHUNK), b""), partial)
        content_type = _accepted_type(partial, str(path), "", accept)
    return Downloaded(digest, size, content_type, tag)


def _save(chunks: Iterable[bytes], file: Path) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with file.open("wb") as opened:
        for chunk in chunks:
            digest.update(chunk)
            size += len(chunk)
            opened.write(chunk)
    return digest.hexdigest(), size


def _accepted_type(file: Path, url: str, declared: str, accept: str) -> str:
    """What the bytes are, whatever the server calls them; an error for what is not the document."""
    content_type = sniff(file, declared)
    if content_type == PDF_TYPE or content_type in OFFICE_TYPES:
        return content_type
    if content_type == HTML_TYPE and accept == HTML:
        if _LOGIN.search(file.read_bytes()[:500_000]):
            raise DocumentError(f"{url} asks for a password", code="login_page")
        return content_type
    what = "an empty file" if file.stat().st_size == 0 else content_type or "neither a PDF nor a page"
    raise DocumentError(f"{url} is {what}, not a PDF", code="not_a_pdf")


def sniff(file: Path, declared: str) -> str:
    """The type by content, then by declaration; empty where neither tells."""
    with file.open("rb") as opened:
        start = opened.read(SNIFF_BYTES)
    if b"%PDF-" in start:
        return PDF_TYPE
    office = _office_type(file, start)
    if office:
        return office
    declared_type = declared.partition(";")[0].strip().lower()
    if declared_type in OFFICE_TYPES:
        declared_type = ""  # its content says otherwise
    if _MARKUP.match(start) or (start.strip() and declared_type in (HTML_TYPE, "application/xhtml+xml")):
        return HTML_TYPE
    return "" if declared_type == PDF_TYPE else declared_type


def _office_type(file: Path, start: bytes) -> str:
    """By content; a spreadsheet or a presentation is no document that we read."""
    if start.lstrip()[:5] == b"{\\rtf":
        return RTF_TYPE
    if start.startswith(b"PK\x03\x04"):
        if ODT_TYPE.encode() in start[:200]:
            return ODT_TYPE
        return DOCX_TYPE if _ends_with(file, b"word/document") else ""
    if start.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return DOC_TYPE if _names(file, "WordDocument".encode("utf-16-le")) else ""
    return ""


def _ends_with(file: Path, name: bytes) -> bool:
    with file.open("rb") as opened:
        opened.seek(max(0, file.stat().st_size - _LIST_BYTES))
        return name in opened.read()


def _names(file: Path, name: bytes) -> bool:
    """Whether the name stands anywhere in the file; read in pieces that overlap by its length."""
    before = b""
    with file.open("rb") as opened:
        while piece := opened.read(CHUNK):
            if name in before + piece:
                return True
            before = piece[-len(name) :]
    return False


def suffix_for(content_type: str) -> str:
    """How the file of such a document is called in storage."""
    return ".html" if content_type == HTML_TYPE else OFFICE_TYPES.get(content_type, ".pdf")
