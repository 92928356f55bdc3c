"""Alive, ready, well: answered to probes that know no host name, and without telling strangers why not."""

import io
import json
import logging
from contextlib import suppress

import django_rq
import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.test import Client
from redis.exceptions import ConnectionError as RedisGone
from structlog.testing import capture_logs

from clerk_project.requests import HEADER

STRANGE = {"HTTP_HOST": "10.0.0.7:8000"}


def test_alive_needs_no_database_no_host_and_no_tls(settings, django_assert_num_queries, db) -> None:
    settings.SECURE_SSL_REDIRECT = True

    with django_assert_num_queries(0):
        response = Client().get("/healthz", **STRANGE)

    assert (response.status_code, response.content) == (200, b"ok\n")


@pytest.mark.django_db(transaction=True)
def test_ready_when_every_part_answers() -> None:
    response = Client().get("/readyz", **STRANGE)

    assert response.status_code == 200, response.content
    assert response.json() == {
        "ready": True,
        "checks": {"database": "ok", "redis": "ok", "migrations": "ok", "storage": "ok"},
    }


@pytest.mark.django_db(transaction=True)
def test_not_ready_without_a_database_and_the_reason_stays_in_the_log() -> None:
    def away(*arguments):
        raise OperationalError("could not connect to postgres://clerk:hunter2@db.internal/clerk")

    with connection.execute_wrapper(away), capture_logs() as logged:
        response = Client().get("/readyz")

    assert response.status_code == 503
    assert response.json()["checks"]["database"] == "failed"
    assert "db.internal" not in response.content.decode()
    assert "db.internal" in str(logged)
    assert "hunter2" not in str(logged)


@pytest.mark.django_db(transaction=True)
def test_not_ready_when_storage_cannot_be_written(settings, tmp_path) -> None:
    (tmp_path / "file").touch()
    settings.STORAGE_DIR = tmp_path / "file" / "storage"

    assert Client().get("/readyz").json()["checks"] == {
        "database": "ok",
        "redis": "ok",
        "migrations": "ok",
        "storage": "failed",
    }


@pytest.mark.django_db(transaction=True)
def test_not_ready_without_redis(monkeypatch) -> None:
    redis = django_rq.get_connection("high")

    def refused(*arguments, **options):
        raise RedisGone("connection refused")

    monkeypatch.setattr(type(redis), "execute_command", refused)

    response = Client().get("/readyz")

    assert response.status_code == 503
    assert response.json()["checks"]["redis"] == "failed"


@pytest.mark.django_db(transaction=True)
def test_the_answer_is_remembered_so_that_asking_often_costs_nothing(
    django_assert_num_queries,
) -> None:
    browser = Client()
    browser.get("/readyz")

    with django_assert_num_queries(0):
        assert browser.get("/readyz").status_code == 200


@pytest.mark.django_db
def test_health_as_json_is_what_the_command_says(settings, admin_client, manage_health) -> None:
    answered = admin_client.get("/health.json")
    said = manage_health()

    told = answered.json()
    assert told.pop("version") == settings.CLERK_VERSION
    assert {check["name"]: check["level"] for check in told["checks"]} == {
        check["name"]: check["level"] for check in said["checks"]
    }
    assert (answered.status_code == 503) == (told["level"] == "unhealthy")


@pytest.fixture
def manage_health(capfd):
    def ask() -> dict:
        with suppress(SystemExit):
            call_command("health", "--json")
        return json.loads(capfd.readouterr().out)

    return ask


@pytest.mark.django_db
def test_the_badge_says_how_it_is_and_is_public_only_where_that_is_said(settings, admin_client) -> None:
    shown = admin_client.get("/badge.svg")
    assert shown["Content-Type"] == "image/svg+xml"
    assert b"degraded" in shown.content or b"healthy" in shown.content

    settings.STATUS_BADGE_PUBLIC = True
    assert Client().get("/badge.svg").status_code == 200


# ---- Ids in the log ---------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_request_has_an_id_in_its_answer_and_a_strangers_own_is_not_believed(settings) -> None:
    first, second = (
        Client().get("/admin/login/", headers={HEADER: "chosen-by-a-stranger"}) for _ in range(2)
    )
    assert first[HEADER] != second[HEADER]
    assert "chosen" not in first[HEADER]

    settings.BEHIND_TLS_PROXY = True
    assert Client().get("/admin/login/", headers={HEADER: "from-our-proxy-1"})[HEADER] == "from-our-proxy-1"
    assert Client().get("/admin/login/", headers={HEADER: "two\nlines"})[HEADER] != "two\nlines"


@pytest.mark.django_db
def test_a_line_logged_for_a_request_carries_its_id(settings, admin_user, monkeypatch) -> None:
    [handler] = [each for each in logging.getLogger().handlers if each.formatter and each.name == "stderr"]
    monkeypatch.setattr(handler, "stream", lines := io.StringIO())
    settings.AXES_FAILURE_LIMIT = 1
    guessed = {"username": "admin", "password": "wrong"}

    answer = Client().post("/admin/login/", guessed)

    assert answer[HEADER] in lines.getvalue()
