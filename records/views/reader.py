"""The reader: a page's picture beside its text, with what was searched for marked on both."""

import re
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import FileResponse, HttpResponseBase
from django.shortcuts import redirect, render

from pipeline.work.index import marking
from pipeline.work.index.marking import Span
from pipeline.work.index.question import MOST_CHARACTERS, Question, understand
from pipeline.work.ocr.words import PlacedWord
from records import pictures
from records.access import readers
from records.files import Original, original_of
from records.published import PublishedDocument, PublishedPage, Records, records_of


@dataclass(frozen=True)
class Box:
    """A rectangle on the picture, in ten-thousandths of its width and height."""

    left: int
    top: int
    width: int
    height: int


@readers
def document(request: HttpRequest, site_id: str, document_id: str) -> HttpResponse:
    with records_of(site_id) as records:
        found = _document(records, document_id)
        numbers = records.page_numbers(found.id)
    return redirect("records:page", site_id, document_id, numbers[0] if numbers else 1)


@readers
def page(request: HttpRequest, site_id: str, document_id: str, page: int) -> HttpResponse:
    words = " ".join(request.GET.get("q", "")[:MOST_CHARACTERS].split())
    question, at = understand(words), _passage(request.GET.get("at", ""))
    with records_of(site_id) as records:
        found = _document(records, document_id)
        shown = _page(records, found, page)
        numbers = records.page_numbers(found.id)
        site = records.site()
    original = original_of(found)
    context = {
        "site": site,
        "document": found,
        "page": shown,
        "q": words,
        "pieces": marking.pieces(shown.text, _spans(question, shown.text, at)),
        "boxes": _boxes(_spans(question, shown.text, at), shown, original),
        "has_picture": bool(original and original.file and found.pages),
        "previous": max((number for number in numbers if number < page), default=None),
        "next": min((number for number in numbers if number > page), default=None),
    }
    return render(request, "records/reader.html", context)


@readers
def picture(request: HttpRequest, site_id: str, document_id: str, page: int, width: int) -> HttpResponseBase:
    with records_of(site_id) as records:
        found = _document(records, document_id)
        _page(records, found, page)
    return pictures.answer(request, found, page, width)


@readers
def original(request: HttpRequest, site_id: str, document_id: str) -> HttpResponseBase:
    """The file itself, as the city published it."""
    with records_of(site_id) as records:
        found = _document(records, document_id)
    file = _file_of(original_of(found))
    response = FileResponse(file.open("rb"), as_attachment=file.suffix != ".pdf", filename=file.name)
    # It is a stranger's file on our own address: nothing in it may run.
    response["Content-Security-Policy"] = "sandbox; default-src 'none'; style-src 'unsafe-inline'"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _file_of(original: Original | None):  # type: ignore[no-untyped-def]
    file = original.file if original else None
    if file is None:
        raise Http404("the original is not kept here")
    return file


def _document(records: Records, document_id: str) -> PublishedDocument:
    found = records.document(document_id)
    if found is None:
        raise Http404("no such document is published")
    return found


def _page(records: Records, document: PublishedDocument, number: int) -> PublishedPage:
    found = records.page(document.id, number)
    if found is None:
        raise Http404("the document has no such page")
    return found


def _passage(told: str) -> Span | None:
    """`120-180`: a passage of the page's text that a link points to."""
    match = re.fullmatch(r"(\d{1,7})-(\d{1,7})", told)
    return Span(int(match[1]), int(match[2]), 0) if match else None


def _spans(question: Question, text: str, at: Span | None) -> list[Span]:
    """The passage pointed to, and the words searched for; never one within the other."""
    if at is None or not at.start < at.end <= len(text):
        return marking.spans(question, text)
    found = [span for span in marking.spans(question, text) if span.end <= at.start or span.start >= at.end]
    return sorted([*found, at], key=lambda span: span.start)


def _boxes(found: list[Span], page: PublishedPage, original: Original | None) -> list[Box]:
    """Where the marked words stand on the picture."""
    if not found or original is None:
        return []
    placed = [word for word in original.words(page.number) if word.start is not None]
    return [
        _box(word)
        for word in placed
        if any(span.start < (word.end or 0) and (word.start or 0) < span.end for span in found)
    ]


def _box(word: PlacedWord) -> Box:
    return Box(*(round(10_000 * share) for share in (word.left, word.top, word.width, word.height)))
