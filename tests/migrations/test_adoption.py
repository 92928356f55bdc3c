"""A database of the old system is taken over in place: one schema at the end, and not a value lost."""

import json
import time
from datetime import UTC, datetime

import psycopg
import pytest
from django.core.management.base import CommandError
from django.db import IntegrityError

from demo.legacy.shapes import COUNTERS
from pipeline.models import Run
from pipeline.verify import verify
from sites.migrations.adoption.operations import EnsureIndex
from sites.models import Site

SHAPES = ("before", "script", "tool")
THEN = datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)
EXTRA = json.dumps({"platform": "granicus", "note": "naïve “quotes” 100 % sure", "ids": [1, 2]})
OLD = {
    "subdomain": "alameda.ca",
    "name": "Alameda",
    "state": "CA",
    "kind": "city",
    "scraper": "granicus",
    "pages": 1234,
    "start_year": 1998,
    "extra": EXTRA,
    "country": "US",
    "lat": "37.7652",
    "lng": "-122.2416",
    "status": "needs_ocr",
    "extraction_status": "pending",
    "last_updated": "2024-05-06T07:08:09",
    "last_deployed": "2024-05-01 00:00:00",
    "last_extracted": None,
}


def insert(database, table, values):
    names, marks = ", ".join(values), ", ".join(["%s"] * len(values))
    database.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", *values.values())


def plain(moment):
    """What the old system wrote: UTC without saying so."""
    return moment.replace(tzinfo=None).isoformat(" ")


def populate(database, shape):
    insert(database, "sites", OLD)
    insert(database, "sites", {"subdomain": "o'brien county.tx", "status": "deployed"})
    progress = {"subdomain": "alameda.ca", "current_stage": "ocr", "stage_total": 15, "stage_completed": 12}
    time = THEN if shape == "tool" and database.vendor == "postgresql" else plain(THEN)
    insert(database, "site_progress", progress | {"started_at": time, "updated_at": time})
    insert(database, "job_tracking", {"rq_job_id": "j1", "subdomain": "alameda.ca", "job_type": "ocr"})
    if shape == "script":
        nulls = ", ".join(f"{name} = NULL" for name in COUNTERS)
        database.execute(f"UPDATE sites SET {nulls}, coordinator_enqueued = NULL WHERE status = 'deployed'")
    if shape != "before":
        database.execute(
            "UPDATE sites SET current_stage = 'ocr', ocr_total = 15, ocr_completed = 12, updated_at = %s,"
            " last_error_message = 'OCRError: bad scan' WHERE subdomain = 'alameda.ca'",
            time,
        )
    if shape == "tool":
        types = {"budget": ["2024"]}
        database.execute(
            "UPDATE sites SET has_finance_data = true, finance_data_types = %s", json.dumps(types)
        )


def schema(database, table):
    """Columns with type, nullability and default; comments; indexes by name and definition."""
    if database.vendor == "sqlite":
        columns = database.rows('SELECT name, "notnull", dflt_value FROM pragma_table_info(%s)', table)
        indexes = database.rows(
            "SELECT name FROM sqlite_master WHERE tbl_name = %s AND type = 'index'", table
        )
        return sorted(columns, key=str), sorted(indexes)
    columns = database.rows(
        "SELECT column_name, data_type, is_nullable, column_default, character_maximum_length,"
        " col_description(%s::regclass, ordinal_position)"
        " FROM information_schema.columns WHERE table_name = %s",
        table,
        table,
    )
    indexes = database.rows("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s", table)
    # PostgreSQL keeps a condition as it was written; these two are the same to its planner.
    same = ("(coordinator_enqueued = false)", "(NOT coordinator_enqueued)")
    indexes = [(name, definition.replace(*same)) for name, definition in indexes]
    comment = database.rows("SELECT obj_description(%s::regclass)", table)
    return sorted(columns, key=str), sorted(indexes), comment


def shape_of(database, table):
    """The columns without their comments, which nobody minds."""
    return [column[:4] for column in schema(database, table)[0]]


def foreign(shape):
    return {"has_finance_data", "finance_data_types"} if shape == "tool" else set()


FRESH = {}


@pytest.fixture
def fresh_schema(database):
    """What a new installation has after the state migrations, taken before the old tables are made."""
    if database.vendor not in FRESH:
        database.migrate("pipeline")
        FRESH[database.vendor] = schema(database, "sites"), schema(database, "site_progress")
        database.migrate("sites", "zero")
        assert not {"sites", "site_progress"} & database.tables()
    return FRESH[database.vendor]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_ends_in_one_schema(database, fresh_schema, shape):
    database.make_old(shape)
    populate(database, shape)

    database.migrate("pipeline")

    (columns, *rest), progress = schema(database, "sites"), schema(database, "site_progress")
    ours = [column for column in columns if column[0] not in foreign(shape)]
    assert (ours, *rest) == (fresh_schema[0][0], *fresh_schema[0][1:])
    if database.vendor == "postgresql":
        assert progress == fresh_schema[1]


@pytest.mark.parametrize("shape", SHAPES)
def test_no_value_is_lost(database, shape):
    database.make_old(shape)
    populate(database, shape)

    database.migrate("pipeline")

    names = ", ".join(OLD)
    assert database.one(f"SELECT {names} FROM sites WHERE subdomain = 'alameda.ca'") == tuple(OLD.values())
    assert database.one("SELECT status FROM sites WHERE subdomain = %s", "o'brien county.tx") == "deployed"
    assert database.one("SELECT current_stage, stage_total, stage_completed FROM site_progress") == (
        "ocr",
        15,
        12,
    )
    assert database.one("SELECT rq_job_id, job_type FROM job_tracking") == ("j1", "ocr")
    assert database.one("SELECT version_num FROM alembic_version") == "4f1c2d3e4a5b"
    site, never = Site.objects.order_by("subdomain")
    assert [getattr(never, name) for name in COUNTERS] == [0] * 15
    assert never.coordinator_enqueued is False
    if shape != "before":
        assert (site.current_stage, site.ocr_total, site.ocr_completed) == ("ocr", 15, 12)
        assert site.updated_at == THEN
        assert site.last_error_message == "OCRError: bad scan"
    if shape == "tool":
        kept = database.one(
            "SELECT has_finance_data, finance_data_types FROM sites WHERE subdomain = 'alameda.ca'"
        )
        assert (bool(kept[0]), kept[1]) in [(True, {"budget": ["2024"]}), (True, '{"budget": ["2024"]}')]


@pytest.mark.parametrize("shape", SHAPES)
def test_times_are_the_same_moments_in_utc(database, shape):
    database.make_old(shape)
    populate(database, shape)

    database.migrate("sites", "0002")

    if database.vendor == "postgresql":
        assert database.one("SELECT started_at, updated_at FROM site_progress") == (THEN, THEN)
        database.execute("SET TIME ZONE 'America/Los_Angeles'")
        assert database.one("SELECT updated_at::text FROM site_progress") == "2024-05-06 00:08:09.123456-07"
    else:
        text = database.one("SELECT CAST(updated_at AS TEXT) FROM site_progress")
        assert text == "2024-05-06 07:08:09.123456"


@pytest.mark.parametrize("shape", SHAPES)
def test_a_site_can_be_inserted_and_run_beside_foreign_columns(database, shape):
    database.make_old(shape)
    database.migrate("pipeline")

    site = Site.objects.create(subdomain="new.ca", name="New")
    Run.objects.create(site=site, started_at=THEN)
    database.execute("INSERT INTO sites (subdomain, status) VALUES ('by-the-old-code.ca', 'new')")

    by_the_old_code = Site.objects.get(pk="by-the-old-code.ca")
    assert by_the_old_code.ocr_total == 0
    assert by_the_old_code.coordinator_enqueued is False


@pytest.mark.parametrize("shape", SHAPES)
def test_the_state_migration_may_run_again_over_its_own_work(database, shape):
    database.make_old(shape)
    populate(database, shape)
    database.migrate("sites", "0002")
    before = schema(database, "sites"), database.rows("SELECT * FROM sites ORDER BY subdomain")

    database.migrate("sites", "0001", fake=True)
    database.migrate("sites", "0002")

    assert (schema(database, "sites"), database.rows("SELECT * FROM sites ORDER BY subdomain")) == before


def test_a_database_with_only_some_of_the_columns_gets_the_rest(database):
    database.make_old("before")
    database.execute("ALTER TABLE sites ADD COLUMN ocr_total integer")
    database.execute("ALTER TABLE sites ADD COLUMN updated_at timestamp DEFAULT CURRENT_TIMESTAMP")
    database.execute("CREATE INDEX idx_sites_updated_at ON sites (updated_at)")
    insert(database, "sites", {"subdomain": "a", "ocr_total": 7, "updated_at": plain(THEN)})
    insert(database, "sites", {"subdomain": "b", "ocr_total": None, "updated_at": None})

    database.migrate("pipeline")

    totals = Site.objects.order_by("pk").values_list("ocr_total", "updated_at", "ocr_completed")
    assert list(totals) == [(7, THEN, 0), (0, None, 0)]


@pytest.mark.parametrize("shape", SHAPES)
def test_going_back_gives_the_old_system_the_shape_it_had(database, shape):
    database.make_old(shape)
    populate(database, shape)
    before = shape_of(database, "sites"), shape_of(database, "site_progress")
    values = database.rows("SELECT * FROM job_tracking")

    database.migrate("pipeline")
    database.migrate("sites", "zero")

    assert (shape_of(database, "sites"), shape_of(database, "site_progress")) == before
    assert database.rows("SELECT * FROM job_tracking") == values
    assert database.one("SELECT count(*) FROM sites") == 2
    assert "adopted_schema" not in database.tables()
    time = database.one("SELECT updated_at FROM site_progress")
    assert str(time)[:19] == "2024-05-06 07:08:09"


def test_a_dead_index_of_an_interrupted_build_is_built_again(postgresql):
    postgresql.make_old("tool")
    postgresql.execute(
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'idx_sites_updated_at'::regclass"
    )

    postgresql.migrate("sites", "0002")

    assert postgresql.one(
        "SELECT indisvalid FROM pg_index WHERE indexrelid = 'idx_sites_updated_at'::regclass"
    )


def test_an_old_file_with_times_in_iso_form_compares_rightly(sqlite):
    sqlite.make_old("script")
    for name, text in {
        "a": "2024-05-06T07:08:09.123456+00:00",
        "b": "2024-05-06T09:08:09.123456+02:00",
        "c": "2024-05-06 07:08:09.123456",
        "d": "2024-05-06T07:08:09.123456Z",
    }.items():
        insert(sqlite, "sites", {"subdomain": name, "updated_at": text})

    sqlite.migrate("pipeline")

    assert Site.objects.filter(updated_at=THEN).count() == 4


def test_an_index_of_the_right_name_on_the_wrong_columns_is_built_anew(database):
    database.make_old("tool")
    database.execute("DROP INDEX idx_sites_coordinator_enqueued")
    database.execute("CREATE INDEX idx_sites_coordinator_enqueued ON sites (subdomain, coordinator_enqueued)")
    database.execute("DROP INDEX idx_sites_updated_at")
    database.execute("CREATE INDEX idx_sites_updated_at ON sites (started_at)")

    database.migrate("sites", "0002")

    catalogue = {
        "postgresql": "SELECT indexname, indexdef FROM pg_indexes",
        "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'index'",
    }
    definitions = dict(database.rows(catalogue[database.vendor]))
    assert " WHERE " in definitions["idx_sites_coordinator_enqueued"]
    assert "started_at" not in definitions["idx_sites_updated_at"]


def test_a_reader_in_a_long_transaction_makes_nobody_else_wait(postgresql):
    """The ALTER steps aside after half a second, and again, until the reader is gone."""
    postgresql.make_old("before")
    postgresql.execute("INSERT INTO sites (subdomain) VALUES ('a.ca')")
    postgresql.migrate("sites", "0001")
    with psycopg.connect(postgresql.url) as reader, psycopg.connect(postgresql.url, autocommit=True) as other:
        reader.execute("SELECT * FROM sites")
        migration = postgresql.manage("migrate", "sites", "0002")
        _until_an_alter_waits(other)
        # Behind an ALTER that waited as long as the reader reads, this would wait as long too.
        other.execute("SET statement_timeout = '20s'")
        written = other.execute("UPDATE sites SET name = 'x'").rowcount
        reader.rollback()
        assert migration.wait(60) == 0, migration.communicate()

    assert written == 1
    assert "current_stage" in {column[0] for column in schema(postgresql, "sites")[0]}


def _until_an_alter_waits(connection):
    question = "SELECT 1 FROM pg_locks WHERE relation = 'sites'::regclass AND NOT granted"
    deadline = time.monotonic() + 60
    while connection.execute(question).fetchone() is None:
        assert time.monotonic() < deadline, "the migration never came to its ALTER"
        time.sleep(0.02)


def test_a_state_migration_that_died_half_way_is_finished_by_the_next(database, monkeypatch):
    """And going back still knows what was there before the first of the two."""
    database.make_old("before")
    populate(database, "before")
    before = shape_of(database, "sites")

    def die(*args):
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(EnsureIndex, "database_forwards", die)
        with pytest.raises(RuntimeError):
            database.migrate("sites", "0002")
    assert len(shape_of(database, "sites")) > len(before)
    database.migrate("sites", "0002")
    assert Site._meta.indexes[0].name in str(schema(database, "sites"))
    database.migrate("sites", "zero")

    assert shape_of(database, "sites") == before


def test_an_old_file_of_plain_text_columns_keeps_its_own_checks(sqlite):
    sqlite.execute(
        "CREATE TABLE [sites] ([subdomain] TEXT PRIMARY KEY, [name] TEXT, [state] TEXT, [country] TEXT,"
        " [kind] TEXT, [scraper] TEXT, [pages] INTEGER, [start_year] INTEGER, [extra] TEXT, [status] TEXT,"
        " [last_updated] TEXT, [lat] TEXT, [lng] TEXT, [ocr_total] INT DEFAULT 0,"
        " [has_finance_data] BOOLEAN NOT NULL DEFAULT 0, CHECK (has_finance_data IN (0, 1)))"
    )
    sqlite.execute("CREATE INDEX ix_mine ON sites (ocr_total)")
    insert(sqlite, "sites", {"subdomain": "a.ca", "lat": "37.7", "ocr_total": None, "has_finance_data": 1})

    sqlite.migrate("pipeline")

    assert sqlite.one("SELECT lat, ocr_total, has_finance_data FROM sites") == ("37.7", 0, 1)
    with pytest.raises(IntegrityError):
        sqlite.execute("UPDATE sites SET has_finance_data = 7")
    assert ("ix_mine",) in schema(sqlite, "sites")[1]
    Site.objects.create(subdomain="b.ca")
    assert sqlite.one("SELECT extraction_status FROM sites WHERE subdomain = 'b.ca'") == "pending"
    assert [problem.check for problem in verify().problems] == ["unapplied migrations"]
    assert "not dropped yet: sites.0004_drop_site_progress" in verify().notes[0]


def test_a_revision_with_another_key_is_refused_in_one_line_and_left_as_it_is(database):
    database.execute("CREATE TABLE sites (subdomain varchar PRIMARY KEY, status varchar)")
    database.execute(
        "CREATE TABLE site_progress (id integer PRIMARY KEY, site_id varchar, current_stage varchar)"
    )
    database.execute("INSERT INTO sites VALUES ('a.ca', 'needs_ocr')")
    before = schema(database, "sites")

    with pytest.raises(CommandError) as refused:
        database.migrate("pipeline")

    assert str(refused.value).startswith(
        "site_progress has no column subdomain (it has current_stage, id, site_id). Supported are"
    )
    assert "\n" not in str(refused.value)
    assert schema(database, "sites") == before


def test_going_back_leaves_no_index_that_was_not_there(database):
    database.make_old("before")
    database.execute("INSERT INTO sites (subdomain) VALUES ('a.ca')")
    before = schema(database, "sites")[1]

    database.migrate("pipeline")
    database.migrate("sites", "zero")

    assert schema(database, "sites")[1] == before
