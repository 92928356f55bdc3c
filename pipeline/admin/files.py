"""A document's own file, and a picture of its page, for whoever asks why it failed."""

from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404

from pipeline.errors import DocumentError
from pipeline.work.ocr.picture import draw_page
from records.files import Original
from sites.models import Document

WIDTH = 900


def file_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    """As it was fetched. What is no PDF is downloaded, never shown: it came from somebody else's server."""
    document = get_object_or_404(Document, pk=pk)
    file = Original(document).file
    if file is None:
        raise Http404("the file of this document is not kept here")
    is_pdf = document.content_type.startswith("application/pdf")
    return FileResponse(
        file.open("rb"),
        as_attachment=not is_pdf,
        filename=file.name,
        content_type="application/pdf" if is_pdf else "application/octet-stream",
    )


def picture_view(request: HttpRequest, pk: int, page: int) -> HttpResponse:
    file = Original(get_object_or_404(Document, pk=pk)).file
    if file is None:
        raise Http404("the file of this document is not kept here")
    try:
        return HttpResponse(draw_page(file, page, WIDTH), content_type="image/webp")
    except DocumentError as error:
        raise Http404(f"this page cannot be drawn: {error}") from error
