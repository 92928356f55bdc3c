"""The demo's course: register the towns, run the pipeline over them, tell how it went, serve the pages."""

import time
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.urls import NoReverseMatch, reverse
from rich.console import Console

from demo import reading, verdict
from demo.city_hall import CityHall
from demo.processes import Child, listening_socket
from demo.screen import Screen
from demo.towns import TOWNS
from demo.wording import SCANNED_PHRASE
from pipeline import flow
from pipeline.models import Run
from sites.models import Site, Source

LOGIN, PASSWORD = "admin", "clerk-demo"
LONGEST_SECONDS = 900
LOOK_SECONDS = 0.5
# Name of the page, name of its address.
PAGES = (
    ("Records", "records:home"),
    ("Admin", "admin:index"),
    ("Dashboard", "dashboard"),
    ("Queues", "django_rq:home"),
)


class DemoFailed(Exception):
    """The demo could not go on; the message says why."""


def run(hall: CityHall, home: Path, once: bool) -> int:
    console = Console(highlight=False, soft_wrap=True)
    prepare(hall)
    console.print(f"Three made-up towns publish at http://{hall.host}/")
    with Child(["manage.py", "workers", "--grace", "5"], home / "workers.log") as workers:
        site_ids = [town.subdomain for town in TOWNS]
        for site_id in site_ids:
            flow.start(site_id, by="demo")
        began = time.monotonic()
        try:
            watch(site_ids, workers, console)
        except DemoFailed as failure:
            console.print(f"[red]{failure}[/]")
            return 1
        problems = verdict.tell(console, hall, time.monotonic() - began)
        if problems or once:
            return 1 if problems else 0
        return serve(console, home)


def prepare(hall: CityHall) -> None:
    call_command("migrate", verbosity=0)
    User.objects.create_superuser(LOGIN, password=PASSWORD)
    for town in TOWNS:
        site = Site.objects.create(
            subdomain=town.subdomain,
            name=town.name,
            state=town.state,
            kind=town.kind,
            country="US",
            start_year=2024,
        )
        for body in town.bodies:
            Source.objects.create(site=site, platform="generic", url=hall.address(town, body))


def watch(site_ids: Sequence[str], workers: Child, console: Console) -> None:
    deadline = time.monotonic() + LONGEST_SECONDS
    with Screen(console) as screen:
        while True:
            screen.show(Site.objects.filter(pk__in=site_ids))
            if not Run.objects.filter(status=Run.Status.RUNNING).exists():
                return
            if workers.ended():
                raise DemoFailed(f"the workers ended; their last words are in {workers.log}")
            if time.monotonic() > deadline:
                raise DemoFailed(
                    f"not done after {LONGEST_SECONDS} s; the workers' words are in {workers.log}"
                )
            time.sleep(LOOK_SECONDS)


def serve(console: Console, home: Path) -> int:
    """The pages, until Ctrl-C; the workers go on, so the sites can be started again from the admin."""
    listening = listening_socket()
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    arguments = ["-m", "gunicorn", "--bind", f"fd://{listening.fileno()}", "--workers", "1", "--threads", "4"]
    with Child([*arguments, "clerk_project.wsgi"], home / "web.log", keep=listening) as web:
        for title, name in PAGES:
            path = _path(name)
            if path:
                console.print(f"  {title:10} {address}{path}")
        console.print(f"  {'Databases':10} {settings.DEPLOY_DIR}")
        for found in reading.find(SCANNED_PHRASE):
            console.print(f'  The scanned "{SCANNED_PHRASE}", found and marked on the picture of its page:')
            console.print(f"  {address}{found.path}", markup=False)
        console.print(
            f"  Log in as [bold]{LOGIN}[/] with the password [bold]{PASSWORD}[/]. Ctrl-C ends the demo."
        )
        try:
            return web.wait()
        except KeyboardInterrupt:
            console.print("\nstopping …")
            return 0


def _path(name: str) -> str:
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""
