"""Jobs for the tests of workers: RQ finds a job by its dotted path, so they live in a module of their own."""

import os
import signal
import threading
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


def kill_myself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_soon() -> None:
    """After the job is done, when nothing is in hand."""
    if os.fork() == 0:
        parent = os.getppid()
        time.sleep(0.2)
        os.kill(parent, signal.SIGKILL)
        os._exit(0)


_kept: list[bytearray] = []


def take_memory() -> None:
    _kept.append(bytearray(os.urandom(1024)) * 400 * 1024)


def leave_a_thread() -> None:
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()


def leave_a_child_and_die(folder: str) -> None:
    """The child is in a group of its own, as the reader of a document is, and inherits what is open."""
    child = os.fork()
    if child == 0:
        os.setsid()
        time.sleep(600)
        os._exit(0)
    (Path(folder) / "left").write_text(str(child))
    os.kill(os.getpid(), signal.SIGKILL)
