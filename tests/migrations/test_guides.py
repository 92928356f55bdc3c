"""The commands of the guides are the real ones: each is run, in the order in which they stand."""

import re
import shlex
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import django_rq
import pytest
from django.core.management import get_commands, load_command_class
from django.utils import timezone

from demo.legacy import installation
from demo.legacy.readers import compare, shown_by_clerk, shown_by_the_old_system
from pipeline.models import DocumentState, ReconcileRun, Run
from sites.models import Document, Site
from tests.migrations.old_rows import differences, old_rows
from tests.migrations.operator import DOCS, Operator

GUIDES = ("migration.md", "rollback.md", "troubleshooting.md")


@pytest.fixture
def operator(database, settings, tmp_path):
    Path(settings.STORAGE_DIR).mkdir()
    installation.build(
        lambda sql, values: database.execute(sql, *values),
        Path(settings.STORAGE_DIR),
        django_rq.get_connection("ocr"),
        vendor=database.vendor,
        sites=8,
    )
    return Operator(database, tmp_path)


def a_week_later() -> None:
    ReconcileRun.objects.all().delete()
    times = (timezone.now() - timedelta(hours=hours) for hours in range(0, 8 * 24, 6))
    ReconcileRun.objects.bulk_create(ReconcileRun(started_at=at, finished_at=at) for at in times)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_an_operator_goes_through_the_guides_and_back(database, operator, settings):
    readable, before = shown_by_the_old_system(Path(settings.STORAGE_DIR)), old_rows(database)
    output = operator.follow("migration.md", "2.", "3.", "4.", "5.", "6.")
    assert "Would migrate 8 sites (dry-run)" in output
    assert "Migrated 8 sites" in output
    assert "Would migrate 0 sites (dry-run)" in output
    assert "Would remove 0 deferred coordinators and 0 failed OCR jobs" in output
    assert Site.objects.filter(current_stage="completed", pk__startswith="site").count() == 8
    found = compare(readable, shown_by_clerk(Path(settings.DEPLOY_DIR)))
    assert found.pages_before > 100
    assert not found.lost, found
    operator.follow("troubleshooting.md")

    a_week_later()
    operator.follow("migration.md", "9.")
    assert "site_progress" not in database.tables()

    operator.follow("rollback.md", "After the drops")
    statuses = dict(
        database.rows("SELECT status, count(*) FROM sites WHERE subdomain LIKE 'site%%' GROUP BY status")
    )
    assert statuses == {"deployed": 7, "no_documents": 1}
    counted = _counted()
    operator.follow("rollback.md", "To the old schema")
    assert "documents" not in database.tables()
    assert database.one("SELECT count(*) FROM sites") == 32
    operator.follow("rollback.md", "Forward again")
    assert _counted() == counted

    operator.follow("rollback.md", "From the back-up")
    assert "documents" not in database.tables()
    assert differences(before, old_rows(database)) == []


def _counted():
    """Where every site stands; JSON keeps times to the millisecond."""
    values = Site.objects.order_by("pk").values_list(
        "pk", "current_stage", "run_id", "ocr_total", "updated_at"
    )
    sites = [(*rest, at and at.replace(microsecond=at.microsecond // 1000 * 1000)) for *rest, at in values]
    return sites, Document.objects.count(), DocumentState.objects.count(), Run.objects.count()


def commands_in(text: str) -> Iterator[list[str]]:
    for found in re.finditer(r"manage\.py ([a-z_]+(?:[ ][^`\n|#…]*)?)", text):
        yield shlex.split(found[1])


@pytest.mark.parametrize("guide", GUIDES)
def test_every_command_that_is_named_exists_with_its_options(guide):
    known = get_commands()
    named = list(commands_in((DOCS / guide).read_text()))
    assert named
    for name, *arguments in named:
        parser = load_command_class(known[name], name).create_parser("manage.py", name)
        options = {option for action in parser._actions for option in action.option_strings}
        assert {argument for argument in arguments if argument.startswith("--")} <= options, (name, arguments)


@pytest.mark.parametrize("guide", GUIDES)
def test_every_section_of_another_guide_that_is_linked_exists(guide):
    for name in re.findall(r"\]\((\w+\.md)\)", (DOCS / guide).read_text()):
        assert (DOCS / name).exists()
