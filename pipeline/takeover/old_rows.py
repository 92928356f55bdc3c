"""What the old system's tables say of its sites, in whichever of its shapes they are."""
# ruff: noqa: S608 - what is put into these statements are names of columns, never values

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import connection
from django.utils.dateparse import parse_datetime

from sites.stages import WORK_STAGES, Stage

PAGE = 1000
# Where the text column `status` says that a site stood.
STAGE_OF_STATUS = {
    "needs_ocr": Stage.OCR,
    "needs_extraction": Stage.EXTRACTION,
    "needs_deploy": Stage.DEPLOY,
}
PROGRESS = ("current_stage", "stage_total", "started_at", "updated_at")
LEGACY = ("status", "last_updated", "last_deployed")


@dataclass(frozen=True)
class OldSite:
    """Where the old system left a site. A text that is no moment is none."""

    site_id: str
    stage: str | None = None
    # The old table has it in OCR: one of the sites that `migrate_stuck_sites` is for.
    stuck_in_ocr: bool = False
    stage_total: int = 0
    started_at: datetime | None = None
    updated_at: datetime | None = None
    completed_at: datetime | None = None

    @property
    def is_unfinished(self) -> bool:
        return self.stage in WORK_STAGES


def has_progress_table() -> bool:
    return "site_progress" in connection.introspection.table_names()


def every_site() -> Iterator[OldSite]:
    return _pages(_SITES.format(**_parts()))


def stuck_in_ocr() -> Iterator[OldSite]:
    """Rows of the old table, also those that `sites` does not know."""
    return _pages(_STUCK)


def count_stuck_in_ocr() -> int:
    return _count(f"SELECT count(*) FROM site_progress WHERE current_stage = '{Stage.OCR.value}'")


def count_sites() -> int:
    return _count("SELECT count(*) FROM sites")


# Times as text: in SQLite a column of times may hold anything, and reading it as a time would fail.
_COLUMNS = (
    "{key}, {stage}, {total}, CAST({began} AS TEXT), CAST({at} AS TEXT), {site_stage}, {status},"
    " {updated}, {deployed}"
)
_SITES = (
    f"SELECT {_COLUMNS}, CAST(s.started_at AS TEXT), CAST(s.updated_at AS TEXT) FROM sites s {{join}}"
    " WHERE s.subdomain > %s ORDER BY s.subdomain LIMIT %s"
)
_STUCK = (
    "SELECT subdomain, current_stage, stage_total, CAST(started_at AS TEXT), CAST(updated_at AS TEXT),"
    " NULL, NULL, NULL, NULL, NULL, NULL FROM site_progress"
    f" WHERE current_stage = '{Stage.OCR.value}' AND subdomain > %s ORDER BY subdomain LIMIT %s"
)


def _parts() -> dict[str, str]:
    """The names in the query, NULL for what this database does not have any more."""
    names = dict.fromkeys(("stage", "total", "began", "at"), "NULL")
    join = ""
    if has_progress_table():
        names = dict(zip(names, (f"p.{column}" for column in PROGRESS), strict=True))
        join = "LEFT JOIN site_progress p ON p.subdomain = s.subdomain"
    there = _columns_of_sites()
    legacy = {column: f"s.{column}" if column in there else "NULL" for column in LEGACY}
    return names | {
        "join": join,
        "key": "s.subdomain",
        "site_stage": "s.current_stage",
        "status": legacy["status"],
        "updated": legacy["last_updated"],
        "deployed": legacy["last_deployed"],
    }


def _columns_of_sites() -> set[str]:
    with connection.cursor() as cursor:
        return {column.name for column in connection.introspection.get_table_description(cursor, "sites")}


def _pages(question: str) -> Iterator[OldSite]:
    """Page by page, so that neither a cursor nor the rows are held while the work goes on."""
    after = ""
    while True:
        with connection.cursor() as cursor:
            cursor.execute(question, [after, PAGE])
            rows = cursor.fetchall()
        yield from (_old_site(*row) for row in rows)
        if len(rows) < PAGE:
            return
        after = rows[-1][0]


def _old_site(
    site_id: str,
    stage: str | None,
    total: int | None,
    began: str | None,
    at: str | None,
    site_stage: str | None,
    status: str | None,
    updated: str | None,
    deployed: str | None,
    site_began: str | None,
    site_at: str | None,
) -> OldSite:
    stands = stage if stage in WORK_STAGES else site_stage if site_stage in WORK_STAGES else None
    return OldSite(
        site_id,
        stage=stands or STAGE_OF_STATUS.get(status or "") or stage or site_stage,
        stuck_in_ocr=stage == Stage.OCR,
        stage_total=total or 0,
        started_at=_first_moment(began, site_began),
        updated_at=_first_moment(at, site_at, updated, deployed),
        completed_at=_first_moment(deployed),
    )


def _first_moment(*texts: str | None) -> datetime | None:
    return next((moment for text in texts if text and (moment := _moment(text))), None)


def _moment(text: str) -> datetime | None:
    """The old system wrote UTC, mostly without saying so."""
    try:
        found = parse_datetime(text.strip()) or parse_datetime(f"{text.strip()} 00:00:00")
    except ValueError:
        return None
    if found is None or found.year < 1970:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


def _count(question: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(question)
        return int(cursor.fetchone()[0])
