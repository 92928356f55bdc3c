"""A small picture that says how it is, for a wiki or a wall."""

from pipeline.reports.health import Level

COLOURS = {Level.OK: "#2e7d32", Level.NOTE: "#2e7d32", Level.DEGRADED: "#b26a00", Level.UNHEALTHY: "#c62828"}
# A letter of this size is about so wide; the rest is room at the sides.
LETTER, SIDES, LEFT = 6.6, 14, 44
PICTURE = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="clerk: {word}">
<title>clerk: {word}</title>
<rect width="{width}" height="20" rx="3" fill="#444"/>
<path d="M{left} 0h{right}a3 3 0 0 1 3 3v14a3 3 0 0 1 -3 3h-{right}z" fill="{colour}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="8" y="14">clerk</text>
<text x="{text}" y="14">{word}</text>
</g>
</svg>
"""


def badge(level: Level, word: str) -> str:
    shown = round(len(word) * LETTER + SIDES)
    return PICTURE.format(
        width=LEFT + shown, left=LEFT, right=shown - 3, text=LEFT + 7, colour=COLOURS[level], word=word
    )
