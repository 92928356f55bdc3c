"""`pip install .`: the packages carry their pages and styles, and the `clerk` command works from anywhere."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from clerk_project import __version__

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CLERK = "from clerk_project.command_line import main; main()"


def lines(name: str) -> list[str]:
    return re.findall(r"^[A-Za-z0-9].*$", (ROOT / name).read_text(), re.MULTILINE)


def clerk(packages: Path, home: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """The command as an ordinary user has it: installed packages, a home, and an empty environment."""
    return subprocess.run(
        [sys.executable, "-c", CLERK, *arguments],
        cwd=home,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PYTHONPATH": str(packages),
            "CLERK_ENV_FILE": "",
            "DEBUG": "1",
        },
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    source = tmp_path_factory.mktemp("source")
    for name in ("clerk_project", "pipeline", "records", "sites", "templates"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--wheel-dir",
            source / "dist",
            source,
        ],
        check=True,
        capture_output=True,
    )
    packages = tmp_path_factory.mktemp("packages")
    with zipfile.ZipFile(next((source / "dist").glob("clerk-*.whl"))) as wheel:
        wheel.extractall(packages)
    return packages


def test_the_packages_ask_for_what_requirements_txt_asks_for() -> None:
    extras = PROJECT["optional-dependencies"]

    assert PROJECT["dependencies"] == lines("requirements.txt")
    assert extras["accurate-ocr"] == lines("requirements-accurate.txt")
    others = {line for name, wanted in extras.items() if name != "accurate-ocr" for line in wanted}
    assert others == set(lines("requirements-extras.txt"))


def test_the_changelog_knows_this_version() -> None:
    versions = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)

    if ".dev" in __version__:
        assert versions[0] == "Unreleased"
        assert versions[1] != __version__.partition(".dev")[0], "released, but the version still says dev"
    else:
        assert __version__ in versions[:2]


def test_the_command_says_its_version_before_it_needs_any_setting() -> None:
    ended = subprocess.run(
        [sys.executable, "manage.py", "--version"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "CLERK_ENV_FILE": ""},
        capture_output=True,
        text=True,
    )

    assert (ended.returncode, ended.stdout) == (0, f"clerk {__version__}\n")


def test_installed_packages_have_every_page_and_style(installed: Path) -> None:
    def files(folder: Path) -> set[str]:
        return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}

    assert files(installed / "clerk_project" / "templates") == files(ROOT / "templates")
    for package in ("pipeline", "records"):
        assert files(installed / package / "static") == files(ROOT / package / "static")
    assert not (installed / "templates").exists()


def test_the_installed_command_finds_its_pages_and_keeps_its_data_in_the_users_home(
    installed, tmp_path
) -> None:
    checked = clerk(installed, tmp_path, "check")
    migrated = clerk(installed, tmp_path, "migrate", "--verbosity", "0")
    page = clerk(
        installed,
        tmp_path,
        "shell",
        "-c",
        "from django.template import loader; print(loader.get_template('pipeline/dashboard.html').origin)",
    )

    assert checked.returncode == 0, checked.stderr
    assert migrated.returncode == 0, migrated.stderr
    assert (tmp_path / ".local/share/clerk/var/clerk.sqlite3").exists()
    assert str(installed) in page.stdout, page.stderr
