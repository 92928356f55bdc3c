"""Adding a site from the address of its records: a job looks, the page shows it, a person saves."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from pipeline.errors import PipelineError
from pipeline.flow import Refused
from pipeline.models import Look
from pipeline.operations import add_site, interventions, looking
from pipeline.operations.add_site import Preview
from pipeline.operations.interventions import Operator
from pipeline.permissions import OPERATE
from pipeline.queue import inspection
from pipeline.queue.sending import LOOK_QUEUE, QueueUnavailable
from pipeline.reports.wording import plural
from pipeline.work.fetch.registry import fetchers
from sites.keys import validate_key


class AddressForm(forms.Form):
    url = forms.CharField(
        label="Address",
        max_length=2000,
        help_text="The page with its agendas and minutes, such as springfield.gov/meetings.",
        widget=forms.TextInput(attrs={"class": "vTextField", "autofocus": True, "inputmode": "url"}),
    )
    platform = forms.ChoiceField(
        required=False, help_text="Leave it as it is, unless you know better than the page says."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = sorted((fetcher.label, name) for name, fetcher in fetchers().items())
        choices = [("", "recognise it"), *((name, label) for label, name in known)]
        self.fields["platform"].choices = choices  # type: ignore[attr-defined]


class SaveForm(forms.Form):
    subdomain = forms.CharField(
        label="Key",
        help_text="Its name in addresses and folders, such as alameda.ca. It cannot be changed later.",
        validators=[validate_key],
    )
    name = forms.CharField(required=False, help_text="What readers call it")
    state = forms.CharField(label="US state", max_length=2, required=False, help_text="Two letters")
    kind = forms.CharField(required=False, help_text="city, county, school board …")
    start = forms.BooleanField(label="Start its first run now", required=False, initial=True)

    def clean_state(self) -> str:
        return str(self.cleaned_data["state"]).upper()


def page(request: HttpRequest, frame: dict[str, Any]) -> HttpResponse:
    """First the address; then, at an address of its own, what is found there."""
    look = _look_of(request)
    if look is not None and request.method == "POST":
        return _save(request, frame, look)
    if request.method == "POST":
        return _begin(request, frame)
    context = context_of(look) if look is not None else {}
    address = AddressForm(initial={"url": look.url, "platform": look.platform} if look else {})
    return _show(request, frame, address=address, **context)


def _look_of(request: HttpRequest) -> Look | None:
    chosen = request.GET.get("look", "")
    if not chosen:
        return None
    look = Look.objects.filter(pk=chosen).first() if chosen.isdecimal() else None
    if look is None:
        raise Http404("nothing was looked at under this number")
    return look


def _begin(request: HttpRequest, frame: dict[str, Any]) -> HttpResponse:
    address = AddressForm(request.POST)
    if not address.is_valid():
        return _show(request, frame, address=address)
    values = address.cleaned_data
    try:
        look = looking.begin(values["url"], values["platform"], request.user.get_username())
    except QueueUnavailable as error:
        address.add_error("url", str(error))
        return _show(request, frame, address=address)
    return redirect(f"{reverse('admin:sites_site_add')}?look={look.pk}")


def live(request: HttpRequest, pk: int) -> HttpResponse:
    look = Look.objects.filter(pk=pk).first()
    if look is None:
        raise Http404
    return render(request, "admin/sites/site/_look.html", context_of(look))


def context_of(look: Look) -> dict[str, Any]:
    running = look.status == Look.Status.RUNNING
    force = inspection.read_workforce() if running else None
    return {
        "look": look,
        "diagnosis": looking.diagnosis_of(look),
        "previews": look.found.get("previews", []),
        "picked": _picked(look),
        "no_worker": force is not None and not force.queue(LOOK_QUEUE).workers,
        "save": SaveForm(initial=look.found["guess"]) if look.status == Look.Status.FOUND else None,
    }


def _picked(look: Look) -> dict[str, Any] | None:
    return next((preview for preview in look.found.get("previews", []) if preview["picked"]), None)


def _save(request: HttpRequest, frame: dict[str, Any], look: Look) -> HttpResponse:
    save, picked = SaveForm(request.POST), _picked(look)
    if picked is None:
        raise Http404("nothing was found under this number")
    if not save.is_valid():
        return _again(request, frame, look, save)
    values = dict(save.cleaned_data)
    subdomain, start = values.pop("subdomain"), values.pop("start")
    chosen = Preview(
        picked["platform"],
        picked["label"],
        picked["url"],
        1.0,
        "chosen by a person",
        options=picked["options"],
    )
    try:
        created = add_site.create(subdomain, [chosen], **values)
    except PipelineError as error:
        save.add_error(None, str(error))
        return _again(request, frame, look, save)
    known = "" if created.new_site else "The site was there already. "
    messages.success(request, f"{known}{plural(len(created.sources), 'source', 'sources')} added.")
    if start and request.user.has_perm(OPERATE):
        _start(request, created.site.pk)
    return redirect("admin:sites_site_change", created.site.pk)


def _start(request: HttpRequest, site_id: str) -> None:
    try:
        interventions.start(site_id, Operator(request.user.get_username(), "its first run"))
    except (Refused, QueueUnavailable) as error:
        messages.warning(request, str(error))


def _again(request: HttpRequest, frame: dict[str, Any], look: Look, save: SaveForm) -> HttpResponse:
    return _show(
        request, frame, address=AddressForm(initial={"url": look.url}), **{**context_of(look), "save": save}
    )


def _show(request: HttpRequest, frame: dict[str, Any], **parts: Any) -> HttpResponse:
    return render(request, "admin/sites/site/add_from_address.html", {**frame, **parts})
