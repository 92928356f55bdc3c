"""Which platform is behind an address: by the address, by its page, and by what the page links to."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from pipeline.errors import PipelineError
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.pages import links, parse, resolve
from pipeline.work.fetch.registry import fetchers

# A link or frame that leads to a platform: the page itself is only the way there.
LINKED = 0.85
SURE = 0.9


@dataclass(frozen=True)
class Recognised:
    platform: str
    label: str
    url: str
    confidence: float
    reason: str


def recognise(url: str, client: Client) -> list[Recognised]:
    """Every platform that the address may be of, the likeliest first."""
    by_address = _by_page(url, "")
    if urlsplit(url).scheme not in ("http", "https"):
        return rank(by_address)
    try:
        page = client.page(url)
    except PipelineError:
        # A portal that refuses its home page to programs may still have an open list.
        if any(item.confidence >= SURE for item in by_address):
            return rank(by_address)
        raise
    return rank([*_by_page(page.url, page.text), *_by_links(page.url, page.text)])


def rank(found: list[Recognised]) -> list[Recognised]:
    """One entry a platform and address, the surest first."""
    best: dict[tuple[str, str], Recognised] = {}
    for item in found:
        key = (item.platform, item.url)
        if key not in best or best[key].confidence < item.confidence:
            best[key] = item
    return sorted(best.values(), key=lambda item: -item.confidence)


def _by_page(url: str, html: str) -> list[Recognised]:
    found = []
    for name, fetcher in fetchers().items():
        by_address = fetcher.detect(url, "")
        confidence = max(by_address, fetcher.detect(url, html) if html else 0)
        if confidence > 0:
            reason = "its address" if by_address >= confidence else "what the page is made of"
            found.append(Recognised(name, fetcher.label, fetcher.home(url), confidence, reason))
    return found


def _by_links(url: str, html: str) -> list[Recognised]:
    found = []
    for address in _addresses(url, html):
        for name, fetcher in fetchers().items():
            confidence = fetcher.detect(address, "")
            if confidence >= SURE:
                reason = f"the page leads to {address}"
                home = fetcher.home(address)
                found.append(Recognised(name, fetcher.label, home, confidence * LINKED, reason))
    return found


def _addresses(url: str, html: str) -> Iterator[str]:
    """Where the page's links and frames lead, each once."""
    tree = parse(html, url)
    framed = [resolve(frame, frame.get("src") or "") for frame in tree.iter("iframe", "frame")]
    yield from dict.fromkeys([*framed, *(link.url for link in links(tree))])
