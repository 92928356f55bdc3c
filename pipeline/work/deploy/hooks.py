"""What follows a deploy: the operator's command, and what packages offer under `clerk.after_deploy`."""

import json
import shlex
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from importlib.metadata import entry_points

from pipeline.work.deploy.command import environment_of, run_command
from pipeline.work.deploy.releases import Published, Release

ENTRY_POINTS = "clerk.after_deploy"
CODE = "after_deploy"
Hook = Callable[[Release, list[Published]], None]


@cache
def offered() -> dict[str, Hook]:
    return {point.name: point.load() for point in entry_points(group=ENTRY_POINTS)}


def run_hooks(command: str, release: Release, published: list[Published]) -> int:
    """The new version serves already. A hook that fails fails the job; its next attempt publishes nothing."""
    if command:
        told = json.dumps([asdict(each) for each in published])
        run_command(
            tuple(shlex.split(command)), {**environment_of(release), "CLERK_PUBLISHED": told}, code=CODE
        )
    for hook in offered().values():
        hook(release, published)
    return bool(command) + len(offered())
