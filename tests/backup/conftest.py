"""A running installation: one site that is done, one in the middle of its run."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from pipeline import flow
from pipeline.models import Run
from sites.models import Site, Source
from tests.fakecity.pdfs import make_pdf
from tests.fakecity.server import FakeCity

WORDS = ("quetzal", "ocelot")


@pytest.fixture
def city(settings):
    settings.FETCH_HOST_GAP_SECONDS = 0.01
    with FakeCity() as server:
        settings.FETCH_PRIVATE_HOSTS = [server.host]
        for site in ("done.il", "halfway.il"):
            links = ""
            for month, word in enumerate(WORDS, start=1):
                path = f"/{site}/council-minutes-2024-0{month}-15.pdf"
                links += f'<li><a href="{path}">City Council Minutes 0{month}/15/2024</a></li>'
                server.pdf(path, make_pdf(f"Motion to adopt the {word} ordinance of {site} carried."))
            server.page(f"/{site}", f"<html><body><ul>{links}</ul></body></html>")
        yield server


@pytest.fixture
def running(city, run_jobs, transactional_db) -> Run:
    User.objects.create_superuser("ann", password="a long password of hers")
    for name in ("done.il", "halfway.il"):
        site = Site.objects.create(subdomain=name, name=name)
        Source.objects.create(site=site, platform="generic", url=f"{city.url}/{name}")
    flow.start("done.il")
    run_jobs()
    run = flow.start("halfway.il")
    for queue in ("fetch", "high"):
        run_jobs(only=queue)
    return run


def texts_in(folder: Path) -> dict[str, list[tuple[str, int, str]]]:
    """Every page that readers have, by site."""
    found = {}
    for database in sorted(folder.glob("*.db")):
        with closing(sqlite3.connect(database)) as connection:
            query = (
                "SELECT documents.url, pages.page, pages.text FROM pages"
                " JOIN documents ON documents.id = pages.document_id ORDER BY 1, 2"
            )
            found[database.stem] = connection.execute(query).fetchall()
    return found
