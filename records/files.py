"""The files behind a published document: the row it came from, its original, and where its words stand.

Only what a deployed database lists is ever looked for here: a file that is no record cannot be asked for.
"""

from dataclasses import dataclass
from pathlib import Path

from django.db.models import Q

from pipeline.stages.documents import stable_id
from pipeline.work.database.page_texts import read_pages
from pipeline.work.ocr.words import PlacedWord, words_of
from records.published import PublishedDocument
from sites.models import Document
from sites.storage import SiteFiles, share


@dataclass(frozen=True)
class Original:
    """The row of a published document, and its files."""

    row: Document

    @property
    def file(self) -> Path | None:
        """The file itself; None when it is gone."""
        if not self.row.path:
            return None
        file = SiteFiles.of(self.row.site_id).file(self.row.path)
        if not file.is_file():
            _pull(file)
        return file if file.is_file() else None

    def words(self, page: int) -> list[PlacedWord]:
        """Where each word stands on the page; nobody knows for text of the old system."""
        if not self.row.path:
            return []
        folder = SiteFiles.of(self.row.site_id).text_dir(self.row.path)
        if not (folder / f"{page}.json").is_file():
            _pull(folder)
        return words_of(folder, page)


def first_page(row: Document) -> str:
    """The text of a document's first page, as it was read; empty where there is none."""
    if not row.path:
        return ""
    folder = SiteFiles.of(row.site_id).text_dir(row.path)
    return next((page.text for page in read_pages(folder)), "")


def original_of(document: PublishedDocument) -> Original | None:
    """No row has a column for its published id, which is made from what it says: try the likely ones."""
    rows = Document.objects.filter(site_id=document.site, version=document.version).select_related("source")
    likely = rows.filter(Q(meeting_date=document.date or None) | Q(sha256=document.sha256 or None))
    for candidates in (likely, rows):
        for row in candidates.iterator(chunk_size=500):
            if stable_id(row) == document.id:
                return Original(row)
    return None


def versions_of(original: Original) -> list[Document]:
    """Every version of the same document, the newest first."""
    row = original.row
    if row.source_id is None:
        return [row]
    same = Document.objects.filter(source_id=row.source_id, external_id=row.external_id)
    return list(same.select_related("source").order_by("-version"))


def _pull(path: Path) -> None:
    try:
        share().pull(path)
    except OSError:
        return  # the shared storage does not answer: the text stands alone
