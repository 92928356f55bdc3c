"""A folder of PDFs on this machine: `{body}/{date}-{anything}.pdf`, at any depth."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

from pipeline.errors import SourceError
from pipeline.work.fetch.base import Fetcher, Option
from pipeline.work.fetch.dates import find_date
from pipeline.work.fetch.refs import HTML, PDF, DocRef, is_cancelled, kind_of

SUFFIXES = (".pdf", ".html", ".htm", ".docx", ".doc", ".odt", ".rtf")


class Local(Fetcher):
    name = "local"
    label = "Local directory"
    step = None
    is_local = True
    options = (Option("body", "name of the meeting body for files that lie in no folder of their own"),)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        return 1.0 if url.startswith(("file:", "/")) else 0.0

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        root = self.client.local_path(self.url)
        if not root.is_dir():
            raise SourceError(f"{root} is not a folder", code="no_folder")
        for path in sorted(root.rglob("*")):
            if path.suffix.lower() in SUFFIXES and path.is_file():
                yield self.ref(path, path.relative_to(root))

    def ref(self, path: Path, inside: Path) -> DocRef:
        folders = [part for part in inside.parts[:-1] if kind_of(part) == "other" and part != "pdfs"]
        return DocRef(
            external_id=inside.as_posix(),
            url=path.as_uri(),
            title=path.stem,
            body=folders[-1] if folders else self.settings["body"] or "",
            date=find_date(path.stem) or find_date(inside.as_posix()),
            kind=kind_of(path.stem, inside.as_posix()),
            cancelled=is_cancelled(path.stem),
            content_hint=HTML if path.suffix.lower() in (".html", ".htm") else PDF,
        )
