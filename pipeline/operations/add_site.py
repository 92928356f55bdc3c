"""A new municipality from an address: what platform it is, what would be fetched, and the rows for it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from urllib.parse import urlsplit

import django_rq
import redis
from django.conf import settings
from django.db import IntegrityError, transaction

from pipeline.errors import PipelineError, StageError
from pipeline.stages import fetch
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.detect import Recognised, recognise
from pipeline.work.fetch.gate import LocalGate
from pipeline.work.fetch.listing import ListedDays, take
from pipeline.work.fetch.refs import DocRef
from pipeline.work.fetch.registry import build, fetcher_class
from sites.keys import LONGEST, RULE, is_key
from sites.models import Site, Source

# Below this a platform that lists nothing is only a guess.
SURE = 0.6
# Each preview costs requests: a page that links to twenty views is shown with the likeliest.
MOST = 6
_OWN_DOMAIN = re.compile(r"^(?:www\.|meetings\.|agendas?\.|records\.)|\.(?:com|org|net|gov|us|info|city)$")


@dataclass(frozen=True)
class Preview:
    """What would be fetched from a source; nothing has been saved."""

    platform: str
    label: str
    url: str
    confidence: float
    reason: str
    refs: tuple[DocRef, ...] = ()
    error: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def bodies(self) -> list[str]:
        return sorted({ref.body for ref in self.refs})

    def newest(self, count: int = 10) -> list[DocRef]:
        return sorted(self.refs, key=lambda ref: (ref.date or date.min, ref.title), reverse=True)[:count]


@dataclass(frozen=True)
class Created:
    site: Site
    new_site: bool
    sources: list[Source]


def open_client() -> Client:
    """As polite as the workers, together with them where Redis can be reached."""
    try:
        django_rq.get_connection("fetch").ping()
    except redis.exceptions.ConnectionError:
        return fetch.client_with(LocalGate(settings.FETCH_HOST_GAP_SECONDS))
    return fetch.open_client()


# ---- Looking ------------------------------------------------------------------------------------------


def preview(url: str, client: Client, today: date) -> list[Preview]:
    """Every platform found at the address, the likeliest first, each with what it would list."""
    return [preview_of(found, client, today) for found in recognise(url, client)[:MOST]]


def preview_of(found: Recognised, client: Client, today: date) -> Preview:
    return _preview(found, client, today, {})


def look_as(platform: str, url: str, options: Mapping[str, Any], client: Client, today: date) -> Preview:
    """The same for a platform that the operator names."""
    label = fetcher_class(platform).label
    return _preview(Recognised(platform, label, url, 1.0, "you said so"), client, today, options)


def _preview(found: Recognised, client: Client, today: date, options: Mapping[str, Any]) -> Preview:
    refs: tuple[DocRef, ...] = ()
    error = ""
    try:
        fetcher = build(found.platform, client, found.url, options)
        refs = take(fetcher, ListedDays.of(today, settings.FETCH_WINDOW_DAYS, seconds=0), {}).refs
    except PipelineError as failure:
        error = f"{failure.code}: {failure}"
    return Preview(
        found.platform, found.label, found.url, found.confidence, found.reason, refs, error, dict(options)
    )


def chosen(previews: Sequence[Preview], every: bool = False) -> list[Preview]:
    """The likeliest platform that lists documents, or every one; else a sure one that has none just now."""
    working = [preview for preview in previews if not preview.error]
    listing = [preview for preview in working if preview.refs]
    if not listing:
        return [preview for preview in working if preview.confidence >= SURE][:1]
    return [preview for preview in listing if every or preview is listing[0]]


# ---- Saving -------------------------------------------------------------------------------------------


def create(subdomain: str, previews: Sequence[Preview], **site_values: Any) -> Created:
    """The site, unless it is there already, and a source for each preview that it lacks."""
    if not is_key(subdomain):
        raise StageError(f"{subdomain[:LONGEST]!r} cannot name a site: {RULE}", code="bad_name")
    values = {name: value for name, value in site_values.items() if value not in (None, "")}
    try:
        with transaction.atomic():
            site, new = Site.objects.get_or_create(subdomain=subdomain, defaults=values)
            added = [_add_source(site, preview) for preview in previews]
    except IntegrityError as error:
        raise StageError(f"{subdomain} was being added by somebody else", code="conflict") from error
    return Created(site, new, [source for source in added if source is not None])


def _add_source(site: Site, preview: Preview) -> Source | None:
    options = dict(preview.options)
    source, new = Source.objects.get_or_create(
        site=site, platform=preview.platform, url=preview.url, defaults={"options": options}
    )
    return source if new else None


def suggest_subdomain(url: str, state: str = "") -> str:
    """A name for the site from its address: `nc-nashcounty.civicplus.com` -> `nashcounty.nc`."""
    host = (urlsplit(url).hostname or "").lower()
    folders = [part for part in urlsplit(url).path.lower().split("/") if part]
    if host.endswith("boarddocs.com") and len(folders) >= 2:
        return f"{folders[1]}.{folders[0]}"
    if host == "webapi.legistar.com" and len(folders) >= 2:
        return folders[1]
    us_state = re.fullmatch(r"(?:www\.)?(?:(?:ci|co|city|town)\.)?([a-z-]+)\.([a-z]{2})\.us", host)
    vendor_state = re.match(r"([a-z]{2})-([a-z0-9]+)\.civicplus\.com$", host)
    if us_state or vendor_state:
        name, code = us_state.groups() if us_state else vendor_state.groups()[::-1]  # type: ignore[union-attr]
        return f"{name}.{code}"
    while _OWN_DOMAIN.search(host):
        host = _OWN_DOMAIN.sub("", host)
    name = re.sub(r"[^a-z0-9-]", "", host.removeprefix("pub-").partition(".")[0]) or "site"
    return f"{name}.{state.lower()}" if state else name
