"""Every value of the old tables, and what of them is not as it was."""

from typing import Any

from tests.migrations.conftest import Database

Rows = dict[tuple[str, str], dict[str, Any]]
KEYS = {"sites": "subdomain", "site_progress": "subdomain", "job_tracking": "rq_job_id"}
NAMES = {
    "postgresql": "SELECT column_name FROM information_schema.columns WHERE table_name = %s ORDER BY 1",
    "sqlite": "SELECT name FROM pragma_table_info(%s) ORDER BY 1",
}


def old_rows(database: Database) -> Rows:
    """As text, so that what is not the same to the byte is not the same."""
    found: Rows = {}
    for table, key in KEYS.items():
        names = [name for (name,) in database.rows(NAMES[database.vendor], table)]
        texts = ", ".join(f"CAST({name} AS TEXT)" for name in names)
        for row in database.rows(f"SELECT {texts} FROM {table}"):
            values = dict(zip(names, row, strict=True))
            found[table, values[key]] = values
    return found


def differences(before: Rows, after: Rows) -> list[str]:
    """Each value that changed, and each row and column that came or went."""
    found = []
    for at in sorted(before.keys() | after.keys()):
        old, new = before.get(at, {}), after.get(at, {})
        found += [
            f"{'.'.join(at)}.{name}: {old.get(name, 'nothing')!r} became {new.get(name, 'nothing')!r}"
            for name in sorted(old.keys() | new.keys())
            if old.get(name, ...) != new.get(name, ...)
        ]
    return found
