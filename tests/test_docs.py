"""What the documents name must exist: commands, make targets, files, environment variables."""

import math
import re
from pathlib import Path

import pytest
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
README = (ROOT / "README.md").read_text()


def code_in(markdown: str) -> str:
    """Only what stands in code: `like this`, in a fenced block or in an indented one."""
    blocks = re.findall(r"```.*?```", markdown, re.DOTALL)
    prose = re.sub(r"```.*?```", "", markdown, flags=re.DOTALL)
    return "\n".join(
        [*blocks, *re.findall(r"^    .+", prose, re.MULTILINE), *re.findall(r"`[^`\n]+`", prose)]
    )


def names(pattern: str, document: Path) -> set[str]:
    return set(re.findall(pattern, code_in(document.read_text())))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_named_exists(document: Path) -> None:
    assert names(r"manage\.py ([a-z_]+)", document) <= set(get_commands())


def test_every_command_of_ours_is_named_in_the_readme() -> None:
    ours = {name for name, app in get_commands().items() if app == "pipeline"}

    assert ours - names(r"manage\.py ([a-z_]+)", ROOT / "README.md") == set()


def test_every_command_of_ours_has_its_exit_codes_in_the_guide() -> None:
    ours = {name for name, app in get_commands().items() if app == "pipeline"}
    rows = re.findall(
        r"^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \|", (ROOT / "docs/commands.md").read_text(), re.MULTILINE
    )

    assert ours <= set(re.findall(r"`([a-z_]+)`", " ".join(rows)))


def test_every_guide_is_linked_from_the_readme() -> None:
    linked = set(re.findall(r"\]\(docs/([A-Za-z-]+\.md)", README))

    assert linked == {path.name for path in (ROOT / "docs").glob("*.md")}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_make_target_named_exists(document: Path) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)

    assert names(r"\bmake ([a-z-]+)", document) <= set(targets)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_to_a_file_leads_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", document.read_text())

    assert [link for link in links if not (document.parent / link).exists()] == []


def test_the_readme_lists_every_environment_variable_of_the_settings() -> None:
    settings = "".join(path.read_text() for path in sorted((ROOT / "clerk_project").glob("*.py")))
    read = set(re.findall(r"\benv(?:bool|int|number|list|path|choice|networks)?\(\s*\"([A-Z_]+)\"", settings))
    listed = set(re.findall(r"^\| `([A-Z_]+)`", README, re.MULTILINE))

    assert read - listed == set(), "in settings.py, not in the README's table"
    assert listed - read == set(), "in the README's table, not in settings.py"


def test_the_defaults_in_the_readme_are_those_of_the_settings() -> None:
    settings = (ROOT / "clerk_project" / "settings.py").read_text()
    numbers = re.findall(r"env(?:int|number)\(\s*\"([A-Z_]+)\",\s*([\d *]+)", settings)
    listed = dict(re.findall(r"^\| `([A-Z_]+)` \| (\d+) \|", README, re.MULTILINE))

    assert numbers
    assert listed == {name: str(math.prod(map(int, default.split("*")))) for name, default in numbers}
