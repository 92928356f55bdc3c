"""Units, containers and examples call what there is, with settings that exist."""

import re
import secrets
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
SETTINGS = set(re.findall(r"^\| `([A-Z_]+)`", (ROOT / "README.md").read_text(), re.MULTILINE))


def values(unit: Path, name: str) -> list[str]:
    text = unit.read_text().replace("\\\n", " ")
    return re.findall(rf"^{name}=(.*)$", text, re.MULTILINE)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_starts_a_command_that_there_is(unit: Path) -> None:
    [line] = values(unit, "ExecStart")
    words = shlex.split(line)

    assert words[0].startswith("/opt/clerk/.venv/bin/")
    if words[0].endswith("python"):
        assert words[1] == "manage.py"
        assert words[2] in get_commands()
    else:
        assert words[:2] == ["/opt/clerk/.venv/bin/gunicorn", "clerk_project.wsgi"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_runs_as_clerk_and_writes_only_its_own(unit: Path) -> None:
    assert values(unit, "User") == ["clerk"]
    assert values(unit, "ProtectSystem") == ["strict"]
    assert values(unit, "NoNewPrivileges") == ["yes"]
    assert set(values(unit, "ReadWritePaths")) <= {"/srv/clerk", "/var/backups/clerk"}
    # The sandbox of the readers needs these.
    assert "landlock_restrict_self" in values(unit, "SystemCallFilter")[0]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_a_unit_is_exposed_by_less_than_four_of_ten(unit: Path) -> None:
    command = ["systemd-analyze", "security", "--offline=yes", "--threshold=40", str(unit)]
    ended = subprocess.run(command, capture_output=True, text=True)

    assert ended.returncode == 0, ended.stdout[-400:] + ended.stderr


def test_every_timer_has_its_service_and_the_install_script_names_the_units() -> None:
    for timer in DEPLOY.glob("*.timer"):
        assert timer.with_suffix(".service").exists()
    script = (DEPLOY / "install").read_text()
    for name in ("clerk-web", "clerk-workers", "clerk-reconcile.timer", "clerk-verify.timer"):
        assert name in script


@pytest.mark.parametrize("name", ["environment.example", "environment.compose"])
def test_the_example_settings_are_settings(name: str) -> None:
    set_there = set(re.findall(r"^(?:# )?([A-Z_]+)=", (DEPLOY / name).read_text(), re.MULTILINE))

    assert set_there - {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} <= SETTINGS


@pytest.mark.parametrize("name", ["environment.example", "environment.compose"])
def test_django_has_nothing_to_warn_of_with_the_example_settings(name: str, tmp_path: Path) -> None:
    text = (DEPLOY / name).read_text()
    text = re.sub(r"^SECRET_KEY=.*$", f"SECRET_KEY={secrets.token_urlsafe(48)}", text, flags=re.MULTILINE)
    text = re.sub(r"^(DATABASE_URL|CLERK_HOME|STORAGE_DIR|DEPLOY_DIR)=.*\n", "", text, flags=re.MULTILINE)
    settings = tmp_path / "environment"
    settings.write_text(f"{text}\nCLERK_HOME={tmp_path}\n")

    ended = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "CLERK_ENV_FILE": str(settings)},
        capture_output=True,
        text=True,
    )

    assert ended.returncode == 0, ended.stderr


# ---- The install script ---------------------------------------------------------------------------------


def test_the_install_script_says_what_it_would_do_and_does_nothing(tmp_path: Path) -> None:
    ended = subprocess.run(
        ["sh", str(DEPLOY / "install"), "--dry-run"], capture_output=True, text=True, cwd=tmp_path
    )

    assert ended.returncode == 0, ended.stderr
    assert "Next:" in ended.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [(["--extra"], "not an option"), (["--extras", "magic", "--dry-run"], "no extra magic")],
)
def test_the_install_script_refuses_what_it_does_not_know(arguments: list[str], hint: str) -> None:
    ended = subprocess.run(["sh", str(DEPLOY / "install"), *arguments], capture_output=True, text=True)

    assert (ended.returncode, hint in ended.stderr) == (2, True)


# ---- Containers -------------------------------------------------------------------------------------------


def test_every_container_of_ours_calls_a_command_that_there_is() -> None:
    called = {}
    for name, service in COMPOSE["services"].items():
        if service.get("image") != "clerk":
            continue
        if "entrypoint" not in service:
            called[name] = [service["command"][0]]
        elif service["entrypoint"][0] == "/bin/sh":
            called[name] = re.findall(r"\bclerk (\w+)", service["command"][0])
        else:
            assert service["entrypoint"] == ["/opt/clerk/bin/gunicorn", "clerk_project.wsgi"]
            called[name] = []

    assert set(called) == {"migrate", "web", "workers", "clock"}
    assert {command for commands in called.values() for command in commands} <= set(get_commands())


def test_containers_are_confined_and_read_the_same_settings_file() -> None:
    for service in COMPOSE["services"].values():
        if service.get("image") == "clerk":
            assert service["read_only"] is True
            assert service["cap_drop"] == ["ALL"]
            assert "./environment:/etc/clerk/environment:ro" in service["volumes"]


def test_the_image_copies_what_there_is_and_does_not_run_as_root() -> None:
    text = (ROOT / "Dockerfile").read_text()
    copied = [
        word
        for line in re.findall(r"^COPY (?!--from)(.*)$", text, re.MULTILINE)
        for word in line.split()[:-1]
    ]
    let_in = set(re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE))

    assert all((ROOT / name).exists() for name in copied)
    assert set(copied) == let_in
    assert re.findall(r"^USER (\d+)", text, re.MULTILINE) == ["10001"]
