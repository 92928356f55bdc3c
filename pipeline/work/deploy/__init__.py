"""Puts a site's records before readers: text and facts in one database, published whole or not at all."""

from pipeline.work.deploy.assembly import Assembled, FactsFile, assemble
from pipeline.work.deploy.hooks import run_hooks
from pipeline.work.deploy.metadata import datasette_metadata
from pipeline.work.deploy.releases import Published, Release, version_of
from pipeline.work.deploy.targets import Target, publish, target_for

__all__ = [
    "Assembled",
    "FactsFile",
    "Published",
    "Release",
    "Target",
    "assemble",
    "datasette_metadata",
    "publish",
    "run_hooks",
    "target_for",
    "version_of",
]
