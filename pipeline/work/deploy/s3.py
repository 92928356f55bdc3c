"""Publishes to S3-compatible storage: each version under its own key, the served one copied in one step."""

import json
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from pipeline.errors import TargetError
from pipeline.work.deploy import releases
from pipeline.work.deploy.releases import Published, Release
from pipeline.work.deploy.withdrawal import documents_in, version_without, withdraw_documents

CONTENT_TYPE = "application/vnd.sqlite3"
# A server that hangs must not hold a worker for longer than this; it is asked again later.
PATIENCE = Config(connect_timeout=10, read_timeout=60, retries={"total_max_attempts": 3})


@dataclass(frozen=True)
class S3Target:
    """`{prefix}{site}.db` is served; `{prefix}{site}/versions/{version}.db` are kept."""

    bucket: str
    prefix: str
    client: Any
    keep: int = releases.DEFAULT_KEEP

    @classmethod
    def of(cls, url: str) -> "S3Target":
        """`s3://bucket/prefix?endpoint=https://…&region=…&keep=5`; boto3 finds the credentials."""
        parts, options = urlsplit(url), releases.options_of(url, "endpoint", "region", "keep")
        prefix = f"{parts.path.strip('/')}/" if parts.path.strip("/") else ""
        client = boto3.client(
            "s3",
            endpoint_url=options.get("endpoint"),
            region_name=options.get("region"),
            config=PATIENCE,
        )
        return cls(parts.netloc, prefix, client, releases.keep_of(options))

    def publish(self, release: Release) -> Published:
        key = self._kept(release.site, release.version)
        with _as_source_errors(f"s3://{self.bucket}/{key}"):
            if self._version_at(key) is None:
                extra = {"ContentType": CONTENT_TYPE, "Metadata": {"version": release.version}}
                self.client.upload_file(str(release.database), self.bucket, key, ExtraArgs=extra)
            about = json.dumps(release.metadata, ensure_ascii=False).encode()
            self._put(f"{self.prefix}{release.site}/metadata.json", about)
        # Not in one step with the copy, as there is no lock; what is left of the race is one request wide.
        releases.refuse_late(release, self.versions(release.site))
        published = self.switch(release.site, release.version)
        self._prune(release.site)
        return published

    def versions(self, site: str) -> list[str]:
        prefix = f"{self.prefix}{site}/versions/"
        with _as_source_errors(f"s3://{self.bucket}/{prefix}"):
            pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
            keys = [found["Key"] for page in pages for found in page.get("Contents", ())]
        return sorted(key.removeprefix(prefix).removesuffix(".db") for key in keys)

    def current(self, site: str) -> str | None:
        with _as_source_errors(f"s3://{self.bucket}/{self._served(site)}"):
            return self._version_at(self._served(site))

    def switch(self, site: str, version: str) -> Published:
        kept, served = self._kept(site, version), self._served(site)
        with _as_source_errors(f"s3://{self.bucket}/{served}"):
            if self._version_at(kept) is None:
                raise releases.unknown_version(site, version)
            previous = self._version_at(served)
            if previous != version:
                # The object changes as a whole or not at all, even when it is copied in parts.
                self.client.copy({"Bucket": self.bucket, "Key": kept}, self.bucket, served)
        return Published(f"s3://{self.bucket}/{served}", version, previous, changed=previous != version)

    def withdraw(self, site: str, document_ids: Collection[str]) -> None:
        """Serve the current version without these, and keep no version that holds one of them."""
        current = self.current(site)
        for version in self.versions(site):
            with tempfile.TemporaryDirectory() as folder, _as_source_errors(self._kept(site, version)):
                copy = Path(folder) / "copy.db"
                self.client.download_file(self.bucket, self._kept(site, version), str(copy))
                if not documents_in(copy, document_ids):
                    continue
                if version == current:
                    self._serve_without(site, version, copy, document_ids)
                self.client.delete_object(Bucket=self.bucket, Key=self._kept(site, version))

    def _serve_without(self, site: str, version: str, copy: Path, document_ids: Collection[str]) -> None:
        withdraw_documents(copy, document_ids)
        fresh = version_without(version, document_ids)
        extra = {"ContentType": CONTENT_TYPE, "Metadata": {"version": fresh}}
        self.client.upload_file(str(copy), self.bucket, self._kept(site, fresh), ExtraArgs=extra)
        # A deploy that came meanwhile has left them out itself.
        if self.current(site) == version:
            self.switch(site, fresh)

    def withdraw_site(self, site: str) -> None:
        """Nothing of the site is served or kept."""
        with _as_source_errors(self._served(site)):
            gone = [self._served(site), f"{self.prefix}{site}/metadata.json"]
            for key in (*gone, *(self._kept(site, version) for version in self.versions(site))):
                self.client.delete_object(Bucket=self.bucket, Key=key)

    def _version_at(self, key: str) -> str | None:
        try:
            found = self.client.head_object(Bucket=self.bucket, Key=key)
        except ClientError as error:
            if error.response["Error"]["Code"] in ("404", "NoSuchKey", "NotFound"):
                return None
            raise
        return str(found["Metadata"].get("version", ""))

    def _put(self, key: str, content: bytes) -> None:
        self.client.put_object(Bucket=self.bucket, Key=key, Body=content, ContentType="application/json")

    def _kept(self, site: str, version: str) -> str:
        return f"{self.prefix}{site}/versions/{version}.db"

    def _served(self, site: str) -> str:
        return f"{self.prefix}{site}.db"

    def _prune(self, site: str) -> None:
        for version in releases.to_prune(self.versions(site), self.current(site), self.keep):
            with _as_source_errors(self.bucket):
                self.client.delete_object(Bucket=self.bucket, Key=self._kept(site, version))


@contextmanager
def _as_source_errors(where: str) -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise TargetError(f"{where}: {error}", code="deploy_s3") from error
