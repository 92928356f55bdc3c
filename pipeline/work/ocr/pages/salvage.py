"""The last resort for a file cut off half-way: whatever pages it still has, under a new root."""

import re

_OBJECT = re.compile(rb"(\d{1,9})\s+(\d{1,5})\s+obj\b")
_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
# A page's own dictionary is short; looking no further keeps this linear on any input.
REACH = 4096


def with_new_root(data: bytes) -> bytes | None:
    """The file with a catalogue of its page objects put behind it; pdfium finds the rest by scanning."""
    objects = list(_OBJECT.finditer(data))
    pages = [found for found in objects if _PAGE.search(_body(data, found.end()))]
    if not pages:
        return None
    free = max(int(found[1]) for found in objects) + 1
    kids = b" ".join(b"%d %d R" % (int(found[1]), int(found[2])) for found in pages)
    tree = b"<</Type/Pages/Count %d/Kids[%s]/MediaBox[0 0 612 792]>>" % (len(pages), kids)
    return (
        b"%s\nendstream\nendobj\n%d 0 obj\n%s\nendobj\n%d 0 obj\n<</Type/Catalog/Pages %d 0 R>>\nendobj\n%s"
        % (
            data,
            free,
            tree,
            free + 1,
            free,
            b"trailer\n<</Root %d 0 R/Size %d>>\nstartxref\n0\n%%%%EOF\n" % (free + 1, free + 2),
        )
    )


def _body(data: bytes, start: int) -> bytes:
    end = data.find(b"endobj", start, start + REACH)
    return data[start : end if end >= 0 else start + REACH]
