"""The mails: the one that asks, and the one that tells what was found, with the pages' pictures."""

import hashlib
from dataclasses import dataclass
from email.mime.image import MIMEImage
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils.text import Truncator

from pipeline.work.index import marking
from pipeline.work.index.question import Question, understand
from pipeline.work.index.searching import Place
from pipeline.work.pictures import READ
from records import pictures, reading
from records.files import original_of
from records.following import links, marked, saving
from records.models import Alert, SavedSearch
from records.results import Hit, hits_at

# More would make the mail heavy; the others are a click away.
PICTURES = 4
SUBJECT_CHARACTERS = 80


@dataclass(frozen=True)
class Told:
    """A find as a mail shows it."""

    hit: Hit
    url: str
    picture: bytes | None
    picture_id: str


def to_ask(search: SavedSearch) -> EmailMultiAlternatives:
    """Whether the address is its owner's; to one who has said yes before, the way to change it."""
    context = {
        "search": search,
        "asked": saving.asked_of(search),
        "host": _host(),
        "confirm": links.to_confirm(search.pk),
        "manage": links.to_manage(search.email) if search.confirmed_at else "",
    }
    words = saving.asked_of(search).described
    subject = "You follow this already" if search.confirmed_at else "Please confirm"
    return _mail("ask", search, f"{subject}: {words}", context)


def of_alert(alert: Alert) -> EmailMultiAlternatives | None:
    """None where everything that was found is gone again: taken down, or its site with it."""
    search = alert.search
    asked = saving.asked_of(search)
    question = understand(asked.words)
    hits = hits_at([Place(*hit) for hit in alert.hits], question, asked.words)
    if not hits:
        return None
    told = [_told(hit, question, number) for number, hit in enumerate(hits)]
    context = {
        "search": search,
        "asked": asked,
        "told": told,
        "total": alert.total,
        "more": max(alert.total - len(hits), 0),
        "all": links.absolute(asked.with_(sort="new").url),
        "host": _host(),
        "stop": links.to_stop(search.pk),
        "manage": links.to_manage(search.email),
    }
    pages = f"{alert.total} new page{'' if alert.total == 1 else 's'}"
    mail = _mail("alert", search, f"{pages}: {asked.described}", context)
    # The same for every attempt: where one was taken twice, programs that read mail show it once.
    mail.extra_headers["Message-ID"] = _message_id(alert)
    for each in told:
        if each.picture:
            mail.attach(_inline(each.picture, each.picture_id))
    return mail


def _mail(name: str, search: SavedSearch, subject: str, context: dict[str, object]) -> EmailMultiAlternatives:
    stop = links.to_stop(search.pk)
    mail = EmailMultiAlternatives(
        subject=Truncator(_one_line(subject)).chars(SUBJECT_CHARACTERS),
        body=render_to_string(f"records/mail/{name}.txt", context),
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=[search.email],
        headers={
            # RFC 8058: the program that reads the mail may end it with one click.
            "List-Unsubscribe": f"<{stop}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            "Auto-Submitted": "auto-generated",
        },
    )
    mail.attach_alternative(render_to_string(f"records/mail/{name}.html", context), "text/html")
    # The pictures belong to the page, and are not files beside it.
    mail.mixed_subtype = "related"  # type: ignore[attr-defined]
    return mail


def _told(hit: Hit, question: Question, number: int) -> Told:
    picture = _picture(hit, question) if number < PICTURES else None
    return Told(hit, links.absolute(hit.url), picture, f"page-{number}@{_host()}")


def _picture(hit: Hit, question: Question) -> bytes | None:
    original = original_of(hit.document)
    if original is None:
        return None
    picture = pictures.picture_of(hit.document, hit.page.number, READ)
    spans = marking.spans(question, hit.page.text)
    return marked.for_mail(picture, reading.boxes(spans, hit.page, original)) if picture else None


def _inline(picture: bytes, picture_id: str) -> MIMEImage:
    part = MIMEImage(picture, "jpeg")
    part.add_header("Content-ID", f"<{picture_id}>")
    part.add_header("Content-Disposition", "inline", filename=f"{picture_id.partition('@')[0]}.jpg")
    return part


def _message_id(alert: Alert) -> str:
    digest = hashlib.sha256(f"{settings.SECRET_KEY} alert {alert.pk}".encode()).hexdigest()[:24]
    return f"<alert-{alert.pk}-{digest}@{_host()}>"


def _host() -> str:
    return urlsplit(settings.PUBLIC_URL).hostname or "localhost"


def _one_line(text: str) -> str:
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())
