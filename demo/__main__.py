"""`make demo`: the towns' web site, the workers, the pipeline, and then the pages to look at."""

import argparse
import importlib
import os
import shutil
import signal
import sys
from pathlib import Path

import django

from demo.city_hall import CityHall

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "var" / "demo"


def main() -> int:
    parser = argparse.ArgumentParser("demo", description=__doc__)
    parser.add_argument(
        "--once", action="store_true", help="end after the summary; exit 0 only if all went as expected"
    )
    parser.add_argument("--data", type=Path, default=HOME, help="where its files go; emptied at each start")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    home = options.data.resolve()
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    try:
        with CityHall() as hall:
            _settle_in(hall, home)
            # Models can be imported only now that the settings are in place.
            return importlib.import_module("demo.tour").run(hall, home, options.once)
    except KeyboardInterrupt:
        return 130


def _settle_in(hall: CityHall, home: Path) -> None:
    """The demo's own database and files, and its towns as the only private host that may be fetched."""
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "clerk_project.settings",
        "DATABASE_URL": f"sqlite:///{home / 'clerk.sqlite3'}",
        "STORAGE_DIR": str(home / "storage"),
        "DEPLOY_DIR": str(home / "deployed"),
        "SEARCH_INDEX_DIR": str(home / "index"),
        "RECORDS_IMAGE_CACHE_DIR": str(home / "images"),
        "RECORDS_PUBLIC": "1",
        "DEBUG": "1",
        "ALLOWED_HOSTS": "127.0.0.1,localhost",
        "FETCH_PRIVATE_HOSTS": hall.host,
        "FETCH_HOST_GAP_SECONDS": "0.05",
        "RETRY_BACKOFF_SECONDS": "2",
    }
    django.setup()


if __name__ == "__main__":
    sys.exit(main())
