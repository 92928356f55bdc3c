"""A call for help: what is wrong is found, told once to each channel, and told again when it is over."""

from datetime import datetime

import structlog
from django.conf import settings

from pipeline.alarms import delivery, digest, telling, watch
from pipeline.errors import PipelineError
from pipeline.reconcile import lock
from pipeline.work import notify

log = structlog.get_logger()
ALARM_LOCK = lock.Lock(5_310_003, "alarms")


def look(now: datetime) -> None:
    """Open and resolve alarms, compose messages and digests, send what is due."""
    with lock.only_one(ALARM_LOCK) as alone:
        if alone:
            watch.watch(now)
            telling.compose(now)
            digest.compose(now)
    delivery.send_due()


def ping(failed: bool = False) -> None:
    """After a pass of reconcile. A watcher that cannot be reached costs the pass nothing."""
    if settings.PING_URL:
        try:
            notify.ping(settings.PING_URL, failed=failed)
        except PipelineError as error:
            log.warning("the dead-man ping did not arrive", error=str(error))
