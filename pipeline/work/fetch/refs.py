"""What a listing is made of: one reference per document, and the words that tell kinds apart."""

import datetime as dt
import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from pipeline.errors import storable
from pipeline.work.fetch.dates import undated

AGENDA, MINUTES, PACKET, OTHER = "agenda", "minutes", "packet", "other"
PDF, HTML = "pdf", "html"

# Order matters: "Agenda Packet" is a packet and "Minutes of the agenda review" are minutes.
_KINDS = (
    (PACKET, re.compile(r"packet|(?:board|meeting)[\s_-]*book|board\s*pack", re.I)),
    (MINUTES, re.compile(r"minutes|minuta|\bmins?\b|action\s*summary|proceedings|journal", re.I)),
    (AGENDA, re.compile(r"agenda|\bagd\b", re.I)),
)
_CANCELLED = re.compile(r"cancel|postpon", re.I)
_NOT_CANCELLED = re.compile(r"not\s+cancel|un-?cancel", re.I)


@dataclass(frozen=True)
class DocRef:
    """One document at a source. `external_id` is its identity there, whatever else changes."""

    external_id: str
    url: str
    title: str = ""
    body: str = ""
    date: dt.date | None = None
    time: dt.time | None = None
    kind: str = OTHER
    cancelled: bool = False
    # "pdf": only a PDF will do; "html": an HTML page is the document (a PDF is welcome too).
    content_hint: str = PDF
    # What the platform changes when it publishes the document anew, where it tells: a date or an id.
    revision: str = ""


# Bytes. An identity, often an address, stands in an index whose entries PostgreSQL limits to 2,704.
LONGEST = 2_600
SCHEMES = ("http://", "https://")


def fault_of(ref: DocRef, *, local: bool = False) -> str:
    """Why a reference cannot be kept; empty for one that can."""
    if not ref.external_id or not ref.url:
        return "names no document"
    if any(storable(text) != text for text in (ref.external_id, ref.url)):
        return "has characters that are none"
    if max(len(ref.external_id.encode()), len(ref.url.encode())) > LONGEST:
        return "is too long"
    if not ref.url.lower().startswith(("file://",) if local else SCHEMES):
        return "is no web address"
    return ""


def shortened(ref: DocRef) -> str:
    """A reference in a message: what it leads to, without its middle."""
    name = ref.url or ref.title or ref.external_id
    return repr(name if len(name) <= 80 else f"{name[:60]}…{name[-10:]}")


def complaint(faults: list[str]) -> str:
    """How many references cannot be kept, and the first of them."""
    named = "; ".join(faults[:3]) + ("; …" if len(faults) > 3 else "")
    return storable(f"{len(faults)} references cannot be kept: {named}") if faults else ""


def kind_of(*texts: str) -> str:
    """The kind that the first telling text names."""
    for text in texts:
        for kind, pattern in _KINDS:
            if pattern.search(text or ""):
                return kind
    return OTHER


def is_cancelled(*texts: str) -> bool:
    return any(_CANCELLED.search(text or "") and not _NOT_CANCELLED.search(text or "") for text in texts)


# Words that make a name the name of a body rather than of a year, a month or a kind of document.
_BODY = re.compile(
    r"\b(?:council|board|commission(?:ers)?|committee|authority|agency|district|trustees|supervisors|assembly"
    r"|court|panel|task\s*force|corporation|select(?:men|board)|aldermen|association|foundation|trust|cabinet)\b",
    re.I,
)
_NOT_BODY = re.compile(
    r"\b(?:19|20)\d\d\b|\b(?:agendas?|minutes|packets?|archives?|documents?|and|&|past|upcoming|current)\b(?=\W*$)"
    r"|^\W*(?:agendas?|minutes|archives?|past|upcoming|current)\b",
    re.I,
)


@lru_cache(maxsize=1024)
def body_in(text: str) -> str:
    """The meeting body that a heading names, without its year and the kind of document; empty if none."""
    if not _BODY.search(text or "") or len(text) > 150:
        return ""
    name, before = undated(clean(text)), ""
    while name != before:
        before, name = name, _NOT_BODY.sub("", name).strip(" -\u2013\u2014:,*&|/()")
    return name


_OCCASION = re.compile(
    r"(?:\s+-\s+|\s*,\s*|\s+)(?:(?:regular|special|emergency|called|joint|annual|work|working|study|budget|public|closed"
    r"|executive|employee|virtual)\s+){0,3}(?:meetings?|sessions?|workshops?|worksessions?|hearings?|retreats?)$",
    re.I,
)


def convened(name: str) -> str:
    """The body that met, by the meeting's name: `Planning Board Special Meeting` is of the Planning Board."""
    body = undated(clean(name))
    shorter = _OCCASION.sub("", body)
    return shorter if _BODY.search(shorter) else body


def is_pdf(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path.lower().endswith(".pdf") or bool(re.search(r"\.pdf(?:&|$)", unquote(parts.query), re.I))


_FILE_NAME = re.compile(r"\.(?:pdf|docx?|rtf|odt)\Z", re.I)


def is_file(url: str) -> bool:
    """Whether the address names a PDF or a text written with an office program."""
    try:
        return is_pdf(url) or bool(_FILE_NAME.search(urlsplit(url).path))
    except ValueError:
        return False


def clean(text: str | None) -> str:
    """Visible text on one line: no-break and zero-width spaces are spaces or nothing."""
    return " ".join((text or "").replace("\u200b", "").replace("\ufeff", "").split())


def url_identity(url: str) -> str:
    """A URL as an identity: without scheme, fragment and spelling differences that name the same file."""
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".").removeprefix("www.")
    port = f":{parts.port}" if parts.port not in (None, 80, 443) else ""
    path = quote(unquote(parts.path), safe="/")
    query = urlencode(sorted(parse_qsl(parts.query, keep_blank_values=True)))
    return f"{host}{port}{path}{'?' + query if query else ''}"
