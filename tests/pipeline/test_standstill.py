"""Why a site does not move: the pages and reconcile must say the same."""

from datetime import timedelta

import django_rq
import pytest
from django.utils import timezone

from pipeline import flow
from pipeline.models import DocumentState
from pipeline.queue import inspection
from pipeline.reconcile import find
from pipeline.reports.standstill import explain
from sites.models import STUCK_AFTER, Site

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("trivial_jobs")]


def reasons() -> list[str]:
    return [each.reason for each in explain(list(Site.objects.all()), inspection.read_workforce())]


def take_and_die(queue_name: str) -> None:
    """As a worker that is killed between taking a job and starting it."""
    queue = django_rq.get_queue(queue_name)
    assert queue.connection.lmove(queue.key, queue.intermediate_queue_key)


def test_a_job_that_a_dying_worker_took_along_is_lost_to_the_pages_too(make_site):
    flow.start(make_site(titles=["ok"]).pk)
    take_and_die("fetch")

    assert "waits on queue fetch" in reasons()[0] or "no worker on queue fetch" in reasons()[0]

    long_ago = timezone.now() - timedelta(hours=1)
    DocumentState.objects.update(updated_at=long_ago)
    Site.objects.update(updated_at=long_ago)

    assert [suspect.site.pk for suspect in find.suspects(timezone.now(), STUCK_AFTER)] == ["alameda.ca"]
    assert reasons() == ["1 job lost from queue fetch; the next reconcile will send it again"]
