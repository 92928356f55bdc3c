"""Ledger against storage, both ways: what a row says is there, and what is there without a row."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from django.conf import settings
from django.db import transaction

from pipeline.errors import Fenced
from pipeline.models import DocumentState, Intervention, Run, Status
from pipeline.stages.identity import digest_of
from pipeline.state.repair import record_found, reset_processed
from pipeline.verify.problem import Problem, among
from pipeline.verify.published import missing_pages
from sites.inventory import StoredDocument, documents_in
from sites.models import Document, Kind, Site
from sites.stages import Stage
from sites.storage import SiteFiles, in_writing, share

DAMAGED = ".damaged"


@dataclass(frozen=True)
class FileCheck:
    """What can be found in storage, and what repairs it."""

    name: str
    remedy: str

    def __str__(self) -> str:
        return self.name


RECOMPILE = "start the site from compilation"
ADOPT = "verify --files --fix makes documents of them"
MISSING_FILE = FileCheck(
    "fetched documents without their file", "verify --files --fix has the next run fetch them again"
)
WRONG_SIZE = FileCheck(
    "files that are not of the size that was fetched",
    "verify --files --fix keeps them as *.damaged and has the next run fetch them again",
)
MISSING_TEXT = FileCheck(
    "read documents without their text", "verify --files --fix has the next run read them again"
)
FILE_ALONE = FileCheck("files that no document has", ADOPT)
TEXT_ALONE = FileCheck("texts that no document has", ADOPT)
NO_DATABASE = FileCheck("compiled sites without their database", RECOMPILE)
FEWER_COMPILED = FileCheck("compiled documents with fewer pages than were read", RECOMPILE)
FEWER_PUBLISHED = FileCheck("published documents with fewer pages than were read", RECOMPILE)
BAD_PATH = FileCheck(
    "names that cannot be in storage", "correct the path by hand; nothing in Clerk writes such a one"
)
DANGLING = FileCheck("links that lead nowhere", "bring back what they lead to, or remove them")
ORPHAN_FOLDER = FileCheck("folders of sites that do not exist", "add the site, or move the folder away")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong. `fix` is None where nothing here can repair it."""

    check: FileCheck
    site_id: str
    what: str
    fix: Callable[[], None] | None = None

    def __str__(self) -> str:
        return f"{self.site_id}/{self.what}"


@dataclass
class Fixed:
    mended: list[Finding] = field(default_factory=list)
    left: list[Finding] = field(default_factory=list)


def problems(findings: Iterable[Finding]) -> Iterator[Problem]:
    by_check: dict[FileCheck, list[Finding]] = {}
    for finding in findings:
        by_check.setdefault(finding.check, []).append(finding)
    for check, found in by_check.items():
        yield from among(check.name, found, check.remedy)


def fix(findings: Iterable[Finding]) -> Fixed:
    """Repair what can be repaired. No file is removed; a site that runs is left for later."""
    fixed = Fixed()
    for finding in findings:
        try:
            if finding.fix is None:
                raise Fenced(f"{finding} cannot be repaired here")
            finding.fix()
        except Fenced:
            fixed.left.append(finding)
        else:
            fixed.mended.append(finding)
    return fixed


def find() -> Iterator[Finding]:
    """Site by site, so that memory is bounded by the largest one."""
    _check_that_storage_is_there()
    sites = list(Site.objects.order_by("pk").values_list("pk", flat=True))
    for site_id in sites:
        try:
            yield from _site(site_id)
        except ValueError as error:
            yield Finding(BAD_PATH, site_id, str(error))
    for name in sorted(_folders() - set(sites)):
        yield Finding(ORPHAN_FOLDER, name, "")


def _folders() -> set[str]:
    root = Path(settings.STORAGE_DIR)
    found = root.iterdir() if root.is_dir() else ()
    return {path.name for path in found if path.is_dir() and not path.name.startswith(".")}


def _check_that_storage_is_there() -> None:
    """A disk that is not mounted must not look like the loss of every document."""
    fetched = DocumentState.objects.filter(pipeline=Stage.FETCH, status=Status.PROCESSED, unit="")
    if fetched.exists() and not _folders() and not settings.STORAGE_URL:
        raise FileNotFoundError(
            f"documents were fetched, and {settings.STORAGE_DIR} has no site's folder; is its disk mounted?"
        )


def _site(site_id: str) -> Iterator[Finding]:
    files = SiteFiles.of(site_id)
    # Another machine may have fetched and read them.
    share().pull_all(files.root)
    dangling: list[Path] = []
    stored = {_stem(found.path): found for found in documents_in(files, _only_dangling(dangling))}
    for link in dangling:
        yield Finding(DANGLING, site_id, in_writing(str(link.relative_to(files.root))))
    documents = list(Document.objects.filter(site_id=site_id).exclude(path=""))
    processed, without = _processed(site_id), _never_had_a_file(site_id)
    for document in documents:
        if document.pk not in without:
            yield from _document(files, document, stored.get(_stem(document.path)), processed)
    for stem in sorted(set(stored) - {_stem(document.path) for document in documents}):
        yield _alone(site_id, stored[stem])
    if (None, Stage.COMPILATION.value) in processed and not files.database.exists():
        yield Finding(NO_DATABASE, site_id, files.database.name)
    for check, stage in ((FEWER_COMPILED, Stage.COMPILATION), (FEWER_PUBLISHED, Stage.DEPLOY)):
        yield from (Finding(check, site_id, what) for what in missing_pages(site_id, stage))


def _only_dangling(found: list[Path]) -> Callable[[Path, OSError], None]:
    """Any other trouble is the disk's, and must not look like the loss of what lies on it."""

    def note(path: Path, error: OSError) -> None:
        if not path.is_symlink():
            raise error
        found.append(path)

    return note


def _stem(path: str) -> str:
    """A page that was kept as HTML has its text in the same place as a PDF would."""
    return str(PurePosixPath(path).with_suffix(""))


def _processed(site_id: str) -> dict[tuple[int | None, str], int]:
    rows = DocumentState.objects.filter(site_id=site_id, status=Status.PROCESSED)
    return {
        (document, stage): pk for pk, document, stage in rows.values_list("pk", "document_id", "pipeline")
    }


def _never_had_a_file(site_id: str) -> set[int]:
    """Taken over from the old system when their PDF was gone, and without a text that says anything."""
    rows = DocumentState.objects.filter(site_id=site_id, pipeline=Stage.FETCH, facts__has_pdf=False)
    unread = DocumentState.objects.filter(site_id=site_id, pipeline=Stage.OCR).exclude(
        status=Status.PROCESSED
    )
    return set(rows.values_list("document_id", flat=True)) & set(unread.values_list("document_id", flat=True))


# ---- What a row says is there -------------------------------------------------------------------------


def _document(
    files: SiteFiles,
    document: Document,
    stored: StoredDocument | None,
    processed: dict[tuple[int | None, str], int],
) -> Iterator[Finding]:
    fetched, read = (processed.get((document.pk, stage.value)) for stage in (Stage.FETCH, Stage.OCR))
    if document.skip_reason or not fetched:
        return
    file = files.file(document.path)
    size = file.stat().st_size if file.is_file() else None
    has_text = stored is not None and stored.text_files > 0
    undo = [row for row in (fetched, read if not has_text else None) if row]
    refetch = _undo(document, undo) if document.url else None
    if size is None and not (read and has_text):  # a PDF may be cleaned away once it is read
        yield Finding(MISSING_FILE, document.site_id, document.path, refetch)
    elif size is not None and document.size is not None and size != document.size:
        again = _undo(document, undo, damaged=file) if document.url else None
        yield Finding(WRONG_SIZE, document.site_id, document.path, again)
    elif read and not has_text:
        yield Finding(MISSING_TEXT, document.site_id, document.path, _undo(document, [read]))


def _undo(document: Document, row_ids: list[int], damaged: Path | None = None) -> Callable[[], None]:
    def undo() -> None:
        with transaction.atomic():
            note = _note(document, "files did not agree with the ledger")
            reset_processed(document.site_id, row_ids, note.pk)
            if damaged is not None:
                damaged.rename(damaged.with_name(damaged.name + DAMAGED))

    return undo


def _note(document: Document, reason: str) -> Intervention:
    return Intervention.objects.create(
        site_id=document.site_id, document=document, action="verify --files --fix", reason=reason, by="verify"
    )


# ---- What is there without a row ----------------------------------------------------------------------


def _alone(site_id: str, stored: StoredDocument) -> Finding:
    check = FILE_ALONE if stored.has_pdf else TEXT_ALONE
    return Finding(check, site_id, stored.path, lambda: _adopt(site_id, stored))


def _refuse_a_copy(site_id: str, stored: StoredDocument, content: str) -> None:
    same = Document.objects.filter(site_id=site_id, sha256=content).exclude(path="").first()
    if content and same is not None:
        raise Fenced(f"{stored.path} is the same file as {same.path}; move it away")


def _adopt(site_id: str, stored: StoredDocument) -> None:
    """A document like those of a source, but of none. The next run reads it, if nobody has yet.

    By its hash a source that lists it again finds it. Nobody waits while a large file is read for it.
    """
    content = digest_of(SiteFiles.of(site_id).file(stored.path)) if stored.has_pdf else ""
    with transaction.atomic():
        if Run.objects.running().filter(site_id=site_id).exists():
            raise Fenced(f"{site_id} is in a run, which may be about to write this row")
        _refuse_a_copy(site_id, stored, content)
        document = Document.objects.create(
            site_id=site_id,
            sha256=content,
            external_id=stored.path,
            path=stored.path,
            title=PurePosixPath(stored.path).stem,
            meeting=stored.meeting,
            body=stored.meeting,
            meeting_date=stored.day,
            kind=Kind.AGENDA if stored.is_agenda else Kind.MINUTES,
            content_type="application/pdf",
            size=stored.size,
            fetched_at=stored.modified,
        )
        _note(document, "a file that no document had")
        stages = [Stage.FETCH, Stage.OCR] if stored.has_text else [Stage.FETCH]
        record_found([DocumentState(site_id=site_id, document=document, pipeline=stage) for stage in stages])
