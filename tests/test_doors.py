"""The doors of the pages: who guesses is shut out and logged, no foreign script runs, no bad key gets in."""

import logging
import re

import pytest
from axes.models import AccessAttempt
from axes.utils import reset
from django.contrib.auth.models import User
from django.test import Client

from pipeline.errors import StageError
from pipeline.operations.add_site import create
from pipeline.verify.files import BAD_PATH, MISSING_FILE, find
from sites.keys import LONGEST, is_key
from sites.models import Document, Site
from sites.storage import SiteFiles

LOGIN = "/admin/login/"


@pytest.fixture
def root(db) -> User:
    return User.objects.create_superuser("root", password="a password that holds")


def guess(browser: Client, password: str, address: str = "192.0.2.1", name: str = "root"):
    return browser.post(LOGIN, {"username": name, "password": password}, REMOTE_ADDR=address)


# ---- Guessing -----------------------------------------------------------------------------------------


def test_who_guesses_too_often_is_shut_out_even_with_the_right_password(root, settings, caplog) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    with caplog.at_level(logging.WARNING, logger="axes"):
        answers = [guess(Client(), f"wrong {number}").status_code for number in range(3)]
        last = guess(Client(), "a password that holds")

    assert answers == [200, 200, 429]
    assert last.status_code == 429
    assert caplog.text.count("login failure by") == 4
    assert "wrong" not in caplog.text
    assert "192.0.2.1" in caplog.text


def test_the_others_get_in_meanwhile(root, settings) -> None:
    settings.AXES_FAILURE_LIMIT = 2
    User.objects.create_superuser("second", password="a password that holds")
    for number in range(3):
        guess(Client(), f"wrong {number}")

    assert guess(Client(), "a password that holds", address="192.0.2.2").status_code == 302
    assert guess(Client(), "a password that holds", name="second").status_code == 302


def test_a_few_slips_are_forgotten_once_somebody_is_in(root, settings) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    guess(Client(), "wrong")
    assert guess(Client(), "a password that holds").status_code == 302

    assert not AccessAttempt.objects.exists()


def test_an_operator_can_let_somebody_in_again(root, settings) -> None:
    settings.AXES_FAILURE_LIMIT = 1
    guess(Client(), "wrong")
    reset(username="root")

    assert guess(Client(), "a password that holds").status_code == 302


# ---- Scripts ------------------------------------------------------------------------------------------

PAGES = ["/", "/admin/", "/admin/sites/site/", "/admin/sites/site/add/", "/admin/pipeline/documentstate/"]


def directives(response) -> dict[str, str]:
    policy = response.headers["Content-Security-Policy"]
    return dict(part.strip().partition(" ")[::2] for part in policy.split(";"))


@pytest.mark.parametrize("page", [*PAGES, "/admin/logout-page-that-is-not-there/"])
def test_every_page_allows_only_our_own_scripts(root, page: str) -> None:
    browser = Client()
    browser.force_login(root)
    response = browser.get(page)
    allowed = directives(response)

    assert allowed["script-src"] == "'self'"
    assert allowed["object-src"] == allowed["base-uri"] == allowed["frame-ancestors"] == "'none'"
    html = response.content.decode()
    assert re.findall(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)[^>]*>", html) == []
    assert re.findall(r"\son[a-z]+=\"", html) == []


def test_the_queue_pages_alone_have_scripts_in_them(root) -> None:
    browser = Client()
    browser.force_login(root)

    assert "'unsafe-inline'" in directives(browser.get("/queues/"))["script-src"]


# ---- Keys ---------------------------------------------------------------------------------------------

BAD = [
    "../evil",
    "..",
    ".",
    "",
    "a/b",
    "A.ca",
    "a..b",
    "-a",
    "a-",
    "a.",
    ".a",
    "a b",
    "a\n",
    "ä.ca",
    "a" * 5000,
]


@pytest.mark.parametrize("key", BAD)
def test_a_bad_key_is_refused_by_every_way_in(root, key: str) -> None:
    browser = Client()
    browser.force_login(root)
    sources = {"sources-TOTAL_FORMS": 0, "sources-INITIAL_FORMS": 0}
    by_hand = browser.post("/admin/sites/site/add/", {"subdomain": key, "languages": "eng", **sources})

    assert by_hand.status_code == 200, "the form again"
    with pytest.raises(StageError):
        create(key, [])
    assert not Site.objects.exists()


@pytest.mark.parametrize("key", ["alameda.ca", "a", "co-op.city.ny", "1", "a" * LONGEST])
def test_a_good_key_is_taken(db, key: str) -> None:
    create(key, [])

    assert is_key(key)
    assert Site.objects.get().pk == key


def test_an_old_site_with_a_key_of_its_own_can_still_be_edited(db) -> None:
    site = Site.objects.create(subdomain="Old_Town.CA", name="Old Town")

    site.full_clean()


def test_names_that_are_too_long_do_not_keep_the_other_sites_from_being_checked(make_documents) -> None:
    Site.objects.create(subdomain="a" * 5000)
    for site in (Site.objects.create(subdomain="b.ca"), Site.objects.create(subdomain="c.ca")):
        name = "x" * 300 if site.pk == "b.ca" else "gone"
        (document,) = make_documents(site, ["ok"])
        Document.objects.filter(pk=document.pk).update(path=f"pdfs/Council/{name}.pdf")
    SiteFiles.of("c.ca").root.mkdir(parents=True)

    found = [(finding.check, finding.site_id[:4]) for finding in find()]

    assert found == [(BAD_PATH, "aaaa"), (BAD_PATH, "b.ca"), (MISSING_FILE, "c.ca")]
