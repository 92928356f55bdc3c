"""Every kind of trouble, one at a time, as the dice fall."""

import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django_rq
import psutil
from django.db import DatabaseError, close_old_connections, connection
from redis.exceptions import RedisError

from pipeline import flow
from pipeline.queue.sending import QueueUnavailable
from sites.models import Source

from . import operators, outages
from .backups import Backup
from .crew import Crew
from .plan import COMPLETED, Part
from .workers import PLACES

if TYPE_CHECKING:
    from .stand import Stand

QUEUES = ("high", "fetch", "ocr", "compilation", "extraction", "deploy", "webhooks")


class Trouble:
    def __init__(self, stand: "Stand", crew: Crew, parts: list[Part]) -> None:
        self.stand, self.crew, self.orders = stand, crew, crew.orders
        self.parts = [part for part in parts if part.end == COMPLETED]
        self.done: Counter[str] = Counter()
        self.places: list[str] = []
        self.kinds = {
            self.kill_a_horse: 5,
            self.kill_a_worker: 3,
            self.order_a_death: 14,
            self.deliver_twice: 5,
            self.restart_a_site: 1,
            self.publish_more: 1,
            self.flush_redis: 1,
            self.kill_redis: 1,
            self.hold_a_lock: 2,
            self.refuse_writes_to_redis: 1,
            self.break_down: 4,
            self.set_a_clock_wrong: 1,
            self.operate: 5,
            self.back_up: 1,
            self.restore_a_backup: 1,
        }
        # What is over by itself after a while: until when, and the order that says so.
        self.passing: list[tuple[float, Path]] = []
        self.holders: list[int] = []
        self.backup = Backup(stand)
        if stand.postgres:
            self.kinds[self.restart_postgres] = 1

    def one(self, dice: random.Random) -> None:
        self._let_pass(time.monotonic())
        kind = dice.choices(list(self.kinds), list(self.kinds.values()))[0]
        try:
            if kind(dice):
                self.done[kind.__name__.replace("_", " ")] += 1
        except (DatabaseError, RedisError, flow.Refused, QueueUnavailable, psutil.Error):
            close_old_connections()  # a server that was just killed; the next one will do

    def _let_pass(self, now: float) -> None:
        for until, order in self.passing:
            if until <= now:
                order.unlink(missing_ok=True)
        self.passing = [(until, order) for until, order in self.passing if until > now]

    def call_off(self) -> None:
        """Orders that nobody has carried out yet; and a connection to a database that is up again."""
        self._let_go()
        for order in self.orders.iterdir():
            order.unlink(missing_ok=True)
        connection.close()
        operators.go_home([part.site_id for part in self.parts])

    def _let_go(self) -> None:
        while self.holders:
            self.crew.wait_for(self.holders.pop())

    # ---- Processes ------------------------------------------------------------------------------------

    def kill_a_horse(self, dice: random.Random) -> bool:
        horses = [horse for worker in self._workers() for horse in worker.children()]
        return self._kill(horses, dice)

    def kill_a_worker(self, dice: random.Random) -> bool:
        return self._kill(self._workers(), dice)

    def _workers(self) -> list[psutil.Process]:
        return psutil.Process(self.crew.supervisor).children()

    def _kill(self, processes: list[psutil.Process], dice: random.Random) -> bool:
        if processes:
            dice.choice(processes).kill()
        return bool(processes)

    def order_a_death(self, dice: random.Random) -> bool:
        """The next process that comes to this place dies there, alone or with its worker."""
        if not self.places:
            self.places = dice.sample(PLACES, len(PLACES))
        (self.orders / self.places.pop()).write_text(dice.choice(["horse", "horse", "worker"]))
        return False  # counted when it is carried out

    # ---- The queue ------------------------------------------------------------------------------------

    def deliver_twice(self, dice: random.Random) -> bool:
        """Some jobs that wait, and some that are done, are put into their queues once more."""
        redis = django_rq.get_connection("high")
        jobs: list[tuple[str, Any]] = []
        for queue in map(django_rq.get_queue, QUEUES):
            jobs += [(queue.key, job) for job in redis.lrange(queue.key, 0, 50)]
            jobs += [(queue.key, job) for job in redis.zrange(queue.finished_job_registry.key, -50, -1)]
        for key, job in dice.sample(jobs, min(len(jobs), 5)):
            redis.rpush(key, job)
        return bool(jobs)

    def flush_redis(self, dice: random.Random) -> bool:
        return bool(django_rq.get_connection("high").flushall())

    def kill_redis(self, dice: random.Random) -> bool:
        self.stand.kill(self.stand.redis, signal.SIGKILL, away=dice.uniform(0, 2))
        return True

    # ---- The database ---------------------------------------------------------------------------------

    def restart_postgres(self, dice: random.Random) -> bool:
        """Immediate mode: no goodbye to anybody, recovery at the start."""
        assert self.stand.postgres is not None
        self.stand.kill(self.stand.postgres, signal.SIGQUIT, away=dice.uniform(0, 1))
        connection.close()
        return True

    def hold_a_lock(self, dice: random.Random) -> bool:
        """Somebody who stopped in the middle of a transaction: on SQLite everybody waits for him."""
        longest = 6 if self.stand.postgres else 3
        self.holders.append(self.crew.hold_a_lock(dice.choice(self.parts).site_id, dice.uniform(1, longest)))
        return True

    def back_up(self, dice: random.Random) -> bool:
        self._let_go()
        self.backup.take()
        return False  # no trouble yet

    def restore_a_backup(self, dice: random.Random) -> bool:
        """The database is older then than the queue, whose jobs may mean rows of the same numbers."""
        if not self.backup.exists:
            return self.back_up(dice)
        self._let_go()
        self.crew.rest()
        self.backup.put_back()
        self.crew.start()
        return True

    # ---- Machines and targets -------------------------------------------------------------------------

    def refuse_writes_to_redis(self, dice: random.Random) -> bool:
        """As a replica, or with a full disk: it answers every question and takes nothing."""
        redis = django_rq.get_connection("high")
        redis.config_set("min-replicas-to-write", 1)
        try:
            time.sleep(dice.uniform(0.5, 3))
        finally:
            redis.config_set("min-replicas-to-write", 0)
        return True

    def break_down(self, dice: random.Random) -> bool:
        """Something that a stage needs is away for a while: its disk, its engine, its storage, its target."""
        stage = dice.choice(sorted(outages.KINDS))
        order = outages.order_file(self.orders, stage)
        written = order.with_suffix(".new")  # a job may look at any moment, and must not see half of it
        written.write_text(dice.choice(outages.KINDS[stage]).__name__)
        written.rename(order)
        self.passing.append((time.monotonic() + dice.uniform(1, 6), order))
        return True

    def set_a_clock_wrong(self, dice: random.Random) -> bool:
        order = self.orders / outages.SKEWED
        order.touch()
        self.passing.append((time.monotonic() + dice.uniform(2, 5), order))
        return True

    # ---- People ---------------------------------------------------------------------------------------

    def restart_a_site(self, dice: random.Random) -> bool:
        flow.restart(dice.choice(self.parts).site_id, by="chaos")
        return True

    def operate(self, dice: random.Random) -> bool:
        return operators.act(dice.choice(self.parts).site_id, dice)

    def publish_more(self, dice: random.Random) -> bool:
        """A city publishes documents, and a new run is begun for it."""
        part = dice.choice(self.parts)
        source = Source.objects.get(site_id=part.site_id)
        titles = source.options["titles"]
        Source.objects.filter(pk=source.pk).update(options={"titles": [*titles, *["ok"] * 5]})
        flow.start(part.site_id, by="chaos")
        return True
