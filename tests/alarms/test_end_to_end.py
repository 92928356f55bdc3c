"""A new installation: three sites, workers, and the process beside them that looks at a clock we move."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from pipeline import flow
from pipeline.models import Alarm, Notification, Run, Schedule, SourceState
from pipeline.workers.rhythm import Rhythm, duties
from sites.models import Site, Source
from tests.fakecity import FakeCity, make_pdf

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
CITIES = ("alameda.ca", "berkeley.ca", "concord.ca")


class MovedClock:
    def __init__(self) -> None:
        self.at = timezone.now()

    def __call__(self):
        return self.at

    def on(self, **span) -> None:
        self.at += timedelta(**span)


def page_of(city: FakeCity, name: str, files: list[str]) -> None:
    for file in files:
        city.page(f"/{name}/{file}", make_pdf(f"Minutes of {name}: the council met."), "application/pdf")
    links = "".join(f'<a href="{file}">City Council Minutes {file[:10]}</a>' for file in files)
    city.page(f"/{name}/", f"<html><body><h1>Minutes</h1>{links or 'We are moving.'}</body></html>")


@pytest.fixture
def city(settings):
    settings.FETCH_PRIVATE_HOSTS = ["127.0.0.1"]
    settings.FETCH_HOST_GAP_SECONDS = 0
    settings.SEARCH_INDEX = False
    with FakeCity() as server:
        yield server


def test_each_site_is_checked_on_its_rhythm_and_a_silent_source_is_told_once(
    city, team, mailbox, run_jobs
) -> None:
    for name in CITIES:
        page_of(city, name, ["2026-01-06.pdf", "2026-01-20.pdf"])
        site = Site.objects.create(subdomain=name, name=name)
        Source.objects.create(site=site, platform="generic", url=f"{city.url}/{name}/")
    Schedule.objects.bulk_create([Schedule(site_id="concord.ca", rhythm="weekly")])
    clock = MovedClock()
    rhythm = Rhythm(duties(0), clock)

    def day() -> None:
        """A day passes, looked at every six hours."""
        for _ in range(4):
            clock.on(hours=6)
            rhythm.beat()
            run_jobs()
            rhythm.beat()
            run_jobs()

    Schedule.objects.update(next_check_at=clock.at + timedelta(minutes=5))
    day()
    assert [Run.objects.filter(site=name, status="completed").count() for name in CITIES] in (
        [1, 1, 1],
        [1, 2, 1],
        [2, 1, 1],
        [2, 2, 1],
    )
    assert mailbox.subjects == []

    page_of(city, "alameda.ca", [])
    for _ in range(3):
        day()

    checks = {name: Run.objects.filter(site=name).count() for name in CITIES}
    assert {checks["alameda.ca"], checks["berkeley.ca"]} <= {4, 5}
    assert checks["concord.ca"] in (1, 2)
    assert mailbox.subjects == ["Clerk: alameda.ca: generic source listed nothing"]
    assert "It lists no document; 2 documents of it are known." in mailbox.text(0)
    assert "/admin/sites/site/alameda.ca/change/" in mailbox.text(0)
    latest = Run.objects.filter(site="alameda.ca").latest("pk")
    assert latest.message.startswith("completed, but generic source listed nothing")

    page_of(city, "alameda.ca", ["2026-01-06.pdf", "2026-01-20.pdf", "2026-02-03.pdf"])
    day()
    day()

    assert mailbox.subjects[1:] == ["Clerk: resolved: alameda.ca: generic source listed nothing"]
    assert SourceState.objects.get(source__site="alameda.ca").state == "fine"
    assert Alarm.objects.filter(resolved_at=None, opened_at__isnull=False).exclude(kind="queue").count() == 0
    assert set(Notification.objects.values_list("status", "attempts")) == {("delivered", 1)}


def test_a_source_that_can_never_be_listed_is_amber_and_its_run_is_no_plain_success(
    admin_client, run_jobs
) -> None:
    site = Site.objects.create(subdomain="alameda.ca", name="Alameda")
    # Not allowed by FETCH_PRIVATE_HOSTS: no other attempt can help.
    source = Source.objects.create(site=site, platform="generic", url="http://127.0.0.1:9/")
    flow.start(site.pk)
    run_jobs()

    assert SourceState.objects.get(source=source).state == "failing"
    page = admin_client.get(reverse("admin:sites_site_change", args=[site.pk])).content.decode()
    assert '<span class="badge warn">source silent</span>' in page
    assert '<span class="badge warn">completed, but</span>' in page
    assert '<span class="badge warn">cannot be listed</span>' in page
