"""The `clerk` command: short names, completion for three shells, and a terminal of 80 by 24."""

import os
import re
import shutil
import subprocess
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import get_commands
from rich.console import Console

from pipeline import flow
from pipeline.management.terminal import follow, summary
from pipeline.management.terminal.follow import Pace
from pipeline.models import Run
from pipeline.reports import overview
from pipeline.short_names import SHORT, in_full

ROOT = Path(__file__).resolve().parent.parent.parent


def test_every_short_name_is_of_a_command_and_of_no_other():
    assert set(SHORT.values()) <= set(get_commands())
    assert not set(SHORT) & set(get_commands())


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["clerk", "status", "--json"], ["clerk", "pipeline_status", "--json"]),
        (["clerk", "help", "add"], ["clerk", "help", "add_site"]),
        (["clerk", "pause", "run"], ["clerk", "pause_site", "run"]),
        (["clerk", "migrate"], ["clerk", "migrate"]),
        (["clerk"], ["clerk"]),
    ],
)
def test_a_short_name_stands_for_its_command(typed, meant):
    assert in_full(typed) == meant


def test_the_checkout_s_command_works_from_any_folder(tmp_path):
    environment = {**os.environ, "CLERK_ENV_FILE": "", "DEBUG": "1", "DATABASE_URL": "sqlite://:memory:"}
    ran = subprocess.run(
        [str(ROOT / "scripts/clerk"), "status", "--help"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert "pipeline_status" in ran.stdout


# ---- Completion ---------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_keys_of_sites_are_completed(manage, make_site):
    for name in ("alameda.ca", "albany.ca", "berkeley.ca"):
        make_site(name)
    assert manage("completion", "--sites", "al").out.split() == ["alameda.ca", "albany.ca"]


def test_bash_completes_commands_options_and_sites(manage, tmp_path):
    """In a real bash, with a command of our own in place of `clerk`."""
    script = tmp_path / "completion"
    script.write_text(manage("completion", "bash").out)
    asked = tmp_path / "clerk"
    asked.write_text('#!/bin/sh\n[ "$1 $2 $3" = "completion --sites al" ] && echo alameda.ca\n')
    asked.chmod(0o755)

    def complete(*words: str) -> set[str]:
        line = f"source {script}; COMP_WORDS=({asked} {' '.join(words)}); COMP_CWORD={len(words)}; _clerk; "
        ran = subprocess.run(
            ["bash", "-c", line + 'printf "%s\\n" "${COMPREPLY[@]}"'], capture_output=True, text=True
        )
        assert ran.stderr == ""
        return set(ran.stdout.split())

    assert complete("sta") == {"status"}
    assert {"--site", "--json", "--watch"} <= complete("status", "--")
    assert complete("pause", "al") == {"alameda.ca"}
    assert complete("nonsense", "al") == set()


@pytest.mark.parametrize(("shell", "check"), [("zsh", ["-n"]), ("fish", ["--no-execute"])])
def test_the_other_scripts_name_every_command(manage, tmp_path, shell, check):
    out = manage("completion", shell).out
    for name in (*SHORT, *SHORT.values()):
        assert re.search(rf"\b{name}\b", out), name
    if shutil.which(shell):
        script = tmp_path / "script"
        script.write_text(out)
        assert subprocess.run([shell, *check, str(script)]).returncode == 0


def test_without_a_shell_it_asks_for_which(manage):
    assert manage("completion").code == 2


# ---- A small terminal ---------------------------------------------------------------------------------


def terminal(file: StringIO, width: int = 80, height: int = 24) -> Console:
    return Console(file=file, force_terminal=True, width=width, height=height, color_system=None)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_column_is_cut_and_no_message_wraps(make_site, trivial_jobs, run_jobs, width):
    site = make_site("a-rather-long-name-of-a-township.pa", titles=["ok", "bad"])
    flow.start(site.pk)
    run_jobs()
    screen = terminal(out := StringIO(), width)
    screen.print(summary.draw(screen, overview.read_overview()))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    steps = [line for line in lines if re.match(r"(fetch|ocr|deploy) ", line)]
    assert len(steps) == 3
    assert not any("…" in line for line in steps)
    assert ("stage p50/p95" in "\n".join(lines)) == (width >= 112)
    if width < 100:
        assert sum("corrupt" in line for line in lines) == 1


@pytest.mark.django_db(transaction=True)
def test_watching_says_the_rate_the_time_left_and_why_it_waits(make_site, trivial_jobs, run_jobs):
    run = flow.start(make_site(titles=["ok"] * 10).pk)
    run_jobs(only="fetch")
    pace, screen = Pace(), terminal(out := StringIO())
    pace.looks.append((pace.began - 10, 0))
    screen.print(follow.picture(screen, follow.progress_of([run.pk]), pace))
    shown = out.getvalue()
    assert re.search(r"elapsed, 66 a minute", shown)
    assert "no worker on queue high" in shown
    assert "0 of 1 runs have ended" in shown
    assert len(shown.splitlines()) <= 24
    assert Run.objects.get().status == "running"


def test_export_to_a_dash_is_the_standard_output(manage, db, make_site, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_site("alameda.ca")
    assert "alameda.ca" in manage("export_sites", "-", "--format", "csv").out
    assert not Path("-").exists()
