"""The page on which a document's date, body and kind are put right."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from pipeline.flow import Refused
from pipeline.operations import decisions
from pipeline.operations.decisions import Right
from pipeline.operations.interventions import Operator
from pipeline.permissions import OPERATE
from sites.models import Document, Kind


class CorrectionForm(forms.Form):
    meeting_date = forms.DateField(
        required=False, label="Date of the meeting", widget=forms.DateInput(attrs={"type": "date"})
    )
    body = forms.CharField(max_length=300, required=False, label="Body", help_text="such as City Council")
    kind = forms.ChoiceField(choices=Kind.choices, label="Kind")
    reason = forms.CharField(max_length=500, required=False, label="Why", help_text="kept with your name")


def page(request: HttpRequest, document: Document, context: dict[str, Any]) -> HttpResponse:
    if not request.user.has_perm(OPERATE):
        raise PermissionDenied
    known = {"meeting_date": document.meeting_date, "body": document.body, "kind": document.kind}
    form = CorrectionForm(request.POST or None, initial=known)
    back = reverse("admin:sites_document_change", args=[document.pk])
    if request.method == "POST" and form.is_valid() and _correct(request, document, form.cleaned_data):
        return redirect(back)
    context = {**context, "title": "Put right", "form": form, "document": document, "back": back}
    return render(request, "admin/pipeline/correct.html", context)


def _correct(request: HttpRequest, document: Document, told: dict[str, Any]) -> bool:
    operator = Operator(request.user.get_username(), told.pop("reason"))
    try:
        decided = decisions.correct(document.pk, operator, Right(**told))
    except Refused as error:
        messages.error(request, str(error))
        return False
    shown = f"Run {decided.run.pk} publishes it." if decided.run else "The next run publishes it."
    messages.success(request, f"Put right. {shown}")
    return True
