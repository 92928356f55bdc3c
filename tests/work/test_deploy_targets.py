"""Every target swaps whole versions, keeps earlier ones where it can, and tells what went wrong."""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import boto3
import pytest

from pipeline.errors import Fenced, SourceError, StageError
from pipeline.work.deploy import Release, publish, run_hooks, target_for
from tests.work.s3_server import KEYS, s3_server

SITE = "alameda.ca"


@pytest.fixture
def make_release(tmp_path: Path):
    def make(version: str) -> Release:
        path = tmp_path / f"{version}.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS pages (version)")
            connection.execute("INSERT INTO pages VALUES (?)", (version,))
            connection.commit()
        return Release(SITE, version, path, {"title": version})

    return make


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with s3_server("records") as url:
        yield url


@pytest.fixture
def s3(endpoint: str, monkeypatch, tmp_path: Path) -> str:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    return f"s3://records/{tmp_path.name}?endpoint={endpoint}&keep=3"


@pytest.fixture(params=["directory", "s3"])
def url(request, tmp_path: Path) -> str:
    if request.param == "directory":
        return f"directory://{tmp_path}/served?keep=3"
    return str(request.getfixturevalue("s3"))


def test_the_newest_release_is_served_and_earlier_ones_are_kept(url: str, make_release) -> None:
    target = target_for(url)
    for number in range(1, 6):
        target.publish(make_release(f"2024010{number}T000000Z-v{number}"))

    assert target.current(SITE) == "20240105T000000Z-v5"
    assert target.versions(SITE) == [f"2024010{number}T000000Z-v{number}" for number in (3, 4, 5)]


def test_going_back_serves_the_earlier_version_and_forgets_none(url: str, make_release) -> None:
    target = target_for(url)
    first, second = (make_release(f"2024010{number}T000000Z-v{number}") for number in (1, 2))
    target.publish(first)
    target.publish(second)

    back = target.switch(SITE, first.version)

    assert (back.previous, back.changed, target.current(SITE)) == (second.version, True, first.version)
    assert target.versions(SITE) == [first.version, second.version]


def test_a_job_that_was_fenced_off_publishes_to_no_target(url: str, make_release) -> None:
    def fenced() -> None:
        raise Fenced("taken over")

    with pytest.raises(Fenced):
        publish(make_release("20240101T000000Z-v1"), [url], fenced)

    assert target_for(url).versions(SITE) == []


def test_a_late_job_of_an_older_run_does_not_take_the_place_of_a_newer_one(url: str, make_release) -> None:
    target = target_for(url)
    target.publish(make_release("20240102T000000Z-v2"))

    with pytest.raises(StageError) as caught:
        target.publish(make_release("20240101T000000Z-v1"))

    assert caught.value.code == "deploy_late"
    assert target.current(SITE) == "20240102T000000Z-v2"


def test_neither_going_back_nor_a_wrong_clock_stands_in_the_way_of_the_next_run(
    url: str, make_release
) -> None:
    target = target_for(url)
    target.publish(make_release("20240101T000000Z-v1"))
    target.publish(make_release("29990101T000000Z-v2"))
    target.switch(SITE, "20240101T000000Z-v1")

    target.publish(make_release("20240103T000000Z-v3"))

    assert target.current(SITE) == "20240103T000000Z-v3"


def test_publishing_the_same_version_again_changes_nothing(url: str, make_release) -> None:
    target = target_for(url)
    release = make_release("20240101T000000Z-v1")

    assert [target.publish(release).changed for _ in range(2)] == [True, False]


def test_content_that_is_served_already_is_not_published_again(url: str, make_release) -> None:
    publish(make_release("20240101T000000Z-same"), [url])

    [again] = publish(make_release("20240201T000000Z-same"), [url])

    assert (again.version, again.changed) == ("20240101T000000Z-same", False)
    assert target_for(url).versions(SITE) == ["20240101T000000Z-same"]


def test_a_version_that_is_not_kept_is_refused_and_the_old_one_serves_on(url: str, make_release) -> None:
    target = target_for(url)
    target.publish(make_release("20240101T000000Z-v1"))

    with pytest.raises(StageError, match="no kept version"):
        target.switch(SITE, "20200101T000000Z-gone")
    assert target.current(SITE) == "20240101T000000Z-v1"


def test_what_is_on_s3_is_the_database(s3: str, endpoint: str, make_release, tmp_path: Path) -> None:
    target_for(s3).publish(make_release("20240101T000000Z-v1"))

    boto3.client("s3", endpoint_url=endpoint).download_file(
        "records", f"{tmp_path.name}/{SITE}.db", str(tmp_path / "got.db")
    )
    with closing(sqlite3.connect(tmp_path / "got.db")) as connection:
        assert connection.execute("SELECT version FROM pages").fetchall() == [("20240101T000000Z-v1",)]


def test_a_server_that_is_away_is_worth_another_attempt(make_release, monkeypatch) -> None:
    for name, value in (KEYS | {"AWS_MAX_ATTEMPTS": "1"}).items():
        monkeypatch.setenv(name, value)

    with pytest.raises(SourceError) as caught:
        target_for("s3://records?endpoint=http://127.0.0.1:9").publish(make_release("20240101T000000Z-v1"))
    assert (caught.value.code, caught.value.retryable) == ("deploy_s3", True)


def test_a_failing_second_target_leaves_the_first_as_it_is_on_the_next_attempt(
    tmp_path: Path, make_release
) -> None:
    good, bad = f"directory://{tmp_path}/served", f"command:{sys.executable} -c 'raise SystemExit(3)'"
    release = make_release("20240101T000000Z-v1")

    with pytest.raises(SourceError, match="ended with 3"):
        publish(release, [good, bad])
    with pytest.raises(SourceError):
        publish(release, [good, bad])
    assert target_for(good).versions(SITE) == [release.version]


def test_a_command_gets_the_database_and_what_it_is(tmp_path: Path, make_release) -> None:
    script = tmp_path / "publish.py"
    script.write_text(
        "import os, shutil; shutil.copy(os.environ['CLERK_DATABASE'], "
        f"'{tmp_path}/' + os.environ['CLERK_SITE'] + os.environ['CLERK_VERSION'])"
    )

    target_for(f"command:{sys.executable} {script}").publish(make_release("20240101T000000Z-v1"))

    assert (tmp_path / "alameda.ca20240101T000000Z-v1").is_file()


def test_a_command_that_is_not_there_is_a_mistake_nobody_should_repeat(make_release) -> None:
    with pytest.raises(StageError, match="No such file"):
        target_for("command:/no/such/thing").publish(make_release("20240101T000000Z-v1"))


@pytest.mark.parametrize(
    "url", ["ftp://example", "command:", "directory:///x?keep=0", "directory:///x?kep=3"]
)
def test_a_mistake_in_a_target_is_named(url: str) -> None:
    with pytest.raises(StageError):
        target_for(url)


def test_a_hook_that_fails_is_an_error_although_the_version_serves(tmp_path: Path, make_release) -> None:
    release = make_release("20240101T000000Z-v1")
    published = publish(release, [f"directory://{tmp_path}/served"])

    with pytest.raises(SourceError) as caught:
        run_hooks(f"{sys.executable} -c 'raise SystemExit(\"cache not purged\")'", release, published)
    assert caught.value.code == "after_deploy"
    assert "cache not purged" in str(caught.value)


def test_a_hook_is_told_what_was_published(tmp_path: Path, make_release) -> None:
    release = make_release("20240101T000000Z-v1")
    published = publish(release, [f"directory://{tmp_path}/served"])
    script = tmp_path / "hook.py"
    script.write_text(
        "import json, os, pathlib;"
        f"pathlib.Path('{tmp_path}/told').write_text(json.loads(os.environ['CLERK_PUBLISHED'])[0]['location'])"
    )

    assert run_hooks(f"{sys.executable} {script}", release, published) == 1
    assert (tmp_path / "told").read_text() == str(tmp_path / "served" / "alameda.ca.db")
