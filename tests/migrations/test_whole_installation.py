"""All of an old installation goes through the guide: not one page that was readable before is lost.

`make long-takeover` runs this, with 300 sites in each shape of the old database. The short version of it are
test_guides.py, test_the_day.py and test_way_back.py.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from random import Random

import django_rq
import pytest
from django.conf import settings as django_settings

from demo.legacy import installation, queue
from demo.legacy.installation import Installation
from demo.legacy.readers import Pages, compare, shown_by_clerk, shown_by_the_old_system
from pipeline.models import Adoption, Run
from sites.models import Site
from tests.conftest import assert_counters_equal_ledger
from tests.migrations.conftest import Database
from tests.migrations.old_rows import Rows, differences, old_rows
from tests.migrations.operator import Operator

SITES = int(os.environ.get("TAKEOVER_SITES", "0"))
SHAPES = ("before", "script", "tool")
UP_TO = ("2.", "3.", "4.", "5.", "6.")
FOREIGN = ("mail", "deferred", "crm.tasks.notify_volunteer_coordinator")

pytestmark = [
    pytest.mark.skipif(not SITES, reason="takes an hour; `make long-takeover` runs it"),
    pytest.mark.timeout(4 * 3600),
]


@dataclass
class Old:
    """The installation, and all that it holds before the move."""

    made: Installation
    foreign: str
    pages: Pages
    rows: Rows


@pytest.fixture
def old(database, settings, shape) -> Old:
    storage, redis = Path(settings.STORAGE_DIR), django_rq.get_connection("ocr")
    storage.mkdir()
    redis.flushdb()
    stuck = max(SITES // 3, 8)
    made = installation.build(
        lambda sql, values: database.execute(sql, *values),
        storage,
        redis,
        vendor=database.vendor,
        shape=shape,
        sites=stuck,
        further=SITES - stuck,
    )
    foreign = queue.add_job(redis, *FOREIGN, "somebody")
    return Old(made, foreign, shown_by_the_old_system(storage), old_rows(database))


@pytest.fixture
def operator(database, old, tmp_path) -> Operator:
    return Operator(database, tmp_path)


def the_dead_are_noticed() -> None:
    """What a killed worker held is known to be lost when its heartbeat has run out: a minute and a half."""
    redis = django_rq.get_connection("ocr")
    for key in redis.scan_iter("rq:wip:*"):
        for member in redis.zrange(key, 0, -1):
            redis.zadd(key, {member: 1})


def go_through(operator: Operator, *sections: str, kills: Random | None = None) -> None:
    for block in operator.blocks("migration.md", *sections):
        if kills:
            operator.kill(block, kills.choice((1, 3, 10, 30)))
            the_dead_are_noticed()
    operator.follow("migration.md", *sections)


def assert_nothing_is_lost(old: Old) -> None:
    found = compare(old.pages, shown_by_clerk(Path(django_settings.DEPLOY_DIR)))
    assert found.pages_before > 2 * len(old.made.others)
    assert not found.lost, f"{found}\n" + "\n".join(found.lost[:20])


def assert_all_is_well(old: Old) -> None:
    assert_nothing_is_lost(old)
    assert_counters_equal_ledger()
    assert not Run.objects.running().exists()
    assert not Site.objects.exclude(pk__in=Adoption.objects.values("pk")).exists()
    kept = {f"rq:job:{job}".encode() for job in (*old.made.kept_jobs, old.foreign)}
    assert kept <= set(django_rq.get_connection("ocr").scan_iter())


def go_back(operator: Operator, database: Database) -> None:
    operator.follow("rollback.md", "To the old schema")
    assert "documents" not in database.tables()


@pytest.mark.parametrize("shape", SHAPES)
def test_the_guide_is_gone_through_twice_and_killed_at_every_step(database, old, operator) -> None:
    go_through(operator, *UP_TO[:4])
    go_back(operator, database)
    assert differences(old.rows, old_rows(database)) == []

    go_through(operator, *UP_TO, kills=Random(3))

    assert_all_is_well(old)
