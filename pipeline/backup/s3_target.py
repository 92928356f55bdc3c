"""Back-ups in a bucket of an S3-compatible server."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from pipeline.backup.target import BackupError

PATIENCE = Config(connect_timeout=10, read_timeout=120, retries={"total_max_attempts": 5})
GONE = ("404", "NoSuchKey", "NotFound")


@dataclass(frozen=True)
class S3Target:
    bucket: str
    prefix: str
    client: Any

    @classmethod
    def of(cls, address: str) -> "S3Target":
        """`s3://bucket/prefix?endpoint=https://…&region=…`; boto3 finds the credentials."""
        parts = urlsplit(address)
        options = dict(parse_qsl(parts.query))
        unknown = sorted(set(options) - {"endpoint", "region"})
        if unknown or not parts.netloc:
            raise BackupError(f"{address}: expected s3://bucket/prefix?endpoint=…&region=…")
        prefix = f"{parts.path.strip('/')}/" if parts.path.strip("/") else ""
        client = boto3.client(
            "s3",
            endpoint_url=options.get("endpoint"),
            region_name=options.get("region"),
            config=PATIENCE,
        )
        return cls(parts.netloc, prefix, client)

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}"

    def put(self, name: str, file: Path) -> None:
        with self._told():
            self.client.upload_file(str(file), self.bucket, f"{self.prefix}{name}")

    def get(self, name: str, file: Path) -> None:
        try:
            self.client.download_file(self.bucket, f"{self.prefix}{name}", str(file))
        except ClientError as error:
            if error.response["Error"]["Code"] in GONE:
                raise BackupError(f"{self}: {name} is missing") from error
            raise BackupError(f"{self}: {error}") from error
        except (BotoCoreError, OSError) as error:
            raise BackupError(f"{self}: {error}") from error

    def size_of(self, name: str) -> int | None:
        try:
            with self._told(passing=GONE):
                return int(
                    self.client.head_object(Bucket=self.bucket, Key=f"{self.prefix}{name}")["ContentLength"]
                )
        except ClientError:
            return None

    def names(self, prefix: str) -> Iterator[tuple[str, int]]:
        with self._told():
            pages = self.client.get_paginator("list_objects_v2").paginate(
                Bucket=self.bucket, Prefix=f"{self.prefix}{prefix}"
            )
            for found in (found for page in pages for found in page.get("Contents", ())):
                yield found["Key"].removeprefix(self.prefix), found["Size"]

    def delete(self, name: str) -> None:
        with self._told():
            self.client.delete_object(Bucket=self.bucket, Key=f"{self.prefix}{name}")

    @contextmanager
    def _told(self, passing: tuple[str, ...] = ()) -> Iterator[None]:
        try:
            yield
        except ClientError as error:
            if error.response["Error"]["Code"] in passing:
                raise
            raise BackupError(f"{self}: {error}") from error
        except (BotoCoreError, OSError) as error:
            raise BackupError(f"{self}: {error}") from error
