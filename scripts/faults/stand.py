"""The stage of the fault test: private servers, a migrated database, a Django that uses them."""

import os
import secrets
import signal
import sys
import time
import types
from typing import Any

from services.found import Finder
from services.janitor import Janitor
from services.postgres import postgres_server, postgres_url
from services.redis import redis_server, redis_url
from services.runner import temporary_folder
from services.server import Server

from .plan import TROUBLE, Plan


class Stand:
    def __init__(self, database: str, grace: int) -> None:
        self.database, self.grace = database, grace
        self.folder = temporary_folder()
        self.janitor = Janitor(self.folder)
        finder = Finder.of(os.environ)
        # Kept on disk: a killed Redis comes back with what it had written, which is a loss of its own kind.
        kept = self.folder / "kept"
        self.redis = redis_server(finder.redis(), self.folder, kept, self.janitor)
        self.postgres: Server | None = None
        if database == "postgresql":
            # What was committed must outlive a crash of the server; one of the machine is not tried here.
            changes = ["synchronous_commit=on"]
            self.postgres = postgres_server(finder.postgres(), self.folder, None, changes, self.janitor)

    def __enter__(self) -> "Stand":
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
        for server in self.servers:
            server.start()
        return self

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        for server in self.servers:
            server.stop()
        self.janitor.finish()

    @property
    def servers(self) -> list[Server]:
        return [server for server in (self.redis, self.postgres) if server]

    def play(self, plan: Plan) -> dict[str, Any]:
        os.environ |= self._environ()
        # Django reads its settings at the first import of a model, so these imports cannot come earlier.
        import django  # noqa: PLC0415

        django.setup()
        from .drill import Drill  # noqa: PLC0415
        from .play import Play  # noqa: PLC0415

        test = Play if plan.mode == TROUBLE else Drill
        return test(self, plan).run()

    def _environ(self) -> dict[str, str]:
        urls = {
            "postgresql": postgres_url(self.folder),
            "sqlite": f"sqlite:///{self.folder / 'clerk.sqlite3'}",
        }
        return {
            "DJANGO_SETTINGS_MODULE": "clerk_project.settings",
            "DATABASE_URL": urls[self.database],
            "REDIS_URL": redis_url(self.folder),
            "STORAGE_DIR": str(self.folder / "storage"),
            "DEPLOY_DIR": str(self.folder / "deployed"),
            "SEARCH_INDEX_DIR": str(self.folder / "index"),
            "RECORDS_IMAGE_CACHE_DIR": str(self.folder / "images"),
            "SECRET_KEY": secrets.token_hex(),
            "DEBUG": "0",
            "RECONCILE_GRACE_SECONDS": str(self.grace),
            "RETRY_BACKOFF_SECONDS": "0.2",
        }

    def kill(self, server: Server, number: signal.Signals, away: float) -> None:
        """Let the server die, be away for a while, and come back."""
        assert server.process is not None
        server.process.send_signal(number)
        server.process.wait(120)
        time.sleep(away)
        server.start()
