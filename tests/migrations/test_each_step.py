"""The released code runs on a database that stands anywhere from the state columns to the last drop."""

import pytest
from django.utils import timezone

from pipeline import flow
from pipeline.reconcile import reconcile
from sites.models import Site, Source
from tests.conftest import assert_counters_equal_ledger

# The tables of the pipeline have migrations of their own; they bring what they need of `sites`.
STEPS = (
    pytest.param(["pipeline"], {"site_progress"}, id="state columns"),
    pytest.param(["sites 0003", "pipeline"], {"site_progress"}, id="sources and documents"),
    pytest.param(["pipeline", "sites 0004"], set(), id="old table dropped"),
    pytest.param(["pipeline", "sites 0005"], set(), id="old columns dropped"),
)


@pytest.mark.parametrize(("targets", "old_tables"), STEPS)
def test_the_whole_pipeline_runs(database, targets, old_tables, trivial_jobs, run_jobs, settings):
    settings.CLERK_ALLOW_DROPS = True
    database.make_old("tool")
    database.execute("INSERT INTO sites (subdomain, status) VALUES ('old.ca', 'deployed')")
    for target in targets:
        database.migrate(*target.split())
    assert {"site_progress"} & database.tables() == old_tables
    Site.objects.create(subdomain="new.ca")
    for site_id in ("old.ca", "new.ca"):
        Source.objects.create(
            site_id=site_id, platform="generic", url="http://x.test/", options={"titles": ["ok", "bad", "ok"]}
        )

    flow.start("old.ca")
    flow.start("new.ca")
    run_jobs()

    for site in Site.objects.all():
        assert (site.current_stage, site.ocr_total, site.ocr_completed) == ("completed", 3, 2)
    assert_counters_equal_ledger()
    Site.objects.filter(pk="old.ca").update(updated_at=timezone.now())
    assert reconcile().found == 0
