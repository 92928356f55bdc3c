"""`make legacy-demo`: the old system on its worst day, and how Clerk takes it over."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import redis

from demo.legacy import installation
from demo.legacy.readers import compare, shown_by_clerk, shown_by_the_old_system

ROOT = Path(__file__).resolve().parent.parent.parent
# As docs/migration.md has them.
STEPS = (
    *(f"migrate {app}" for app in ("pipeline", "contenttypes", "auth", "admin", "sessions", "django_rq")),
    "migrate_stuck_sites --dry-run",
    "migrate_stuck_sites",
    "adopt_sites --dry-run",
    "adopt_sites",
    "reconcile",
    "workers --burst",
    "run_pipeline --all --from compilation --no-wait",
    "workers --burst",
    "pipeline_status --limit 5",
    "verify --preflight",
)
OTHERS = 84


def main() -> int:
    url, queue = os.environ["DATABASE_URL"], redis.from_url(os.environ["REDIS_URL"])
    if not urlsplit(url).scheme.startswith("postgres"):
        sys.exit("the demo of the move needs PostgreSQL: run it through `make legacy-demo`")
    with tempfile.TemporaryDirectory(prefix="old-clerk-") as home:
        storage, deployed = Path(home, "storage"), Path(home, "deployed")
        storage.mkdir()
        with psycopg.connect(url, autocommit=True) as database:
            made = installation.build(database.execute, storage, queue, vendor="postgresql", further=OTHERS)
        readable = shown_by_the_old_system(storage)
        _say(f"The old system: {len(made.truth)} sites stuck in OCR, {len(made.others)} others, in {storage}")
        for step in STEPS:
            _say(f"$ python manage.py {step}")
            _manage(step, home)
        found = compare(readable, shown_by_clerk(deployed))
        _say(f"What readers can read: {found}")
        for page in found.lost:
            sys.stdout.write(f"lost: {page}\n")
    return 1 if found.lost else 0


def _manage(step: str, home: str) -> None:
    environ = {
        **os.environ,
        "STORAGE_DIR": f"{home}/storage",
        "DEPLOY_DIR": f"{home}/deployed",
        "SEARCH_INDEX_DIR": f"{home}/index",
        "LOG_LEVEL": "WARNING",
    }
    # The last one ends with 1: the bake has only begun.
    subprocess.run([sys.executable, "manage.py", *step.split()], cwd=ROOT, env=environ)


def _say(text: str) -> None:
    sys.stdout.write(f"\n\033[1m{text}\033[0m\n" if sys.stdout.isatty() else f"\n{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
