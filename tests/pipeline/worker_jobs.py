"""Jobs for the tests of workers: RQ finds a job by its dotted path, so they live in a module of their own."""

import os
import time
from pathlib import Path

from django_rq import get_queue
from rq.job import Job


def note(folder: str, name: str) -> None:
    (Path(folder) / name).write_text(str(os.getpid()))


def sleep_between_notes(folder: str, seconds: float) -> None:
    note(folder, "begun")
    time.sleep(seconds)
    note(folder, "ended")


def note_in_another_queue(folder: str, queue: str) -> None:
    """What a coordinator does: its job is to fill the next queue."""
    get_queue(queue).enqueue(note, folder, "passed on")


def leave_note_of_job(job: Job, *details: object) -> None:
    """Called by no worker of ours: a callback that Redis names."""
    note(job.args[0], "callback")
