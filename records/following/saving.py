"""Saving a search, confirming it, ending it. Nothing is sent to an address before its owner has said yes."""

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.http import QueryDict
from django.utils import timezone

from records.asking import Asked, asked_in
from records.following import arrivals
from records.models import SavedSearch

Frequency = SavedSearch.Frequency
PERIODS = {
    Frequency.AT_ONCE: timedelta(0),
    Frequency.DAILY: timedelta(days=1),
    Frequency.WEEKLY: timedelta(days=7),
}
# Whoever types somebody else's address must not be able to flood it.
MOST_UNCONFIRMED = 5
MOST_SAVED = 200
ASK_AGAIN = timedelta(hours=1)
# The link in the mail that asks holds as long.
UNCONFIRMED_KEPT = timedelta(days=7)


def save(email: str, asked: Asked, frequency: str) -> SavedSearch | None:
    """The search of this address, new or as it was; None where the address has too many."""
    address, query = email.strip().lower(), query_of(asked)
    active = SavedSearch.objects.filter(email=address, ended_at=None)
    known = active.filter(query=query).first()
    if known:
        # Until the owner says yes anybody may choose again; after that only the link in a mail changes it.
        active.filter(pk=known.pk, confirmed_at=None).update(frequency=frequency)
        return known
    if active.filter(confirmed_at=None).count() >= MOST_UNCONFIRMED or active.count() >= MOST_SAVED:
        return None
    try:
        with transaction.atomic():
            return SavedSearch.objects.create(email=address, query=query, frequency=frequency)
    except IntegrityError:  # twice in the same moment
        return active.filter(query=query).first()


def query_of(asked: Asked) -> str:
    """The same search is the same words, wherever in it somebody was reading."""
    return asked.with_(sort="rank").query


def asked_of(search: SavedSearch) -> Asked:
    return asked_in(QueryDict(search.query))


def confirm(search_id: int) -> SavedSearch | None:
    """From now on what is new is told. None where it was ended, or never was."""
    now = timezone.now()
    SavedSearch.objects.filter(pk=search_id, confirmed_at=None, ended_at=None).update(
        confirmed_at=now, due_at=now, seen=arrivals.newest()
    )
    return SavedSearch.objects.filter(pk=search_id, confirmed_at__isnull=False, ended_at=None).first()


def stop(search_id: int) -> bool:
    return bool(SavedSearch.objects.filter(pk=search_id, ended_at=None).update(ended_at=timezone.now()))


def stop_all(email: str) -> int:
    return SavedSearch.objects.filter(email=email, ended_at=None).update(ended_at=timezone.now())


def change(search_id: int, email: str, frequency: str) -> bool:
    mine = SavedSearch.objects.filter(pk=search_id, email=email, ended_at=None, confirmed_at__isnull=False)
    return bool(mine.update(frequency=frequency, due_at=timezone.now()))


def followed_by(email: str) -> list[SavedSearch]:
    return list(SavedSearch.objects.filter(email=email, ended_at=None, confirmed_at__isnull=False))


def next_due(search: SavedSearch, now: datetime) -> datetime:
    """The next time of its own rhythm, however late this one was."""
    period, due = PERIODS[Frequency(search.frequency)], search.due_at or now
    if not period:
        return now
    return due + period * ((now - due) // period + 1)


# ---- The mail that asks -------------------------------------------------------------------------------


def to_ask(now: datetime) -> list[SavedSearch]:
    """Those whose mail could not be sent when they were saved."""
    return list(SavedSearch.objects.filter(ended_at=None, confirmed_at=None, asked_at=None))


def claim_asking(search_id: int, now: datetime) -> bool:
    """True for the one who sends that mail; the same address is not asked again within the hour."""
    due = Q(asked_at=None) | Q(asked_at__lt=now - ASK_AGAIN)
    return SavedSearch.objects.filter(due, pk=search_id, ended_at=None).update(asked_at=now) == 1


def release_asking(search_id: int, now: datetime) -> None:
    SavedSearch.objects.filter(pk=search_id, asked_at=now).update(asked_at=None)


def forget_unconfirmed(now: datetime) -> int:
    """Addresses whose owners never answered are not kept."""
    old = SavedSearch.objects.filter(confirmed_at=None, created_at__lt=now - UNCONFIRMED_KEPT)
    return old.delete()[0]
