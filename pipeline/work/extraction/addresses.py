"""Street addresses: a pattern finds what looks like one, usaddress says whether it is."""

from collections.abc import Iterator

import usaddress

from pipeline.work.extraction.facts import Fact, MeetingContext, PagedText
from pipeline.work.extraction.patterns import pattern

SUFFIX = (
    "street|st|avenue|ave|av|road|rd|boulevard|blvd|drive|dr|lane|ln|court|ct|circle|cir|place|pl|plaza|terrace|ter|"
    "way|parkway|pkwy|highway|hwy|square|sq|trail|trl|alley|loop|path|pike|turnpike|crescent|row|walk|crossing|"
    "ridge|run|broadway|expressway|causeway|esplanade|mews|commons"
)
DIRECTION = "n|s|e|w|ne|nw|se|sw|north|south|east|west|northeast|northwest|southeast|southwest"
NUMBER = r"\b(\d{1,6}(?:-\d{1,5})?(?:\s1/2)?[A-Za-z]?)"
WORD = r"(?:\p{Lu}[\p{L}'’.\-]*|\d{1,3}(?:st|nd|rd|th|ST|ND|RD|TH))"
# One space, or the end of a line and the margin of the next.
GAP = r"(?:\s|\s?\n[ \t]{1,40})"
STREET = pattern(
    rf"{NUMBER}{GAP}((?:(?i:{DIRECTION})\b\.?{GAP})?(?:{WORD}{GAP}){{1,4}}?(?i:{SUFFIX})\b\.?(?:\s(?i:{DIRECTION})\b\.?)?)"
)
UNSUFFIXED = pattern(
    rf"{NUMBER}\s((?:(?i:{DIRECTION})\b\.?\s)?(?:Broadway\b|(?i:camino|calle|avenida|via|vista|paseo|rue|rancho)\s\p{{Lu}}?[\p{{L}}]+(?:\s\p{{Lu}}\p{{L}}+)?|"
    r"(?i:(?:state |u\.?s\.? |county )?(?:route|highway|hwy|road))\s\d{1,4}\b))"
)
STATES = (
    "A[LKZR]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|"
    "V[AT]|W[AIVY]|Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|"
    "Georgia|Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|"
    "Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico|"
    "New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|Rhode Island|South Carolina|"
    "South Dakota|Tennessee|Texas|Utah|Vermont|Virginia|Washington|West Virginia|Wisconsin|Wyoming"
)
# `440 E. Congress, Detroit, MI`: no word for street, but a direction before and a place behind.
PLACED = pattern(
    rf"{NUMBER}\s((?i:{DIRECTION})\b\.?\s\p{{Lu}}\p{{L}}+),\s+\p{{Lu}}[\p{{L}}.]+(?:\s\p{{Lu}}[\p{{L}}.]+)?,\s+(?:{STATES})\b"
)
TAIL = pattern(
    r"^\.?(?:,?\s+(?:(?i:suite|ste|unit|apt|apartment|room|floor|#)\.?\s?[\w-]{1,6}))?"
    r"(?:,?\s+(\p{Lu}[\p{L}.'’]*(?:\s\p{Lu}[\p{L}.'’]*){0,2}),?\s+"
    rf"({STATES})\b\.?(?:\s+(\d{{5}})(?:-\d{{4}})?)?)?"
)
NOT_BEFORE = pattern(
    r"(?i)(?:[$#\d.,/:-]|\b(?:jan\w*|feb\w*|mar\w*|apr\w*|may|june?|july?|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*|items?|no\.?|"
    r"lots?|ward|district|chapter|section|ordinance|resolution|phase|unit|page|lines?|block|tract|parcel|article|zone|"
    r"case|permit|route|highway|hwy|room|suite|amendment|station|plan|well|type|class|group|version|the|nearly|about)\s)$"
)


def find(paged: PagedText, context: MeetingContext) -> Iterator[Fact]:
    text = paged.text
    seen_until = 0
    matches = [*STREET.finditer(text), *UNSUFFIXED.finditer(text), *PLACED.finditer(text)]
    for match in sorted(matches, key=lambda match: match.start()):
        if match.start() < seen_until or NOT_BEFORE.search(text[max(0, match.start() - 14) : match.start()]):
            continue
        if "\n" in match.group() and "\n\n" in match.group():
            continue
        street = " ".join(text[match.start() : match.end(2)].split()).rstrip(".")
        if _is_address(street):
            seen_until = match.end(2)
            yield _fact(text, match.start(), match.end(2), street)


def _is_address(street: str) -> bool:
    try:
        tagged, _ = usaddress.tag(street)
    except usaddress.RepeatedLabelError:
        return False
    named = "StreetName" in tagged or "StreetNamePreType" in tagged
    # `60 South Lane`: the direction is the name.
    directed = "StreetNamePreDirectional" in tagged or "StreetNamePostDirectional" in tagged
    named = named or (directed and "StreetNamePostType" in tagged)
    return "AddressNumber" in tagged and named


def _fact(text: str, start: int, end: int, street: str) -> Fact:
    tail = TAIL.search(text[end : end + 80])
    city, state, zip_code = tail.groups() if tail else (None, None, None)
    end += len(tail.group()) if tail and city else 0
    values = {
        "address": " ".join(text[start:end].split()),
        "street": street,
        "city": city,
        "state": state,
        "zip": zip_code,
    }
    return Fact("address", start, end, "street", 0.9, values)
