"""The page on which a document is read again, otherwise than its file's looks suggest."""

import re
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from pipeline.flow import Refused
from pipeline.operations import decisions
from pipeline.operations.interventions import Operator
from pipeline.permissions import OPERATE
from pipeline.stages.decisions import HowRead, how_read
from pipeline.stages.ocr import engine_faults
from sites.models import Document

FINENESS = (("0", "as usual"), ("200", "200 dpi"), ("300", "300 dpi: small print; slower"))


class ReadAgainForm(forms.Form):
    by_ocr = forms.BooleanField(
        required=False, label="Recognise every page", help_text="the file's own text is no good"
    )
    dpi = forms.TypedChoiceField(choices=FINENESS, coerce=int, label="Drawn for recognition at")
    languages = forms.CharField(
        max_length=50, required=False, label="Languages", help_text="such as eng+spa; empty: the site's"
    )
    reason = forms.CharField(max_length=500, required=False, label="Why", help_text="kept with your name")

    def clean_languages(self) -> str:
        """A language that no engine has would hold up every other document."""
        named = str(self.cleaned_data["languages"]).strip()
        if named and not re.fullmatch(r"[A-Za-z_]{2,20}([+][A-Za-z_]{2,20})*", named):
            raise forms.ValidationError("Expected Tesseract's names, joined by +, such as eng+spa")
        faults = engine_faults([named]) if named else []
        if faults:
            raise forms.ValidationError(faults)
        return named


def page(request: HttpRequest, document: Document, context: dict[str, Any]) -> HttpResponse:
    if not request.user.has_perm(OPERATE):
        raise PermissionDenied
    form = ReadAgainForm(request.POST or None, initial=vars(how_read(document)))
    back = reverse("admin:sites_document_change", args=[document.pk])
    if request.method == "POST" and form.is_valid() and _read_again(request, document, form.cleaned_data):
        return redirect(back)
    context = {**context, "title": "Read again", "form": form, "document": document, "back": back}
    return render(request, "admin/pipeline/read_again.html", context)


def _read_again(request: HttpRequest, document: Document, told: dict[str, Any]) -> bool:
    operator = Operator(request.user.get_username(), told.pop("reason"))
    try:
        decided = decisions.read_again(document.pk, operator, HowRead(**told))
    except Refused as error:
        messages.error(request, str(error))
        return False
    messages.success(
        request, f"It is being read again. Run {decided.run.pk if decided.run else ''} publishes it."
    )
    return True
