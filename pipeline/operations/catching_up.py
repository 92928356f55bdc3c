"""What every pass of reconcile does beside the repair: lost acts on many, older failures, old log lines."""

from pipeline import job_log
from pipeline.operations import bulk
from pipeline.state import groups


def catch_up() -> None:
    bulk.send_lost()
    groups.gather()
    job_log.forget_old()
