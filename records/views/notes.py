"""Where a reader says that something is not right; and the way from a page to the admin."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from records import notes
from records.access import is_staff, readers
from records.files import original_of
from records.limits import limited
from records.notes import NoteForm
from records.published import records_of


@never_cache  # the form has a key of its own for each reader
@limited("notes", "RECORDS_NOTES_PER_MINUTE")
@readers
def leave(request: HttpRequest, site_id: str, document_id: str, page: int) -> HttpResponse:
    with records_of(site_id) as records:
        document = records.document(document_id)
        if document is None or records.page(document_id, page) is None:
            raise Http404("no such page is published")
        site = records.site()
    form = NoteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        if not form.is_from_a_machine():
            notes.leave(document, page, form.cleaned_data)
        messages.success(request, "Thank you. An operator will look at it.")
        return redirect("records:page", site_id, document_id, page)
    context = {"site": site, "document": document, "page": page, "form": form}
    return render(request, "records/note.html", context)


@readers
def operate(request: HttpRequest, site_id: str, document_id: str) -> HttpResponse:
    """From a document to its page in the admin, for those who may go there."""
    if not is_staff(request):
        raise Http404("for operators")
    with records_of(site_id) as records:
        document = records.document(document_id)
    original = original_of(document) if document else None
    if original is None:
        raise Http404("no row of this document is known")
    return redirect(reverse("admin:sites_document_change", args=[original.row.pk]))
