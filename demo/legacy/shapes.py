"""The databases that the old system left behind, as it made them."""

STAGES = ("fetch", "ocr", "compilation", "extraction", "deploy")
COUNTERS = [f"{stage}_{part}" for stage in STAGES for part in ("total", "completed", "failed")]

SITES = """
CREATE TABLE sites (
    subdomain varchar NOT NULL PRIMARY KEY, name varchar, state varchar, kind varchar, scraper varchar,
    pages integer, start_year integer, extra varchar, country varchar, lat varchar, lng varchar,
    status varchar, extraction_status varchar DEFAULT 'pending', last_updated varchar, last_deployed varchar,
    last_extracted varchar
)
"""
PROGRESS = """
CREATE TABLE site_progress (
    subdomain varchar NOT NULL PRIMARY KEY, current_stage varchar, stage_total integer DEFAULT 0,
    stage_completed integer DEFAULT 0, started_at {time}, updated_at {time}
)
"""
JOBS = """
CREATE TABLE job_tracking (
    rq_job_id varchar NOT NULL PRIMARY KEY, subdomain varchar, job_type varchar,
    stage varchar, created_at {time}
)
"""
ALEMBIC = "CREATE TABLE alembic_version (version_num varchar(32) NOT NULL PRIMARY KEY)"


def statements(shape: str, vendor: str = "postgresql") -> list[str]:
    """`before`: no state columns; `script`: added by its SQL script; `tool`: by its migration tool."""
    zoned = "timestamptz" if vendor == "postgresql" and shape == "tool" else "timestamp"
    found = [SITES, PROGRESS.format(time=zoned), JOBS.format(time=zoned), ALEMBIC]
    found.append("INSERT INTO alembic_version VALUES ('4f1c2d3e4a5b')")
    if shape != "before":
        found += [f"ALTER TABLE sites ADD COLUMN {column}" for column in _state(shape, zoned)]
    if shape == "tool":
        found += _indexes()
        found.append("ALTER TABLE sites ADD COLUMN has_finance_data boolean NOT NULL DEFAULT false")
        found.append("ALTER TABLE sites ADD COLUMN finance_data_types json")
    return found


def _state(shape: str, zoned: str) -> list[str]:
    counter = "integer NOT NULL DEFAULT 0" if shape == "tool" else "INT DEFAULT 0"
    flag = "boolean NOT NULL DEFAULT false" if shape == "tool" else "boolean DEFAULT false"
    return [
        "current_stage varchar",
        f"started_at {zoned}",
        f"updated_at {zoned}",
        *(f"{name} {counter}" for name in COUNTERS),
        f"coordinator_enqueued {flag}",
        "last_error_stage varchar",
        "last_error_message text",
        f"last_error_at {zoned}",
    ]


def _indexes() -> list[str]:
    return [
        "CREATE INDEX idx_sites_current_stage ON sites (current_stage)",
        "CREATE INDEX idx_sites_updated_at ON sites (updated_at)",
        "CREATE INDEX idx_sites_coordinator_enqueued ON sites (subdomain, coordinator_enqueued)"
        " WHERE coordinator_enqueued = false",
    ]
