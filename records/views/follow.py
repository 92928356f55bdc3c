"""Following by mail: a search is saved, confirmed, changed and ended, all without an account."""

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from records.access import is_public, readers
from records.asking import asked_in
from records.following import links, saving, sending
from records.limits import limited
from records.models import SavedSearch
from records.results import site_names

READ_AND_SEND = require_http_methods(["GET", "HEAD", "POST"])


class FollowForm(forms.Form):
    email = forms.EmailField(max_length=254)
    frequency = forms.ChoiceField(choices=SavedSearch.Frequency.choices, initial="daily")
    # A field that people do not see and machines fill in.
    website = forms.CharField(required=False)


@never_cache
@READ_AND_SEND
@limited("notes", "RECORDS_NOTES_PER_MINUTE")
@readers
def follow(request: HttpRequest) -> HttpResponse:
    """The search in the address, to be told of by mail."""
    if not offered():
        raise Http404("no mail is sent here")
    asked = asked_in(request.GET)
    form = FollowForm(request.POST or None, initial={"frequency": "daily"})
    context = {"asked": asked, "form": form, "names": site_names(asked.site), "done": False}
    if request.method == "POST" and form.is_valid() and not asked.is_empty:
        told = form.cleaned_data
        search = None if told["website"] else saving.save(told["email"], asked, told["frequency"])
        if search:
            sending.ask(search)
        # The same words in any case: whether an address is known is nobody else's business.
        context["done"] = True
    return render(request, "records/follow.html", context)


def offered() -> bool:
    return is_public() and sending.is_possible()


@never_cache
@READ_AND_SEND
def confirm(request: HttpRequest, token: str) -> HttpResponse:
    """Confirmed by a button: programs that look at links in mails must not say yes for somebody."""
    search_id = links.search_to_confirm(token)
    if search_id is None:
        return _gone(request, "This link is too old or not whole. Save the search again to get a new one.")
    if request.method == "POST":
        search = saving.confirm(search_id)
        if search is None:
            return _gone(request, "This search was ended meanwhile.")
        messages.success(request, "Confirmed. You will be told of what is new from now on.")
        return redirect(links.to_manage(search.email).removeprefix(links.absolute("")))
    search = SavedSearch.objects.filter(pk=search_id, ended_at=None).first()
    if search is None:
        return _gone(request, "This search was ended meanwhile.")
    return _one(request, search, "confirm")


@csrf_exempt  # the program that reads the mail asks, as RFC 8058 says; the link itself is the permission
@never_cache
@READ_AND_SEND
def stop(request: HttpRequest, token: str) -> HttpResponse:
    search_id = links.search_to_stop(token)
    search = SavedSearch.objects.filter(pk=search_id or 0).first()
    if search is None:
        return _gone(request, "There is no such search any more: no mail will come.")
    if request.method == "POST":
        saving.stop(search.pk)
        search.refresh_from_db()
    return _one(request, search, "stop")


@never_cache
@READ_AND_SEND
def followed(request: HttpRequest, token: str) -> HttpResponse:
    """All that an address follows; each can be changed or ended."""
    email = links.address_to_manage(token)
    if email is None:
        return _gone(request, "This link is not whole.")
    if request.method == "POST":
        messages.success(request, _changed(request, email))
        return redirect(request.path)
    searches = [(search, saving.asked_of(search)) for search in saving.followed_by(email)]
    context = {"email": email, "searches": searches, "frequencies": SavedSearch.Frequency.choices}
    return render(request, "records/followed.html", context)


def _changed(request: HttpRequest, email: str) -> str:
    if "all" in request.POST:
        return f"{saving.stop_all(email)} ended. No mail will come any more."
    told, frequency = request.POST.get("search", ""), request.POST.get("frequency", "")
    number = int(told) if told.isascii() and told.isdigit() and len(told) < 18 else 0
    mine = SavedSearch.objects.filter(pk=number, email=email)
    if "stop" in request.POST and mine.exists():
        saving.stop(number)
        return "Ended. No mail of this search will come any more."
    if frequency in SavedSearch.Frequency.values and saving.change(number, email, frequency):
        return "Changed."
    return "Nothing was changed."


def _one(request: HttpRequest, search: SavedSearch, page: str) -> HttpResponse:
    context = {"search": search, "asked": saving.asked_of(search), "page": page}
    return render(request, "records/follow_one.html", context)


def _gone(request: HttpRequest, why: str) -> HttpResponse:
    return render(request, "records/follow_one.html", {"why": why}, status=404)
