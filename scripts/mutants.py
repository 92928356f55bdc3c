"""Takes one guard after another out of the rooms of state, and sees whether the tests notice.

Each mutant is a text that stands once in a file, what it becomes, and the tests that hold it. It is made in a
throw-away copy, on the services that `make mutants` starts. A mutant that survives is a guard nobody holds.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENOUGH = 0.95
SECONDS = 180
LEFT_OUT = (".git", ".venv", "var", "staticfiles", "__pycache__", ".*_cache", ".hypothesis")
STATE, RECONCILE = "pipeline/state", "pipeline/reconcile"
GUARDS, PROTOCOL, FLOW = (f"tests/pipeline/test_{name}.py" for name in ("guards", "protocol", "flow"))
REPAIRS, ACTS = "tests/pipeline/test_reconcile.py", "tests/pipeline/test_interventions.py"


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    old: str
    new: str
    tests: str
    only: str = ""


MUTANTS = (
    Mutant(
        "a job claims under any sequence",
        f"{STATE}/ledger.py",
        "Q(status__in=Status.WAITING, enqueue_seq=seq)",
        "Q(status__in=Status.WAITING)",
        PROTOCOL,
        "late_duplicate or delivered_twice",
    ),
    Mutant(
        "a job claims in a run that is not the site's",
        f"{STATE}/ledger.py",
        "filter(free, Exists(current), pk=row_id)",
        "filter(free, pk=row_id)",
        f"{PROTOCOL} {FLOW}",
        "run_one or paused_site or fences_off",
    ),
    Mutant(
        "the same delivery claims twice",
        f"{STATE}/ledger.py",
        "delivery__lt=delivery",
        "delivery__lte=delivery",
        PROTOCOL,
        "delivered",
    ),
    Mutant(
        "any attempt finishes the row",
        f"{STATE}/guards.py",
        "only_if(run_id=run_id, attempt_token=token, status=Status.IN_PROGRESS)",
        "only_if(run_id=run_id, status=Status.IN_PROGRESS)",
        PROTOCOL,
        "takes_over or delivered",
    ),
    Mutant(
        "a row that is not in progress is finished",
        f"{STATE}/guards.py",
        "attempt_token=token, status=Status.IN_PROGRESS)",
        "attempt_token=token)",
        PROTOCOL,
        "row_in_progress",
    ),
    Mutant(
        "a job counts into another run",
        f"{STATE}/guards.py",
        "only_if(run_id=run_id, current_stage=",
        "only_if(current_stage=",
        PROTOCOL,
        "rolls_back_whole",
    ),
    Mutant(
        "a job counts in another stage",
        f"{STATE}/guards.py",
        "only_if(run_id=run_id, current_stage=current_stage_of(wave_of(stage)))",
        "only_if(run_id=run_id)",
        PROTOCOL,
        "rolls_back_whole",
    ),
    Mutant(
        "the coordinator is claimed twice",
        f"{STATE}/ledger.py",
        "only_if(CURRENT_WAVE_COUNTED, run_id=run_id, coordinator_enqueued=False)",
        "only_if(CURRENT_WAVE_COUNTED, run_id=run_id)",
        PROTOCOL,
        "claim_at_once or one_coordinator",
    ),
    Mutant(
        "the coordinator is claimed before all is counted",
        f"{STATE}/ledger.py",
        "only_if(CURRENT_WAVE_COUNTED, run_id=run_id, coordinator_enqueued=False)",
        "only_if(run_id=run_id, coordinator_enqueued=False)",
        PROTOCOL,
        "hundred_jobs or backoff",
    ),
    Mutant(
        "a fenced finish is not rolled back",
        f"{STATE}/ledger.py",
        "        raise Fenced(_gone(attempt))",
        "        return",
        PROTOCOL,
        "rolls_back_whole",
    ),
    Mutant(
        "the site is counted before the ledger",
        f"{STATE}/ledger.py",
        "        _close(attempt, status=Status.FAILED_TERMINAL, error_code=failure.code, "
        'error_message=failure.message)\n        _count(attempt, **one_more(attempt.stage, "failed"), '
        "**last_error(attempt.stage, failure.message))\n",
        '        _count(attempt, **one_more(attempt.stage, "failed"), '
        "**last_error(attempt.stage, failure.message))\n        _close(attempt, "
        "status=Status.FAILED_TERMINAL, error_code=failure.code, error_message=failure.message)\n",
        GUARDS,
        "before_the_site",
    ),
    Mutant(
        "a paused site is left",
        f"{STATE}/runs.py",
        "        coordinator_enqueued=True,\n        paused_at=None,\n",
        "        coordinator_enqueued=True,\n",
        FLOW,
        "pause_between",
    ),
    Mutant(
        "an unclaimed site is left",
        f"{STATE}/runs.py",
        "        coordinator_enqueued=True,\n        paused_at=None,\n",
        "        paused_at=None,\n",
        PROTOCOL,
        "coordinator",
    ),
    Mutant(
        "a site with uncounted jobs is left",
        f"{STATE}/runs.py",
        "        all_counted(wave),\n",
        "",
        GUARDS,
        "uncounted",
    ),
    Mutant(
        "two runs begin",
        f"{STATE}/runs.py",
        "changed = Site.objects.filter(pk=site.pk, run_id=site.run_id).update(",
        "changed = Site.objects.filter(pk=site.pk).update(",
        PROTOCOL,
        "two_starts or restarts",
    ),
    Mutant(
        "a run ends twice",
        f"{STATE}/runs.py",
        "Run.objects.filter(pk=run_id, status=Run.Status.RUNNING).update(",
        "Run.objects.filter(pk=run_id).update(",
        GUARDS,
        "ends_once",
    ),
    Mutant(
        "an abandoned run's attempts go on",
        f"{STATE}/runs.py",
        "    rows.filter(status=Status.IN_PROGRESS).update(",
        "    rows.none().update(",
        f"{FLOW} {PROTOCOL}",
        "restart or cancel or run_one",
    ),
    Mutant(
        "rows that changed are repaired",
        f"{STATE}/repair.py",
        "            enqueue_seq=seq,\n            updated_at=updated_at,\n",
        "",
        REPAIRS,
        "each_kind_of_change",
    ),
    Mutant(
        "counters are set without the site's lock",
        f"{STATE}/repair.py",
        "Site.objects.select_for_update(no_key=True).filter(",
        "Site.objects.filter(",
        GUARDS,
        "during_a_recount",
    ),
    Mutant(
        "an early claim is never taken back",
        f"{STATE}/repair.py",
        "            ~CURRENT_WAVE_COUNTED,\n",
        "            CURRENT_WAVE_COUNTED,\n",
        REPAIRS,
        "too_early",
    ),
    Mutant(
        "a coordinator is sent a third time",
        f"{STATE}/repair.py",
        "        coordinator_enqueued=True,\n        coordinator_seq=site.coordinator_seq,\n",
        "        coordinator_enqueued=True,\n",
        GUARDS,
        "third_time",
    ),
    Mutant(
        "attempts of a run that is over are never ended",
        f"{STATE}/repair.py",
        "    over = Run.objects.exclude(status=Run.Status.RUNNING)\n",
        "    over = Run.objects.none()\n",
        GUARDS,
        "given_up_at_that_moment",
    ),
    Mutant(
        "reconcile does not end them",
        f"{RECONCILE}/__init__.py",
        "            end_abandoned_attempts(timezone.now() - find.grace())\n",
        "            pass\n",
        GUARDS,
        "given_up_at_that_moment",
    ),
    Mutant(
        "a document is skipped under a worker's hands",
        f"{STATE}/resets.py",
        "    if not seen.update(status=Status.FAILED_TERMINAL, **ended):\n",
        "    seen.update(status=Status.FAILED_TERMINAL, **ended)\n    if False:\n",
        GUARDS,
        "being_skipped",
    ),
    Mutant(
        "the queue is read before the ledger",
        f"{RECONCILE}/find.py",
        "    quiet_since = now - grace()\n    rows",
        "    live = inspection.live_job_ids(now, grace())\n    quiet_since = now - grace()\n    rows",
        GUARDS,
        "queue_is_read_after",
    ),
    Mutant(
        "reconcile begins a run for a site that moved",
        f"{RECONCILE}/repair.py",
        "run_id=site.run_id, updated_at=site.updated_at).exists():",
        "run_id=site.run_id).exists():",
        GUARDS,
        "moved_since",
    ),
    Mutant(
        "a paused site is suspect",
        f"{RECONCILE}/find.py",
        "sites.filter(untouched_since(since), paused_at=None)",
        "sites.filter(untouched_since(since))",
        REPAIRS,
        "left_alone",
    ),
    Mutant(
        "two reconciles at once",
        f"{RECONCILE}/lock.py",
        "        held = cursor.fetchone()[0]\n",
        "        held = bool(cursor.fetchone())\n",
        REPAIRS,
        "second_pass",
    ),
    Mutant(
        "jobs are sent before the commit that begins a run",
        "pipeline/flow.py",
        "    transaction.on_commit(lambda: deliver(site.pk, run.pk, seq))\n",
        "    deliver(site.pk, run.pk, seq)\n",
        PROTOCOL,
        "inside_a_transaction or before_the_enqueueing",
    ),
    Mutant(
        "jobs are sent before the commit that moves a site on",
        "pipeline/flow.py",
        "        transaction.on_commit(lambda: deliver(site_id, run_id, seq))\n",
        "        deliver(site_id, run_id, seq)\n",
        PROTOCOL,
        "inside_a_transaction or before_the_enqueueing",
    ),
    Mutant(
        "a resumed site sends its jobs under their old names",
        "pipeline/flow.py",
        "            runs.renew_rows(site_id, running.pk)\n",
        "            pass\n",
        FLOW,
        "paused",
    ),
    Mutant(
        "the alarm may ring in the finish",
        "pipeline/protocol.py",
        "    signal.alarm(0)\n",
        "    pass\n",
        GUARDS,
        "alarm",
    ),
    Mutant(
        "a bug is delivered again by the queue",
        "pipeline/protocol.py",
        "            rq_job.retries_left = 0\n",
        "            pass\n",
        PROTOCOL,
        "traceback",
    ),
)


def main(wanted: list[str]) -> int:
    chosen = [mutant for mutant in MUTANTS if not wanted or any(word in mutant.name for word in wanted)]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "clerk"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
        (copy / ".venv").symlink_to((ROOT / ".venv").resolve())
        killed = sum(_is_killed(mutant, copy) for mutant in chosen)
    share = killed / len(chosen)
    print(f"{killed} of {len(chosen)} mutants were killed: {share:.0%} (at least {ENOUGH:.0%} wanted)")
    return 0 if share >= ENOUGH else 1


def _is_killed(mutant: Mutant, copy: Path) -> bool:
    path = copy / mutant.file
    before = path.read_text()
    if before.count(mutant.old) != 1:
        sys.exit(f"{mutant.name}: its text stands {before.count(mutant.old)} times in {mutant.file}")
    began = time.monotonic()
    path.write_text(before.replace(mutant.old, mutant.new))
    try:
        notices = _tests_fail(mutant, copy)
    finally:
        path.write_text(before)
    verdict = "killed" if notices else "SURVIVED"
    print(f"{verdict:9} {time.monotonic() - began:4.0f} s  {mutant.name}", flush=True)
    return notices


def _tests_fail(mutant: Mutant, copy: Path) -> bool:
    command = [sys.executable, "-m", "pytest", *mutant.tests.split(), "-x", "-q", "-p", "no:cacheprovider"]
    if mutant.only:
        command += ["-k", mutant.only]
    environ = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    try:
        ended = subprocess.run(command, cwd=copy, env=environ, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return True
    if ended.returncode not in (0, 1):
        sys.exit(f"{mutant.name}: pytest ended with {ended.returncode}\n{ended.stdout.decode()[-2000:]}")
    return ended.returncode == 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
