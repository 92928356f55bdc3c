"""Sites whose records are published: through the real compilation, extraction and deploy."""

import importlib
import json
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from pipeline.models import DocumentState, Status
from pipeline.stages.compilation import compile_site
from pipeline.stages.deploy import Deployed, deploy_site
from pipeline.stages.extraction import extract_document
from sites.models import Document, Site
from sites.storage import SiteFiles
from tests.records.minutes import AGENDA, MOTIONS, ROLL

roles = importlib.import_module("pipeline.migrations.0004_roles")
readers_roles = importlib.import_module("records.migrations.0002_roles")


@pytest.fixture
def as_(db):
    """A client logged in as a member of this group; of none for the empty name."""
    roles.create(apps, None)
    readers_roles.grant(apps, None)

    def log_in(group: str) -> Client:
        user = User.objects.create_user(group or "nobody", password="x", is_staff=True)
        if group:
            user.groups.add(Group.objects.get(name=group))
        client = Client()
        client.force_login(user)
        return client

    return log_in


@pytest.fixture
def public(settings) -> None:
    settings.RECORDS_PUBLIC = True


@pytest.fixture
def add_document(db) -> Callable[..., Document]:
    """A document whose pages were read: `add_document(site, "minutes", ["page one", "page two"])`."""

    def add(site: Site, name: str, pages: list[str], method: str = "text", **values: Any) -> Document:
        told: dict[str, Any] = {
            "body": "City Council",
            "kind": "minutes",
            "meeting_date": date(2024, 1, 15),
            "title": name,
        }
        told |= {"path": f"pdfs/Council/{name}-{values.get('version', 1)}.pdf"} | values
        document = Document(site=site, external_id=name, meeting="Council", pages=len(pages), **told)
        document.save()
        passed(document, "ocr")
        write_pages(document, pages, method)
        return document

    return add


def passed(document: Document, stage: str) -> None:
    now = timezone.now()
    DocumentState.objects.update_or_create(
        document=document,
        pipeline=stage,
        defaults={
            "site": document.site,
            "status": Status.PROCESSED,
            "created_at": now,
            "updated_at": now,
            "processed_at": now,
        },
    )


def write_pages(document: Document, pages: list[str], method: str = "text") -> None:
    folder = SiteFiles.of(document.site_id).text_dir(document.path)
    folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(pages, start=1):
        (folder / f"{number}.txt").write_text(text)
        known = {"method": method, "confidence": 91.0 if method == "ocr" else None, "words": _in_a_row(text)}
        (folder / f"{number}.json").write_text(json.dumps(known))


def _in_a_row(text: str) -> list[tuple[str, int, int, int, int, int]]:
    """Each word with a box: ten to a line, so that a test knows where it stands."""
    return [
        (word, place % 10 * 1000, place // 10 * 200, place % 10 * 1000 + 900, place // 10 * 200 + 150, 90)
        for place, word in enumerate(text.split())
    ]


@pytest.fixture
def publish() -> Callable[..., Deployed]:
    """Compile, extract and deploy what the site has."""

    def go(site: Site) -> Deployed:
        compile_site(site.pk)
        for document in site.documents.all():
            extract_document(document)
        return deploy_site(site.pk, timezone.now(), SiteFiles.of(site.pk).scratch / "deploy.db")

    return go


@pytest.fixture
def town(make_site, add_document, publish, public) -> Site:
    """A town with the agenda and minutes of one meeting, and the minutes of another body a year before."""
    site = make_site("bend.or")
    add_document(site, "minutes", [ROLL, MOTIONS])
    add_document(site, "agenda", [AGENDA], kind="agenda")
    early = date(2023, 5, 2)
    add_document(site, "parks", ["Nothing was decided."], body="Parks Board", meeting_date=early)
    publish(site)
    return site
