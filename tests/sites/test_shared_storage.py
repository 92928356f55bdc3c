"""Storage that machines share: what one pushes the others get, whole, and nothing is fetched twice."""

import tarfile
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from pipeline.errors import Fenced
from sites import storage
from sites.storage_s3 import S3Share, StorageUnavailable, UnsafeArchive
from tests.work.s3_server import KEYS, s3_server


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with s3_server("shared") as url:
        yield url


@pytest.fixture
def machines(endpoint: str, tmp_path: Path, monkeypatch) -> tuple[S3Share, S3Share]:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    url = f"s3://shared/{tmp_path.name}?endpoint={endpoint}"
    return S3Share.of(url, tmp_path / "one"), S3Share.of(url, tmp_path / "two")


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_file_that_one_machine_pushes_the_other_pulls(machines) -> None:
    one, two = machines
    one.push(write(one.root / "a.ca" / "pdfs" / "x.pdf", "%PDF"))

    two.pull(two.root / "a.ca" / "pdfs" / "x.pdf")

    assert (two.root / "a.ca" / "pdfs" / "x.pdf").read_text() == "%PDF"


def test_a_folder_of_pages_travels_as_one_and_loses_what_it_lost(machines) -> None:
    one, two = machines
    folder = Path("a.ca", "txt", "Council", "2024-01-15")
    for number in (1, 2, 3):
        write(one.root / folder / f"{number}.txt", f"page {number}")
    one.push(one.root / folder)
    two.pull(two.root / folder)
    (one.root / folder / "3.txt").unlink()
    write(one.root / folder / "1.txt", "page 1, read again")
    one.push(one.root / folder)

    two.pull_all(two.root / "a.ca" / "txt")

    pages = {path.name: path.read_text() for path in (two.root / folder).iterdir()}
    assert pages == {"1.txt": "page 1, read again", "2.txt": "page 2"}


def test_what_is_here_as_it_is_there_is_not_fetched_again(machines, monkeypatch) -> None:
    one, two = machines
    one.push(write(one.root / "a.ca" / "facts" / "x.json", "{}"))
    two.pull_all(two.root / "a.ca" / "facts")
    fetched = []
    monkeypatch.setattr(two.client, "download_file", lambda *names: fetched.append(names))

    two.pull_all(two.root / "a.ca" / "facts")
    two.pull(two.root / "a.ca" / "facts" / "x.json")
    one.pull(one.root / "a.ca" / "facts" / "x.json")

    assert fetched == []


def test_a_file_may_be_pushed_under_the_name_it_will_have(machines) -> None:
    one, two = machines
    one.push(write(one.root / "a.ca" / ".tmp" / "part", "new"), to=one.root / "a.ca" / "pdfs" / "x.pdf")

    two.pull(two.root / "a.ca" / "pdfs" / "x.pdf")

    assert (two.root / "a.ca" / "pdfs" / "x.pdf").read_text() == "new"


def test_an_upload_that_was_overtaken_takes_no_place_and_leaves_nothing(machines) -> None:
    one, two = machines
    database = write(one.root / "a.ca" / "meetings.db", "newer")
    one.push(database)

    def overtaken() -> None:
        raise Fenced("taken over")

    with pytest.raises(Fenced):
        one.push(write(one.root / "a.ca" / ".tmp" / "push.db", "older"), to=database, before=overtaken)

    two.pull_all(two.root / "a.ca")
    assert (two.root / "a.ca" / "meetings.db").read_text() == "newer"
    left = one.client.list_objects_v2(Bucket="shared", Prefix=one.prefix)["Contents"]
    assert [each["Key"] for each in left] == [f"{one.prefix}a.ca/meetings.db"]


def test_what_nobody_pushed_is_left_as_it_is(machines) -> None:
    one, _ = machines
    mine = write(one.root / "a.ca" / "pdfs" / "mine.pdf", "mine")

    one.pull(mine)
    one.pull(one.root / "a.ca" / "pdfs" / "nobody.pdf")

    assert mine.read_text() == "mine"
    assert not (one.root / "a.ca" / "pdfs" / "nobody.pdf").exists()


def test_a_log_beside_a_database_goes_with_the_database_it_belonged_to(machines) -> None:
    one, two = machines
    one.push(write(one.root / "a.ca" / "meetings.db", "new"))
    write(two.root / "a.ca" / "meetings.db-wal", "left by a killed writer")

    two.pull(two.root / "a.ca" / "meetings.db")

    assert not (two.root / "a.ca" / "meetings.db-wal").exists()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, 0o777
    return info


@pytest.mark.parametrize(
    "members",
    [
        [member("../../../escaped.txt")],
        [member("/escaped.txt")],
        [member("..")],
        [member("pages/../../../../escaped.txt")],
        [member("door", tarfile.SYMTYPE, "../../.."), member("door/escaped.txt")],
        [member("1.txt", tarfile.SYMTYPE, "/etc/passwd")],
        [member("1.txt", tarfile.LNKTYPE, "../../../bait")],
        [member("pipe", tarfile.FIFOTYPE)],
        [member("device", tarfile.CHRTYPE)],
        [member("folder", tarfile.DIRTYPE)],
    ],
    ids=lambda members: f"{members[0].name} {members[0].type.decode()}",
)
def test_only_plain_files_of_the_folder_are_unpacked(
    machines, tmp_path: Path, endpoint: str, members: list[tarfile.TarInfo]
) -> None:
    one, _ = machines
    write(tmp_path / "bait", "x")
    evil = tmp_path / "evil.tar"
    with tarfile.open(evil, "w") as archive:
        for info in members:
            archive.addfile(info)
    boto3.client("s3", endpoint_url=endpoint).upload_file(
        str(evil), "shared", f"{tmp_path.name}/a.ca/txt/x.tar"
    )
    before = {path for path in tmp_path.rglob("*") if path.is_file()}

    with pytest.raises(UnsafeArchive):
        one.pull(one.root / "a.ca" / "txt" / "x")

    assert {path for path in tmp_path.rglob("*") if path.is_file()} == before
    assert not Path("/escaped.txt").exists()


def test_a_file_is_unpacked_with_the_mode_that_new_files_have_here(machines, tmp_path: Path) -> None:
    one, two = machines
    page = write(one.root / "a.ca" / "txt" / "x" / "1.txt", "page 1")
    page.chmod(0o4777)
    one.push(page.parent)

    two.pull(two.root / "a.ca" / "txt" / "x")

    unpacked = two.root / "a.ca" / "txt" / "x" / "1.txt"
    assert unpacked.stat().st_mode == write(tmp_path / "plain", "x").stat().st_mode


def test_storage_that_is_away_says_so(tmp_path: Path, monkeypatch) -> None:
    for name, value in (KEYS | {"AWS_MAX_ATTEMPTS": "1"}).items():
        monkeypatch.setenv(name, value)
    share = S3Share.of("s3://shared?endpoint=http://127.0.0.1:9", tmp_path)

    with pytest.raises(StorageUnavailable, match="shared storage"):
        share.pull(tmp_path / "a.ca" / "x")


def test_without_a_url_the_folder_is_all_there_is(settings, tmp_path: Path) -> None:
    settings.STORAGE_URL, settings.STORAGE_DIR = "", tmp_path
    storage.share().push(tmp_path / "x")
    storage.share().pull(tmp_path / "x")

    assert isinstance(storage.share(), storage.OneMachine)
