"""What a back-up holds and costs, and what is said when one cannot be made or used."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings as django_settings

from pipeline.backup import manifest, restoring, taking
from pipeline.backup.objects import FOLDER
from pipeline.backup.restoring import restore
from pipeline.backup.taking import backup, check
from pipeline.backup.target import BackupError, open_target
from sites.models import Document, Site
from sites.storage import SiteFiles
from tests.work.s3_server import KEYS, s3_server

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def target(tmp_path) -> Path:
    return tmp_path / "backups"


@pytest.fixture
def town(make_site, make_documents) -> Site:
    site = make_site("alameda.ca")
    for document in make_documents(site, ["one", "two", "three"]):
        write(site, document.path, os.urandom(100_000))
        for page in (1, 2):
            write(site, f"txt/Council/{Path(document.path).stem}/{page}.txt", f"page {page}".encode())
    return site


def write(site: Site, path: str, content: bytes) -> Path:
    file = SiteFiles.of(site.pk).root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def contents(root: Path) -> dict[str, bytes]:
    hidden = (path for path in root.rglob("*") if path.is_file())
    return {
        str(path.relative_to(root)): path.read_bytes() for path in hidden if not path.name.startswith(".")
    }


def objects_in(target: Path) -> set[Path]:
    return {path for path in (target / FOLDER).rglob("*") if path.is_file()}


def wipe() -> None:
    Site.objects.all().delete()
    shutil.rmtree(django_settings.STORAGE_DIR, ignore_errors=True)


def test_a_second_back_up_takes_only_what_changed_and_the_old_ones_go(town, target):
    first = backup(str(target))
    assert first.new_objects >= 5
    same = backup(str(target))
    assert same.new_objects == 0
    changed = write(town, "pdfs/Council/1.pdf", os.urandom(100_000))

    second = backup(str(target), keep=2)

    # The file, its site's listing, and nothing else.
    assert second.new_objects == 2
    assert second.new_bytes < 2 * changed.stat().st_size
    assert second.dropped == (first.manifest.name,)
    third = backup(str(target), keep=1)
    assert (len(third.dropped), third.freed) == (2, 2)
    assert check(str(target)).name == third.manifest.name


@pytest.mark.both_databases
def test_it_is_of_one_moment_whatever_is_written_meanwhile(town, target, make_documents):
    """Jobs go on while it is taken. On SQLite they would wait for a lock if the back-up held one."""
    before = contents(Path(django_settings.STORAGE_DIR))
    came: list[Path] = []

    def a_job_finishes(said: str) -> None:
        if not came:
            late = make_documents(Site.objects.create(subdomain="late.il"), ["late"])
            late += [Document(site=town, external_id="new", meeting="Council", path="pdfs/Council/9.pdf")]
            late[-1].save()
            came.extend(write(document.site, document.path, b"late") for document in late)

    backup(str(target), say=a_job_finishes)
    assert len(came) == 2
    wipe()
    restore(str(target))

    assert set(Site.objects.values_list("pk", flat=True)) == {"alameda.ca"}
    assert Document.objects.count() == 3
    assert contents(Path(django_settings.STORAGE_DIR)) == before


@pytest.mark.both_databases
def test_into_what_is_not_empty_only_when_told_and_nothing_is_lost(town, target, make_site):
    backup(str(target))
    was = contents(Path(django_settings.STORAGE_DIR))
    make_site("newer.ca")
    write(town, "pdfs/Council/0.pdf", b"newer")

    with pytest.raises(BackupError, match=r"not empty: 2 sites, 3 documents, 0 people.*--replace"):
        restore(str(target))
    assert Site.objects.count() == 2
    done = restore(str(target), replace=True)

    assert list(Site.objects.values_list("pk", flat=True)) == ["alameda.ca"]
    root = Path(django_settings.STORAGE_DIR)
    assert {name: text for name, text in contents(root).items() if not name.startswith(".")} == was
    assert (Path(done.set_aside[0]) / "alameda.ca/pdfs/Council/0.pdf").read_bytes() == b"newer"


def test_a_restore_that_was_cut_off_goes_on(town, target, monkeypatch):
    backup(str(target))
    was = contents(Path(django_settings.STORAGE_DIR))
    wipe()

    def cut_off(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(restoring, "_load", cut_off)
        with pytest.raises(KeyboardInterrupt):
            restore(str(target))
    assert not Site.objects.exists()
    done = restore(str(target))

    assert done.brought == 0
    assert Site.objects.count() == 1
    assert contents(Path(django_settings.STORAGE_DIR)) == was


def test_a_half_written_back_up_is_none(town, target, monkeypatch):
    def cut_off(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(manifest, "write", cut_off)
        with pytest.raises(KeyboardInterrupt):
            backup(str(target))

    with pytest.raises(BackupError, match="one was begun and did not end"):
        restore(str(target), replace=True)
    assert backup(str(target)).manifest.files == 9


def test_damage_is_found_named_and_written_anew(town, target):
    taken = backup(str(target))
    largest = max(objects_in(target), key=lambda path: path.stat().st_size)
    largest.write_bytes(b"x" * largest.stat().st_size)

    with pytest.raises(BackupError, match=r"1 objects of .* were damaged"):
        check(str(target))
    with pytest.raises(BackupError, match="not whole, 1 objects are missing"):
        restore(str(target), replace=True)
    assert Site.objects.count() == 1
    assert backup(str(target)).new_objects == 1
    assert check(str(target), taken.manifest.name).files == 9


def test_what_another_version_made_is_refused(town, target):
    name = backup(str(target)).manifest.name
    file = target / "snapshots" / f"{name}.json"
    told = json.loads(file.read_text())

    file.write_text(json.dumps(told | {"migrations": [*told["migrations"], ["sites", "9999_new"]]}))
    with pytest.raises(BackupError, match=r"another version of Clerk: sites\.9999_new is not known here"):
        restore(str(target), replace=True)
    file.write_text(json.dumps(told | {"format": 2}))
    with pytest.raises(BackupError, match="has the format 2"):
        restore(str(target), replace=True)


def test_a_folder_of_somebody_else_s_is_left_alone(town, tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_text("cat")

    with pytest.raises(BackupError, match="something else in it"):
        backup(str(tmp_path / "photos"))
    with pytest.raises(BackupError, match="no finished back-up there; is it mounted"):
        restore(str(tmp_path / "nothing"))
    with pytest.raises(BackupError, match="expected a folder or s3"):
        open_target("ftp://example.org/x")


def test_it_says_what_was_set_and_no_secret(town, target, monkeypatch):
    secret = "a-password-that-nobody-may-read"
    monkeypatch.setenv("DATABASE_URL", f"postgres://clerk:{secret}@db.example.org/clerk")
    monkeypatch.setenv("SECRET_KEY", secret * 2)
    monkeypatch.setenv("MAX_ATTEMPTS", "5")

    said = backup(str(target)).manifest.settings

    assert said["MAX_ATTEMPTS"] == "5"
    assert said["DATABASE_URL"] == "postgres://***@db.example.org/clerk"
    assert said["SECRET_KEY"] == "***"
    assert not any(secret.encode() in path.read_bytes() for path in target.rglob("*") if path.is_file())
    assert all(path.stat().st_mode & 0o077 == 0 for path in target.rglob("*") if path.is_file())


def test_into_a_bucket_and_back(town, tmp_path, monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    was = contents(Path(django_settings.STORAGE_DIR))
    with s3_server("backups") as endpoint:
        address = f"s3://backups/clerk?endpoint={endpoint}"
        backup(address)
        assert backup(address, keep=1).new_objects == 0
        wipe()
        restore(address)

    assert Document.objects.count() == 3
    assert contents(Path(django_settings.STORAGE_DIR)) == was


def test_files_that_are_only_listed_are_not_copied(town, target):
    taken = backup(str(target), with_files=False)

    assert taken.manifest.files == 9
    assert sum(path.stat().st_size for path in objects_in(target)) < 50_000
    Site.objects.all().delete()
    restore(str(target))
    assert Document.objects.count() == 3


FULL_DISK = """
set -e
mount -t tmpfs -o size=400k tmpfs "$1"
"$2" manage.py backup "$1/backups"
"""


def test_a_full_disk_is_said_in_words(tmp_path):
    """On a file system of 400 kB, in a namespace where it may be mounted."""
    small, files = tmp_path / "small", tmp_path / "storage" / "alameda.ca" / "pdfs"
    small.mkdir()
    files.mkdir(parents=True)
    (files / "large.pdf").write_bytes(os.urandom(1_000_000))
    environ = {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{tmp_path / 'clerk.sqlite3'}",
        "STORAGE_DIR": str(tmp_path / "storage"),
        "DEPLOY_DIR": str(tmp_path / "deployed"),
        "DEBUG": "1",
    }
    words = ["unshare", "--mount", "--map-root-user", "sh", "-c", FULL_DISK, "sh", str(small), sys.executable]
    try:
        done = subprocess.run(
            words, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=60, check=False
        )
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip("no file system can be mounted here")

    assert done.returncode == 2, done.stderr
    assert "no room left. What was there before is untouched" in done.stderr


def test_a_dry_run_writes_nothing(town, target):
    planned = taking.plan()

    assert (planned.files, planned.folders) == (9, 2)
    assert not target.exists()
    backup(str(target))
    with pytest.raises(BackupError, match="not empty"):
        restoring.look(str(target))
    assert restoring.look(str(target), replace=True).files == 9
    assert Site.objects.count() == 1
