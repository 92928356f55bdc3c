"""Why a page gives no documents: a wall, scripts, a login, videos, a wrong address, each in one sentence."""

import re
from dataclasses import dataclass

from pipeline.errors import PipelineError
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.pages import links, parse, visible_words

# As much of a refusal as tells whose it is.
READ = 64 * 1024
FEW_WORDS = 60


@dataclass(frozen=True)
class Diagnosis:
    code: str
    says: str
    advice: str


_TABLE = (
    (
        "no_address",
        "This is a name, not an address.",
        "Open the page on which the city lists its agendas and minutes, and paste its address here.",
    ),
    (
        "wrong_address",
        "There is no server by this name, or it does not answer.",
        "Open the address in a browser. If it opens there, look for a letter that differs.",
    ),
    (
        "not_found",
        "The server has no such page (404).",
        "Find the page from the city's home page, and paste the address that it has now.",
    ),
    (
        "bot_wall",
        "The city's server turns programs away: it shows people a check that a program cannot pass.",
        "Ask the city to let Clerk through (it calls itself by FETCH_USER_AGENT), or use the address of the "
        "vendor behind the page.",
    ),
    (
        "needs_javascript",
        "The page is empty until a browser runs its scripts, so its documents cannot be seen here.",
        "Look where its links lead in a browser: often to a vendor such as Legistar or CivicClerk, whose "
        "address works here.",
    ),
    (
        "login_page",
        "The page asks for a password.",
        "Records that need a login cannot be fetched. Look for the public page of the same city.",
    ),
    (
        "video_only",
        "The page has recordings of meetings, and no documents.",
        "Look for the page with agendas and minutes; it is often a neighbour of this one.",
    ),
    (
        "robots",
        "The city's robots.txt asks programs not to read this page.",
        "Ask the city; once it agrees, name its host in FETCH_ROBOTS_EXEMPT_HOSTS.",
    ),
    (
        "private_address",
        "The address is not on the public internet.",
        "If it is yours, name its host in FETCH_PRIVATE_HOSTS.",
    ),
    (
        "trouble",
        "The city's server has trouble at the moment.",
        "Try again in an hour.",
    ),
    (
        "nothing_listed",
        "The page was read, and nothing on it lists documents.",
        "Try the page with the list itself, or choose the platform if you know it.",
    ),
)
DIAGNOSES = {row[0]: Diagnosis(*row) for row in _TABLE}

_OF_CODES = {
    "http_404": "not_found",
    "http_410": "not_found",
    "dns_failed": "wrong_address",
    "bad_url": "wrong_address",
    "connect_failed": "wrong_address",
    "timeout_connect": "wrong_address",
    "robots_disallowed": "robots",
    "unsafe_address": "private_address",
    "login_page": "login_page",
    "http_401": "login_page",
    "http_403": "bot_wall",
    "http_429": "bot_wall",
}
# What the walls of the vendors say of themselves, in the page or in its head.
_WALLS = re.compile(
    r"<title>\s*just a moment|cf-chl|challenge-platform|cf-browser-verification"
    r"|attention required! \| cloudflare"
    r"|_incapsula_resource|incapsula incident|errors\.edgesuite\.net|px-captcha|captcha-delivery\.com|awswaf"
    r"|sucuri website firewall|verify(?:ing)? (?:that )?you are (?:a )?human|are you a robot",
    re.I,
)
_SCRIPTED = re.compile(
    r"<div[^>]+id=[\"']?(?:root|app|__next|__nuxt)\b|(?:enable|requires?|turn on) javascript", re.I
)
_VIDEO = re.compile(
    r"youtube\.com|youtu\.be|vimeo\.com|MediaPlayer\.php|swagit\.com/play|\.mp4\b|cablecast", re.I
)
_DOCUMENT = re.compile(
    r"\.(?:pdf|docx?|rtf)\b|ViewFile|DocumentCenter|AgendaViewer|ShowDocument|GetAgenda", re.I
)


def code_of(error: PipelineError) -> str:
    """By the error alone, without asking the server again."""
    return _OF_CODES.get(error.code, "trouble" if error.code.startswith(("http_5", "timeout", "tls")) else "")


def of_error(error: PipelineError, url: str, client: Client) -> Diagnosis:
    """Of a page that could not be read."""
    code = _OF_CODES.get(error.code)
    if code is None and error.code == "http_503" and _is_wall(url, client):
        code = "bot_wall"
    return DIAGNOSES[code or "trouble"]


def _is_wall(url: str, client: Client) -> bool:
    """Some walls answer as if the server were overloaded; what they say gives them away."""
    try:
        with client.answer("GET", url) as answer:
            if answer.response.headers.get("cf-mitigated"):
                return True
            body = b"".join(answer.chunks(READ))
    except PipelineError:
        return False
    return bool(_WALLS.search(body.decode("utf-8", "replace")))


def of_page(url: str, html: str) -> Diagnosis:
    """Of a page that was read and lists nothing."""
    if _WALLS.search(html):
        return DIAGNOSES["bot_wall"]
    if re.search(r"<input[^>]+type=[\"']?password", html, re.I):
        return DIAGNOSES["login_page"]
    tree = parse(html, url)
    addresses = [link.url for link in links(tree)] + [frame.get("src") or "" for frame in tree.iter("iframe")]
    if any(_VIDEO.search(address) for address in addresses) and not any(map(_DOCUMENT.search, addresses)):
        return DIAGNOSES["video_only"]
    if len(visible_words(html.encode())) < FEW_WORDS and "<script" in html.lower() and _SCRIPTED.search(html):
        return DIAGNOSES["needs_javascript"]
    return DIAGNOSES["nothing_listed"]
