"""What the page of an agenda links to: staff reports and exhibits, each a document of its own."""

import re

from pipeline.work.fetch.pages import Link, links, parse
from pipeline.work.fetch.refs import is_file, url_identity

# Where the platforms keep them; most of these addresses say nothing of a PDF.
_KEPT = re.compile(
    r"/MetaViewer\.php\?|/AgendaCenter/ViewFile/Item/|/\$file/|/Documents/(?:ViewDocument|DownloadFile)"
    r"|/FileStream\.ashx\?|/AttachmentViewer\.ashx\?|/View\.ashx\?(?:[^#]*&)?M=F(?:&|$)",
    re.I,
)


def attachments(html: bytes, url: str) -> list[Link]:
    """Each file once, in the order of the page."""
    found: dict[str, Link] = {}
    for link in links(parse(html, url)):
        if is_file(link.url) or _KEPT.search(link.url):
            found.setdefault(url_identity(link.url), link)
    return list(found.values())
