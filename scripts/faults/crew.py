"""The processes of a test: the product's supervisor with its workers, and passes of reconcile."""

import os
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import django_rq
from django.db import connections, transaction

from pipeline import reconcile
from sites.models import Site

from .diary import Diary
from .workers import HastyWorker, work

if TYPE_CHECKING:
    from .stand import Stand

# A site that was recovered three times in vain is tried again after this time.
THRESHOLD = timedelta(seconds=15)


def _hold(site_id: str, seconds: float) -> None:
    with transaction.atomic():
        Site.objects.filter(pk=site_id).update(extra="held")
        time.sleep(seconds)


class Crew:
    def __init__(self, stand: "Stand") -> None:
        self.stand = stand
        self.diary = Diary(stand.folder / "diary")
        self.orders = stand.folder / "orders"
        self.orders.mkdir()
        self.supervisor = 0

    def start(self, worker: type = HastyWorker) -> None:
        log = self.stand.folder / "workers.log"
        self.supervisor = self._fork(lambda: work(worker, self.orders, self.diary, log))

    def stop(self) -> None:
        if self.supervisor:
            os.kill(self.supervisor, signal.SIGTERM)
            self.wait_for(self.supervisor)
            self.supervisor = 0

    def rest(self) -> None:
        """Stop, for something that undoes what was done so far."""
        self.stop()
        self.diary = replace(self.diary, chapter=self.diary.chapter + 1)

    def two_passes_at_once(self) -> None:
        for child in [self._fork(self._one_pass), self._fork(self._one_pass)]:
            self.wait_for(child)

    def hold_a_lock(self, site_id: str, seconds: float) -> int:
        """A process that died in the middle of a transaction, for all that others can tell."""
        return self._fork(lambda: _hold(site_id, seconds))

    def _one_pass(self) -> None:
        reconcile.reconcile(threshold=THRESHOLD)

    def _fork(self, task: Callable[[], None]) -> int:
        connections.close_all()
        django_rq.get_connection("high").connection_pool.disconnect()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                task()
                code = 0
            except Exception:
                traceback.print_exc()
            finally:
                os._exit(code)
        self.stand.janitor.started(pid, signal.SIGTERM)
        return pid

    def wait_for(self, pid: int) -> None:
        os.waitpid(pid, 0)
        self.stand.janitor.stopped(pid)
