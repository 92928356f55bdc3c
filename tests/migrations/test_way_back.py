"""What Clerk did not touch comes back byte for byte, from every point of the move."""

import os
from pathlib import Path
from typing import Any

import django_rq
import pytest

from demo.legacy import installation
from demo.legacy.others import KINDS
from pipeline.takeover.every_site import adopt
from pipeline.takeover.stuck_sites import carry_over
from tests.migrations.old_rows import differences, old_rows

# The shape with some of what each of the others has; `make long-takeover` has them all.
SHAPES = ("before", "script", "tool") if "TAKEOVER_SITES" in os.environ else ("script",)


@pytest.fixture(autouse=True)
def may_go_back(settings: Any) -> None:
    settings.CLERK_ALLOW_DELETION = True
    settings.CLERK_ALLOW_DROPS = True


@pytest.fixture
def old(database, settings, shape):
    """A small installation with a site of every kind."""
    Path(settings.STORAGE_DIR).mkdir()
    installation.build(
        lambda sql, values: database.execute(sql, *values),
        Path(settings.STORAGE_DIR),
        django_rq.get_connection("ocr"),
        vendor=database.vendor,
        shape=shape,
        sites=8,
        further=3 * len(KINDS),
    )
    return old_rows(database)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_row_comes_back_as_it_was(database, old) -> None:
    database.migrate("pipeline")
    database.migrate("sites", "zero")
    assert differences(old, old_rows(database)) == [], "from the adopted schema"

    database.migrate("pipeline")
    carry_over(dry_run=False)
    database.migrate("sites", "zero")
    assert differences(old, old_rows(database)) == [], "with the stuck sites taken over"

    database.migrate("pipeline")
    carry_over(dry_run=False)
    assert not adopt(dry_run=False).unreadable
    database.migrate("sites", "zero")
    assert differences(old, old_rows(database)) == [], "with all sites taken over"

    database.migrate("pipeline")
    carry_over(dry_run=False)
    adopt(dry_run=False)
    database.migrate("sites")
    database.migrate("sites", "zero")
    assert differences(old, old_rows(database)) == [], "from the last of the drops"
