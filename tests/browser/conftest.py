"""A real browser on a real server; the test itself is the worker."""

import importlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import Group, User
from playwright.sync_api import Browser, Page, expect, sync_playwright

roles = importlib.import_module("pipeline.migrations.0004_roles")
later_roles = importlib.import_module("pipeline.migrations.0013_their_roles")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PASSWORD = "a good password"
# Where the screenshots go that somebody wants to look at; nowhere by default.
SHOTS = os.environ.get("SCREENSHOTS", "")
# A slow machine is no failure.
PATIENCE_MS = 20_000
expect.set_options(timeout=PATIENCE_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser/" in item.nodeid:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        pytest.skip("there is no Chromium on this machine; `make browser` installs one")
    # Playwright keeps an event loop in this thread, where Django would refuse to use the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=arguments)
        yield launched
        launched.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def open_page(browser, live_server) -> Iterator[Callable[..., Page]]:
    """A window of its own; errors that its scripts raise fail the test."""
    contexts = []
    errors: list[str] = []

    def open_(width: int = 1280, height: int = 900, scheme: str = "light") -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            base_url=live_server.url,
            reduced_motion="reduce",
        )
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        return page

    yield open_
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture
def people(transactional_db) -> dict[str, User]:
    """One of each group."""
    roles.create(apps, None)
    later_roles.create(apps, None)
    made = {}
    for name in ("operator", "viewer"):
        made[name] = User.objects.create_user(name, password=PASSWORD, is_staff=True)
        made[name].groups.add(Group.objects.get(name=name))
    return made


def log_in(page: Page, name: str) -> None:
    page.goto("/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("heading", name="Dashboard").wait_for()


def shoot(page: Page, name: str) -> None:
    if SHOTS:
        folder = settings.BASE_DIR / Path(SHOTS)
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / f"{name}.png", full_page=True)
