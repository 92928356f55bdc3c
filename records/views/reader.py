"""The reader: a page's picture beside its text, with what was searched for marked on both."""

from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import FileResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone

from pipeline.work.index import marking
from pipeline.work.index.question import MOST_CHARACTERS, understand
from records import changes as changing
from records import pictures, reading
from records.access import is_public, readers
from records.citing import citations, linked_data
from records.files import Original, original_of
from records.limits import limited
from records.published import PublishedDocument, PublishedPage, Records, records_of
from records.results import page_url

MOST_THUMBNAILS = 1000


@readers
def document(request: HttpRequest, site_id: str, document_id: str) -> HttpResponse:
    with records_of(site_id) as records:
        found = _document(records, document_id)
        numbers = records.page_numbers(found.id)
    return redirect(page_url(site_id, found.id, numbers[0] if numbers else 1, _words(request)))


@readers
def page(request: HttpRequest, site_id: str, document_id: str, page: int) -> HttpResponse:
    words = _words(request)
    with records_of(site_id) as records:
        found = _document(records, document_id)
        shown = _page(records, found, page)
        original = original_of(found)
        marks = reading.spans(understand(words), shown.text, reading.passage(request.GET.get("at", "")))
        pages = reading.pages_of(found, records.page_numbers(found.id), words)
        context = {
            "site": records.site(),
            "document": found,
            "page": shown,
            "q": words,
            "pieces": marking.pieces(shown.text, marks),
            "marked": len(marks),
            "boxes": reading.boxes(marks, shown, original),
            "has_picture": has_picture(original),
            "has_original": bool(original and original.file),
            "row": original.row if original else None,
            "how_read": reading.how_read(shown),
            "versions": reading.versions(records, found, original),
            "facts": reading.facts_of(records, found, shown),
            "found_on": [link for link in pages if link.found],
        } | _around(pages, page)
    return render(request, "records/reader.html", context | _to_cite(request, context))


def _around(pages: list[reading.PageLink], number: int) -> dict[str, object]:
    before = [link for link in pages if link.number < number]
    after = [link for link in pages if link.number > number]
    return {"previous": before[-1] if before else None, "next": after[0] if after else None}


def _to_cite(request: HttpRequest, shown: dict[str, object]) -> dict[str, object]:
    site, document, page = shown["site"], shown["document"], shown["page"]
    assert isinstance(document, PublishedDocument)
    assert isinstance(page, PublishedPage)
    url = request.build_absolute_uri(page_url(document.site, document.id, page.number))
    told = (site, document, page, url)
    return {
        "address": url,
        "citations": citations(*told, timezone.localdate()),  # type: ignore[arg-type]
        "linked_data": linked_data(*told),  # type: ignore[arg-type]
        "public": is_public(),
    }


@readers
def pages(request: HttpRequest, site_id: str, document_id: str) -> HttpResponse:
    """All pages of a document as small pictures."""
    words = _words(request)
    with records_of(site_id) as records:
        found = _document(records, document_id)
        numbers = records.page_numbers(found.id)[:MOST_THUMBNAILS]
        context = {
            "site": records.site(),
            "document": found,
            "q": words,
            "pages": reading.pages_of(found, numbers, words),
            "has_picture": has_picture(original_of(found)),
        }
    return render(request, "records/pages.html", context)


@readers
def changes(request: HttpRequest, site_id: str, document_id: str, other_id: str) -> HttpResponse:
    """From the first of two versions to the second."""
    with records_of(site_id) as records:
        older, newer = _document(records, document_id), _document(records, other_id)
        context = {
            "site": records.site(),
            "document": newer,
            "older": older,
            "newer": newer,
            "lines": changing.changes(records, older.id, newer.id),
        }
    return render(request, "records/changes.html", context)


@readers
def text(request: HttpRequest, site_id: str, document_id: str, page: int) -> HttpResponse:
    """The text of a page and nothing else."""
    with records_of(site_id) as records:
        shown = _page(records, _document(records, document_id), page)
    return HttpResponse(shown.text, content_type="text/plain; charset=utf-8")


@readers
@limited("images", "RECORDS_IMAGES_PER_MINUTE")
def picture(request: HttpRequest, site_id: str, document_id: str, page: int, width: int) -> HttpResponseBase:
    with records_of(site_id) as records:
        found = _document(records, document_id)
        _page(records, found, page)
    return pictures.answer(request, found, page, width)


@readers
@limited("images", "RECORDS_IMAGES_PER_MINUTE")
def original(request: HttpRequest, site_id: str, document_id: str) -> HttpResponseBase:
    """The file itself, as the city published it."""
    with records_of(site_id) as records:
        found = _document(records, document_id)
    file = _file_of(original_of(found))
    is_pdf = file.suffix == ".pdf"
    response = FileResponse(file.open("rb"), as_attachment=not is_pdf, filename=file.name)
    response["Content-Type"] = "application/pdf" if is_pdf else "application/octet-stream"
    response["X-Content-Type-Options"] = "nosniff"
    if not is_pdf:  # a stranger's page on our own address: nothing in it may run
        response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


def has_picture(original: Original | None) -> bool:
    return bool(original and original.file and original.file.suffix == ".pdf")


def _file_of(original: Original | None) -> Path:
    file = original.file if original else None
    if file is None:
        raise Http404("the original is not kept here")
    return file


def _words(request: HttpRequest) -> str:
    return " ".join(request.GET.get("q", "")[:MOST_CHARACTERS].split())


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
