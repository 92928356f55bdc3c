"""Looking at an address for somebody who adds a city: by a job, step by step, with one plain answer."""

import re
from collections import Counter
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.db.models import Q
from django.utils import timezone

from pipeline.errors import PipelineError
from pipeline.models import Look
from pipeline.operations import add_site
from pipeline.operations.add_site import Preview
from pipeline.operations.guessing import guess
from pipeline.queue import sending
from pipeline.work.fetch import diagnosis
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.detect import recognise
from pipeline.work.fetch.diagnosis import DIAGNOSES, Diagnosis
from sites.models import Site

NEWEST, MOST_STEPS = 12, 60
# A list whose newest document is older has probably moved.
OLD = timedelta(days=270)


def address_of(text: str) -> str:
    """What somebody typed, as an address: https:// is put in front. Empty for what is only a name."""
    text = text.strip()
    if not re.match(r"[a-z][a-z0-9+.-]*://", text, re.I):
        text = f"https://{text}"
    host = urlsplit(text).hostname or ""
    return text if "." in host or host == "localhost" or ":" in host else ""


def did_you_mean(text: str) -> list[str]:
    """For a name without an address: where such a city usually is."""
    name = re.sub(r"[^a-z0-9]", "", text.lower())
    return [f"https://www.{name}.gov/", f"https://www.cityof{name}.org/"] if name else []


def known_sites(text: str) -> list[str]:
    """Sites that may be this one already."""
    name = text.strip().lower()
    alike = Q(subdomain__istartswith=f"{name}.") | Q(subdomain=name) | Q(name__iexact=name)
    return list(Site.objects.filter(alike).values_list("pk", flat=True)[:5])


def begin(text: str, platform: str = "", by: str = "") -> Look:
    """Recorded, and left to a job; what is no address is answered at once."""
    url = address_of(text)
    look = Look(url=url or text.strip(), platform=platform, by=by[:150], began_at=timezone.now())
    if not url:
        look.status, look.diagnosis, look.finished_at = Look.Status.NOTHING, "no_address", timezone.now()
        look.found = {"did_you_mean": did_you_mean(text), "known": known_sites(text)}
        look.save()
        return look
    sending.check()
    look.save()
    sending.send_look(look.pk)
    return look


# ---- The job ------------------------------------------------------------------------------------------


class Told:
    """What was done so far, for the page that waits for it."""

    def __init__(self, look: Look) -> None:
        self.look, self.steps = look, list[str]()

    def __call__(self, words: str) -> None:
        self.steps = [*self.steps, words][-MOST_STEPS:]
        Look.objects.filter(pk=self.look.pk, status=Look.Status.RUNNING).update(steps=self.steps)


def look(look_id: int) -> None:
    row = Look.objects.filter(pk=look_id, status=Look.Status.RUNNING).first()
    if row is None:
        return
    told = Told(row)
    with add_site.open_client() as client:
        found, wrong, message = _look(row, client, told)
    Look.objects.filter(pk=look_id, status=Look.Status.RUNNING).update(
        status=Look.Status.NOTHING if wrong else Look.Status.FOUND,
        found=found,
        diagnosis=wrong.code if wrong else "",
        message=message[:500],
        finished_at=timezone.now(),
    )


def _look(row: Look, client: Client, told: Told) -> tuple[dict[str, Any], Diagnosis | None, str]:
    told(f"Reading {row.url}")
    html = ""
    try:
        html = client.page(row.url).text if row.url.startswith("http") else ""
    except PipelineError as error:
        if not row.platform and not _is_of_a_vendor(row.url, client):
            return {}, diagnosis.of_error(error, row.url, client), str(error)
        told(f"The page itself does not open ({error.code}); its platform may still list documents")
    try:
        previews = _previews(row, client, told)
    except PipelineError as error:
        return {}, diagnosis.of_error(error, row.url, client), str(error)
    picked = add_site.chosen(previews)
    found = _as_json(previews, picked, row.url, html)
    if picked:
        return found, None, ""
    errors = [preview.error for preview in previews if preview.error]
    return found, diagnosis.of_page(row.url, html), "; ".join(errors[:2])


def _is_of_a_vendor(url: str, client: Client) -> bool:
    try:
        return bool(recognise(url, client))
    except PipelineError:
        return False


def _previews(row: Look, client: Client, told: Told) -> list[Preview]:
    today = timezone.localdate()
    if row.platform:
        told(f"Listing its documents as {row.platform}")
        return [_told(add_site.look_as(row.platform, row.url, {}, client, today), told)]
    recognised = recognise(row.url, client)
    names = ", ".join(dict.fromkeys(item.label for item in recognised)) or "no platform that is known"
    told(f"It looks like {names}")
    previews = []
    for item in recognised[: add_site.MOST]:
        told(f"Listing {item.url} as {item.label}")
        previews.append(_told(add_site.preview_of(item, client, today), told))
    return previews


def _told(preview: Preview, told: Told) -> Preview:
    told(preview.error or f"{len(preview.refs):,} documents of {len(preview.bodies):,} bodies")
    return preview


# ---- What the page shows ------------------------------------------------------------------------------


def _as_json(previews: list[Preview], picked: list[Preview], url: str, html: str) -> dict[str, Any]:
    guessed = guess(url, html)
    return {
        "previews": [_preview(preview, preview in picked) for preview in previews],
        "guess": {
            "subdomain": guessed.subdomain,
            "name": guessed.name,
            "state": guessed.state,
            "kind": guessed.kind,
        },
        "known": known_sites(guessed.subdomain),
    }


def _preview(preview: Preview, picked: bool) -> dict[str, Any]:
    years = sorted({ref.date.year for ref in preview.refs if ref.date}, reverse=True)
    counted = Counter((ref.body, ref.date.year if ref.date else None) for ref in preview.refs)
    return {
        "platform": preview.platform,
        "label": preview.label,
        "url": preview.url,
        "options": dict(preview.options),
        "reason": preview.reason,
        "error": preview.error,
        "picked": picked,
        "count": len(preview.refs),
        "years": years,
        "bodies": [
            {
                "name": body or "(no body named)",
                "counts": [counted[body, year] for year in years],
                "undated": counted[body, None],
            }
            for body in preview.bodies
        ],
        "newest": [
            {
                "date": ref.date.isoformat() if ref.date else "",
                "kind": ref.kind,
                "body": ref.body,
                "title": ref.title,
            }
            for ref in preview.newest(NEWEST)
        ],
        "warnings": _warnings(preview),
    }


def _warnings(preview: Preview) -> list[str]:
    dated = [ref.date for ref in preview.refs if ref.date]
    undated = len(preview.refs) - len(dated)
    newest = max(dated, default=date.min)
    found = []
    if preview.refs and undated * 5 >= len(preview.refs):
        found.append(f"{undated:,} of {len(preview.refs):,} documents have no date.")
    if dated and newest < timezone.localdate() - OLD:
        found.append(f"The newest document is of {newest}. Has the city moved to another page since?")
    if not preview.refs and not preview.error:
        found.append("It lists no document of the last months.")
    if preview.refs and not any(preview.bodies):
        found.append("No body is named; all documents will stand under one heading.")
    return found


def diagnosis_of(look: Look) -> Diagnosis | None:
    return DIAGNOSES.get(look.diagnosis)
