"""Adding a site from the address of its records: look, show what would be fetched, save."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from pipeline.errors import PipelineError
from pipeline.operations import add_site
from pipeline.operations.add_site import Preview
from pipeline.work.fetch.registry import fetcher_class
from sites.keys import validate_key


class AddressForm(forms.Form):
    url = forms.CharField(
        label="Address",
        max_length=2000,
        help_text="The page on which the city publishes its agendas and minutes. The platform is recognised.",
        widget=forms.URLInput(attrs={"class": "vTextField", "autofocus": True}),
    )
    state = forms.CharField(label="US state", max_length=2, required=False, help_text="Two letters")


class SaveForm(forms.Form):
    subdomain = forms.CharField(
        label="Key of the site",
        help_text="e.g. alameda.ca; it cannot be changed later",
        validators=[validate_key],
    )
    name = forms.CharField(required=False)
    kind = forms.CharField(required=False, help_text="city, county, school board …")
    platform = forms.CharField(widget=forms.HiddenInput)
    source = forms.CharField(widget=forms.HiddenInput)
    state = forms.CharField(widget=forms.HiddenInput, required=False)


def page(request: HttpRequest, frame: dict[str, Any]) -> HttpResponse:
    """First the address, then what was found there, then the site."""
    if "subdomain" in request.POST:
        return _save(request, frame)
    if request.method == "POST":
        return _look(request, frame)
    return _show(request, frame, address=AddressForm())


def _look(request: HttpRequest, frame: dict[str, Any]) -> HttpResponse:
    address = AddressForm(request.POST)
    if not address.is_valid():
        return _show(request, frame, address=address)
    url, state = address.cleaned_data["url"], address.cleaned_data["state"].upper()
    try:
        with add_site.open_client() as client:
            previews = add_site.preview(url, client, timezone.localdate())
    except PipelineError as error:
        address.add_error("url", f"{error.code}: {error}")
        return _show(request, frame, address=address)
    picked = add_site.chosen(previews)
    if not picked:
        address.add_error("url", "Nothing here lists documents. Try another page, or add the site by hand.")
        return _show(request, frame, address=address, previews=previews)
    name = add_site.suggest_subdomain(url, state)
    found = {"subdomain": name, "platform": picked[0].platform, "source": picked[0].url, "state": state}
    save = SaveForm(initial=found)
    return _show(request, frame, address=address, previews=previews, picked=picked[0], save=save)


def _save(request: HttpRequest, frame: dict[str, Any]) -> HttpResponse:
    save = SaveForm(request.POST)
    if not save.is_valid():
        return _show(request, frame, address=AddressForm(), save=save)
    values = dict(save.cleaned_data)
    platform, url, subdomain = values.pop("platform"), values.pop("source"), values.pop("subdomain")
    try:
        chosen = Preview(platform, fetcher_class(platform).label, url, 1.0, "chosen by a person")
        created = add_site.create(subdomain, [chosen], **values)
    except PipelineError as error:
        save.add_error(None, str(error))
        return _show(request, frame, address=AddressForm(), save=save)
    known = "" if created.new_site else "The site was there already. "
    messages.success(request, f"{known}{len(created.sources)} source added. Start it when you like.")
    return redirect("admin:sites_site_change", created.site.pk)


def _show(request: HttpRequest, frame: dict[str, Any], **parts: Any) -> HttpResponse:
    return render(request, "admin/sites/site/add_from_address.html", {**frame, **parts})
