"""Webhooks: written down with the end of a run, delivered by a job, tried again, and kept on record."""

import random
import time
from collections.abc import Iterable
from datetime import timedelta

import django_rq
import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from redis.exceptions import RedisError

from pipeline.errors import PipelineError
from pipeline.models import Run, Webhook, WebhookDelivery
from pipeline.queue import inspection, tally
from pipeline.redaction import redact
from pipeline.work import webhook
from sites.models import Site
from sites.stages import WORK_STAGES

log = structlog.get_logger()
QUEUE = "webhooks"
JOB = "pipeline.jobs.deliver_webhook"
# A delivery whose worker died in the middle is free again after this.
LEASE = timedelta(minutes=5)
FIRST_WAIT = 30
# What RQ says of a job that is still going to run, or runs.
COMING = ("queued", "started", "scheduled", "deferred")


def announce(run_id: int) -> None:
    """Write down who is to be told of this run's end, in the transaction that ends it; send after it.

    Whatever goes wrong here, the run has ended: that is not undone because somebody cannot be told.
    """
    try:
        with transaction.atomic():
            told = _write_down(run_id)
    except Exception:
        return log.exception("webhooks could not be written down", run=run_id)
    if told:
        transaction.on_commit(lambda: _send(told))


def _write_down(run_id: int) -> list[WebhookDelivery]:
    run = Run.objects.select_related("site").get(pk=run_id)
    wanted = Webhook.objects.filter(Q(site=None) | Q(site_id=run.site_id), enabled=True)
    now, payload = timezone.now(), _payload(run)
    deliveries = [
        WebhookDelivery(webhook=hook, run=run, event=run.status, payload=payload, next_attempt_at=now)
        for hook in wanted
        if hook.wants(run.status)
    ]
    WebhookDelivery.objects.bulk_create(deliveries, ignore_conflicts=True)
    return list(WebhookDelivery.objects.filter(run=run, status=WebhookDelivery.Status.PENDING))


def _payload(run: Run) -> dict[str, object]:
    site: Site = run.site
    return {
        "event": run.status,
        "site": site.pk,
        "name": site.name,
        "run": run.pk,
        "started_at": run.started_at.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
        "message": run.message,
        "pages": site.pages,
        "stages": {
            stage.value: {
                "total": site.progress(stage).total,
                "completed": site.progress(stage).completed,
                "failed": site.progress(stage).failed,
            }
            for stage in WORK_STAGES
        },
    }


def send_due() -> int:
    """Queue every delivery that is due and whose job was lost; how many."""
    due = WebhookDelivery.objects.filter(
        status=WebhookDelivery.Status.PENDING, next_attempt_at__lte=timezone.now()
    )
    waiting = list(due.order_by("pk")[:500])
    states = inspection.job_states(_job_id(delivery) for delivery in waiting)
    lost = [delivery for delivery in waiting if states.get(_job_id(delivery)) not in COMING]
    _send(lost)
    return len(lost)


def _send(deliveries: Iterable[WebhookDelivery]) -> None:
    """One job each."""
    try:
        for delivery in deliveries:
            django_rq.get_queue(QUEUE).enqueue_call(
                JOB,
                args=(delivery.pk,),
                job_id=_job_id(delivery),
                timeout=settings.JOB_LIMITS[QUEUE],
                result_ttl=0,
                failure_ttl=86400,
            )
    except RedisError as error:
        log.warning("queue unreachable; reconcile will send these webhooks", error=str(error))


def _job_id(delivery: WebhookDelivery) -> str:
    return f"webhook-{delivery.pk}-{delivery.attempts}"


def deliver(delivery_id: int) -> None:
    """One attempt. The guarded update lets one of two jobs through."""
    now = timezone.now()
    claimed = WebhookDelivery.objects.filter(
        pk=delivery_id, status=WebhookDelivery.Status.PENDING, next_attempt_at__lte=now
    ).update(attempts=F("attempts") + 1, last_attempt_at=now, next_attempt_at=now + LEASE)
    if not claimed:
        return
    delivery = WebhookDelivery.objects.select_related("webhook").get(pk=delivery_id)
    try:
        answered = webhook.post(
            _message(delivery), timestamp=int(time.time()), timeout=settings.WEBHOOK_TIMEOUT_SECONDS
        )
    except PipelineError as error:
        _failed(delivery, redact(str(error)))
    else:
        _finish(
            delivery,
            status=WebhookDelivery.Status.DELIVERED,
            delivered_at=timezone.now(),
            answer=str(answered),
        )
    tally.add("clerk_webhook_attempts", outcome="delivered" if delivery.delivered_at else "failed")
    log.info(
        "webhook", site=delivery.payload["site"], url=redact(delivery.webhook.url), outcome=delivery.status
    )


def _message(delivery: WebhookDelivery) -> webhook.Message:
    hook = delivery.webhook
    return webhook.Message(hook.url, hook.secret, delivery.event, str(delivery.pk), delivery.payload)


def _failed(delivery: WebhookDelivery, answer: str) -> None:
    if delivery.attempts >= settings.WEBHOOK_ATTEMPTS:
        return _finish(delivery, status=WebhookDelivery.Status.FAILED, answer=answer[:500])
    wait = timedelta(seconds=FIRST_WAIT * 4 ** (delivery.attempts - 1) * random.uniform(0.9, 1.1))
    _finish(delivery, next_attempt_at=timezone.now() + wait, answer=answer[:500])
    try:
        django_rq.get_queue(QUEUE).enqueue_in(
            wait,
            JOB,
            delivery.pk,
            job_id=_job_id(delivery),
            job_timeout=settings.JOB_LIMITS[QUEUE],
            result_ttl=0,
        )
    except RedisError as error:
        log.warning("queue unreachable; reconcile will send this webhook", error=str(error))


def _finish(delivery: WebhookDelivery, **values: object) -> None:
    for name, value in values.items():
        setattr(delivery, name, value)
    delivery.save(update_fields=list(values))
