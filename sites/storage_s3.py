"""Storage that machines share, on S3-compatible servers; a folder of page texts is one object."""

import hashlib
import os
import shutil
import tarfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from sites.storage import Before

# Under the root, for what we know of the shared copies; no site can be called so.
MEMORY = ".shared"
# A server that hangs must not hold a worker for longer than this; it is asked again later.
PATIENCE = Config(connect_timeout=10, read_timeout=60, retries={"total_max_attempts": 3})
FOLDER = ".tar"


class StorageUnavailable(OSError):
    """The shared storage does not answer, or refuses."""


class UnsafeArchive(Exception):
    """A packed folder holds something that we never put there."""


@dataclass(frozen=True)
class S3Share:
    root: Path
    bucket: str
    prefix: str
    client: Any

    @classmethod
    def of(cls, url: str, root: Path) -> "S3Share":
        """`s3://bucket/prefix?endpoint=https://…&region=…`; boto3 finds the credentials."""
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query))
        client = boto3.client(
            "s3",
            endpoint_url=options.get("endpoint"),
            region_name=options.get("region"),
            config=PATIENCE,
        )
        prefix = f"{parts.path.strip('/')}/" if parts.path.strip("/") else ""
        return cls(root, parts.netloc, prefix, client)

    def pull(self, path: Path) -> None:
        """Bring a file, or a folder that was pushed whole, unless it is here as it is there."""
        for key in (self._key(path), self._key(path) + FOLDER):
            with _told(key):
                tag = self._tag_there(key)
            if tag is not None:
                self._fetch(key, tag, path)

    def pull_all(self, folder: Path) -> None:
        """Bring everything under a folder that is not here as it is there."""
        prefix = f"{self._key(folder)}/"
        with _told(prefix):
            pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
            for found in (found for page in pages for found in page.get("Contents", ())):
                relative = found["Key"].removeprefix(prefix).removesuffix(FOLDER)
                self._fetch(found["Key"], found["ETag"], folder / relative)

    def push(self, path: Path, to: Path | None = None, before: Before | None = None) -> None:
        """Share a file or a folder, under the name `to` if it is not yet where it will be.

        `before` is the last word before others see it: an upload takes long, and may be overtaken.
        """
        key = self._key(to or path)
        if path.is_dir():
            with self._packed(path) as packed:
                self._put(packed, key + FOLDER, before)
        elif path.is_file():
            self._put(path, key, before)

    def remove(self, path: Path) -> None:
        """From what is shared; the copy here is the caller's."""
        for key in (self._key(path), self._key(path) + FOLDER):
            with _told(key):
                self.client.delete_object(Bucket=self.bucket, Key=key)
            self._memory(key).unlink(missing_ok=True)

    def remove_all(self, folder: Path) -> None:
        prefix = f"{self._key(folder)}/"
        with _told(prefix):
            pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
            for found in (found for page in pages for found in page.get("Contents", ())):
                self.client.delete_object(Bucket=self.bucket, Key=found["Key"])
                self._memory(found["Key"]).unlink(missing_ok=True)

    def last_use(self, path: Path) -> int | None:
        """In nanoseconds; None where this is no copy of one thing that is shared."""
        memory = self._memory(self._key(path) + (FOLDER if path.is_dir() else ""))
        return memory.stat().st_atime_ns if memory.is_file() else None

    def evict(self, path: Path) -> int:
        """Remove the copy here, if it is what is shared; how many bytes that freed."""
        is_folder = path.is_dir()
        key = self._key(path) + (FOLDER if is_folder else "")
        memory = self._memory(key)
        with _told(key):
            if not memory.is_file() or memory.read_text() != self._tag_there(key):
                return 0
        if newest_in(path) > memory.stat().st_mtime_ns:  # changed here since, and not pushed yet
            return 0
        freed = size_of(path)
        shutil.rmtree(path) if is_folder else path.unlink()
        memory.unlink(missing_ok=True)
        return freed

    def _put(self, path: Path, key: str, before: Before | None) -> None:
        with _told(key):
            if before is not None:
                return self._put_beside(path, key, before)
            with path.open("rb") as content:
                answer = self.client.put_object(Bucket=self.bucket, Key=key, Body=content)
        self._remember(key, answer["ETag"])

    def _put_beside(self, path: Path, key: str, before: Before) -> None:
        """Under another name, then copied into place: what is left of a race is one request wide."""
        beside = f"{self.prefix}{MEMORY}/{uuid.uuid4().hex}.part"
        try:
            self.client.upload_file(str(path), self.bucket, beside)
            before()
            self.client.copy({"Bucket": self.bucket, "Key": beside}, self.bucket, key)
            self._remember(key, str(self._tag_there(key)))
        finally:
            self.client.delete_object(Bucket=self.bucket, Key=beside)

    def _fetch(self, key: str, tag: str, path: Path) -> None:
        memory = self._memory(key)
        if memory.is_file() and memory.read_text() == tag and path.exists():
            # Its last use. The time of change says when what is here was last what is shared.
            os.utime(memory, ns=(time.time_ns(), memory.stat().st_mtime_ns))
            return
        part = self._scratch()
        try:
            with _told(key):
                self.client.download_file(self.bucket, key, str(part))
            path.parent.mkdir(parents=True, exist_ok=True)
            for log in ("-wal", "-shm", "-journal"):
                # What a killed writer left beside a database belongs to the one that is about to go.
                path.with_name(f"{path.name}{log}").unlink(missing_ok=True)
            _unpack(part, path) if key.endswith(FOLDER) else part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        self._remember(key, tag)

    def _tag_there(self, key: str) -> str | None:
        try:
            return str(self.client.head_object(Bucket=self.bucket, Key=key)["ETag"])
        except ClientError as error:
            if error.response["Error"]["Code"] in ("404", "NoSuchKey", "NotFound"):
                return None
            raise

    @contextmanager
    def _packed(self, folder: Path) -> Iterator[Path]:
        packed = self._scratch()
        try:
            with tarfile.open(packed, "w") as archive:
                for file in sorted(folder.iterdir()):
                    archive.add(file, file.name)
            yield packed
        finally:
            packed.unlink(missing_ok=True)

    def _scratch(self) -> Path:
        (self.root / MEMORY).mkdir(parents=True, exist_ok=True)
        return self.root / MEMORY / f"{uuid.uuid4().hex}.part"

    def _remember(self, key: str, tag: str) -> None:
        part = self._scratch()
        part.write_text(tag)
        part.replace(self._memory(key))

    def _memory(self, key: str) -> Path:
        return self.root / MEMORY / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.tag"

    def _key(self, path: Path) -> str:
        return f"{self.prefix}{path.relative_to(self.root).as_posix()}"


def size_of(path: Path) -> int:
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return sum(file.stat().st_size for file in files)


def newest_in(path: Path) -> int:
    files = [path, *path.rglob("*")] if path.is_dir() else [path]
    return max(file.stat().st_mtime_ns for file in files)


def _unpack(packed: Path, folder: Path) -> None:
    """File by file, each in one step; what the shared folder no longer has goes last."""
    fresh = packed.with_suffix(".folder")
    try:
        _unpack_files(packed, fresh)
        folder.mkdir(parents=True, exist_ok=True)
        names = {file.name for file in fresh.iterdir()}
        for name in names:
            (fresh / name).replace(folder / name)
        for old in folder.iterdir():
            if old.is_file() and old.name not in names:
                old.unlink()
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _unpack_files(packed: Path, fresh: Path) -> None:
    """What we pack are plain files side by side, so nothing else comes out: no path, no link, no device.

    Stricter than `extractall` with its filter, and the same on every Python: 3.11.2 has no filters yet.
    """
    fresh.mkdir()
    with tarfile.open(packed) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isreg() else None
            if content is None or member.name in (".", "..") or Path(member.name).name != member.name:
                raise UnsafeArchive(f"{member.name!r} is not a plain file of the folder {packed.stem}")
            with content, (fresh / member.name).open("xb") as file:
                shutil.copyfileobj(content, file)


@contextmanager
def _told(key: str) -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise StorageUnavailable(f"shared storage, {key}: {error}") from error
