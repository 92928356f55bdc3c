"""Amounts of money."""

from collections.abc import Iterator

from pipeline.work.extraction.facts import Fact, MeetingContext, PagedText
from pipeline.work.extraction.patterns import pattern

AMOUNT = pattern(
    # A scan may part a sum behind its comma: `$ 1, 750,000`, `$ 77, 096.00`.
    r"\$\s?(\d{1,3},\s\d{3}(?:,\d{3}){1,4}|\d{1,3},\s\d{3}\.\d\d|\d{1,3}(?:,\d{3}){1,5}|\d{1,15})(\.\d{1,3})?"
    r"(?:[ -]?(?i:(thousand|million|billion|trillion)\b)|([KMB])\b)?"
)
CENTS = pattern(r"\b(\d{1,2})\s?¢")
SCALES = {"thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6, "billion": 1e9, "b": 1e9, "trillion": 1e12}


def find(paged: PagedText, context: MeetingContext) -> Iterator[Fact]:
    for match in AMOUNT.finditer(paged.text):
        whole, fraction, word, letter = match.groups()
        scale = SCALES.get((word or letter or "").lower(), 1)
        amount = float("".join(whole.replace(",", "").split()) + (fraction or "")) * scale
        yield Fact("money", match.start(), match.end(), "dollar_sign", 0.98, {"amount": round(amount, 2)})
    for match in CENTS.finditer(paged.text) if "¢" in paged.text else ():
        yield Fact("money", match.start(), match.end(), "cents", 0.9, {"amount": int(match.group(1)) / 100})
