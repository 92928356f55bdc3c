"""Going back says what it would delete, and asks first."""

import pytest
from django.core.management.base import CommandError
from django.utils import timezone
from structlog.testing import capture_logs

from pipeline.models import DocumentState, Run
from sites.models import Document, Site, Source


def tables(database) -> dict[str, int]:
    names = ("sites", "sources", "documents", "document_pipeline_state", "runs")
    return {name: database.one(f"SELECT count(*) FROM {name}") for name in names}


@pytest.fixture
def in_use(database):
    """A database that Clerk has worked on."""
    database.make_old("tool")
    database.migrate("pipeline")
    site, now = Site.objects.create(subdomain="a.ca"), timezone.now()
    Source.objects.create(site=site, platform="generic", url="http://a.test/")
    document = Document.objects.create(site=site, external_id="1", meeting="Council")
    run = Run.objects.create(site=site, started_at=now)
    DocumentState.objects.create(
        site=site, document=document, run=run, pipeline="fetch", created_at=now, updated_at=now
    )
    return database


@pytest.mark.parametrize("target", ["0002", "zero"])
def test_a_step_back_that_would_delete_records_is_refused_with_their_numbers(in_use, target):
    before = tables(in_use)

    with pytest.raises(CommandError) as refused:
        in_use.migrate("sites", target)

    for lost in ("1 rows of documents", "1 rows of document_pipeline_state", "1 rows of runs"):
        assert lost in str(refused.value)
    assert "CLERK_ALLOW_DELETION" in str(refused.value)
    assert tables(in_use) == before


def test_the_setting_lets_it_go_back_and_is_logged(in_use, settings):
    settings.CLERK_ALLOW_DELETION = True

    with capture_logs() as logs:
        in_use.migrate("sites", "zero")

    assert "documents" not in in_use.tables()
    assert in_use.one("SELECT subdomain FROM sites") == "a.ca"
    assert logs[0]["lost"]["documents"] == 1


def test_the_commands_of_the_guide_may_be_repeated(in_use):
    before = tables(in_use)

    in_use.migrate("pipeline")

    assert tables(in_use) == before


def test_an_empty_installation_goes_back_without_a_word(database):
    database.make_old("tool")
    database.migrate("pipeline")

    database.migrate("sites", "zero")

    assert "documents" not in database.tables()
