"""How the demo went: a summary to read, and whether everything is as the towns were made."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from django.conf import settings
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from demo import reading
from demo.city_hall import CityHall
from demo.towns import EXPECTED_FAILURES, TOWNS, papers
from demo.wording import SCANNED_PHRASE, SCANNED_PHRASE_PAPER
from pipeline.models import DocumentState, Status
from sites.models import Site
from sites.stages import Stage

SEARCH = """
SELECT pages.body, pages.date, pages.page
FROM pages WHERE pages.rowid IN (SELECT rowid FROM pages_fts WHERE pages_fts MATCH ?)
"""


def tell(console: Console, hall: CityHall, seconds: float) -> list[str]:
    """Print the summary; return what is not as it should be."""
    console.print(_summary())
    for row in _failed():
        address = row.document.url if row.document else row.unit
        console.print(
            f"  [red]{row.pipeline} {row.error_code}[/] {address}\n    {escape(row.error_message or '')}"
        )
    found = search(SCANNED_PHRASE)
    for body, day, page in found:
        console.print(f'  "{SCANNED_PHRASE}" stands on page {page} of the {body} of {day}, which is a scan')
    problems = [*_unfinished(), *_wrong_failures(hall), *_not_marked()]
    if len(found) != 1:
        problems.append(f'"{SCANNED_PHRASE}" stands on one scanned page and was found on {len(found)}')
    for problem in problems:
        console.print(f"[bold red]not as expected:[/] {problem}")
    console.print(f"{len(TOWNS)} sites in {seconds:.0f} s{'' if problems else ', all as expected'}")
    return problems


def _summary() -> Table:
    table = Table("site", "stage", "documents", "failed", "pages")
    for site in Site.objects.all():
        failed = DocumentState.objects.filter(site=site, status=Status.FAILED_TERMINAL).count()
        counts = (site.documents.count(), failed, site.pages or 0)
        table.add_row(site.name, site.current_stage, *map(str, counts))
    return table


def search(phrase: str) -> list[tuple[str, str, int]]:
    """What the deployed database of the phrase's town answers."""
    path = Path(settings.DEPLOY_DIR) / f"{SCANNED_PHRASE_PAPER[0]}.db"
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as database:
        return database.execute(SEARCH, (f'"{phrase}"',)).fetchall()


def _not_marked() -> Iterator[str]:
    marks = [found.marks for found in reading.find(SCANNED_PHRASE)]
    if marks != [len(SCANNED_PHRASE.split())]:
        yield f'the words of "{SCANNED_PHRASE}" should be marked on the picture of one page; marks: {marks}'


def _failed() -> Iterator[DocumentState]:
    rows = DocumentState.objects.filter(status=Status.FAILED_TERMINAL)
    yield from rows.select_related("document").order_by("site_id", "pk")


def _unfinished() -> Iterator[str]:
    for site in Site.objects.exclude(current_stage=Stage.COMPLETED):
        yield f"{site.pk} ended in {site.current_stage}: {site.last_error_message}"


def _wrong_failures(hall: CityHall) -> Iterator[str]:
    expected = {
        (f"http://{hall.host}{paper.path}", *EXPECTED_FAILURES[paper.form])
        for town in TOWNS
        for paper in papers(town)
        if paper.form in EXPECTED_FAILURES
    }
    found = {
        (row.document.url if row.document else row.unit, row.pipeline, row.error_code or "")
        for row in _failed()
    }
    yield from (
        f"{url} should have failed in {stage} as {code}" for url, stage, code in sorted(expected - found)
    )
    yield from (f"{url} failed in {stage} as {code}" for url, stage, code in sorted(found - expected))
