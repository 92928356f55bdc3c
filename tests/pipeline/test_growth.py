"""Three years in short: only what the cities publish grows; all else comes to a stand."""

import pytest

from benchmarks._year import simulate

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

# They grow with documents: one row each, or one in each stage.
WITH_DOCUMENTS = {"documents", "document_pipeline_state", "arrivals"}


def test_after_the_time_that_is_kept_only_documents_grow(tmp_path, settings):
    settings.KEEP_RUNS, settings.KEEP_RUN_DAYS, settings.KEEP_HISTORY_DAYS = 3, 28, 21

    growth = simulate(sites=4, weeks=24, folder=tmp_path / "published", looks=3, published=1)

    grew = {table for table, rows in growth.rows.items() if rows[2] > rows[1]}
    assert grew == WITH_DOCUMENTS
    assert growth.rows["documents"] == [64, 128, 192]
    # Four weeks of four sites, and the week that is just over.
    assert growth.rows["runs"][-1] <= 4 * 5
    assert growth.rows["reconcile_runs"][-1] <= 7 * 24 * 4 * 4
    # Five versions, each with what is said of it; a link, a lock and the catalogue.
    assert growth.rows["published files"][-1] == 5 * 2 + 3
