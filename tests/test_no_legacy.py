"""After the drops nothing speaks of the old table or columns, except what brings them over."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TABLES = {"site_progress", "SiteProgress"}
# `status` alone is a word of the ledger, of runs and of HTTP, so it is looked for on a site.
COLUMNS = {"extraction_status", "last_updated", "last_deployed", "last_extracted"}
TAKE_OVER = (
    "pipeline/takeover/",
    "pipeline/management/commands/migrate_stuck_sites.py",
    "pipeline/management/commands/adopt_sites.py",
)
PRODUCT = ("sites", "pipeline", "clerk_project", "templates")


def product_files() -> Iterator[Path]:
    for folder in PRODUCT:
        for path in sorted((ROOT / folder).rglob("*")):
            name = str(path.relative_to(ROOT))
            if path.suffix in {".py", ".html", ".txt", ".js"} and not is_take_over(name):
                yield path


def is_take_over(name: str) -> bool:
    return name.startswith(TAKE_OVER) or "/migrations/" in name


def words_of(path: Path) -> set[str]:
    text = path.read_text()
    for mark in "()[]{}.,:;'\"=<>|/`":
        text = text.replace(mark, " ")
    return set(text.split())


@pytest.mark.parametrize("path", list(product_files()), ids=lambda path: str(path.relative_to(ROOT)))
def test_product_code_does_not_mention_the_old_table_or_columns(path: Path) -> None:
    assert not words_of(path) & (TABLES | COLUMNS)


def test_no_code_reads_the_old_status_of_a_site() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in product_files()
        if path.suffix == ".py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and node.attr == "status"
        and isinstance(node.value, ast.Name)
        and node.value.id in {"site", "Site"}
    ]
    assert found == []


def test_the_model_has_none_of_them() -> None:
    tree = ast.parse((ROOT / "sites" / "models.py").read_text())
    site = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Site")
    names = {
        target.id
        for node in site.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    assert "current_stage" in names
    assert not names & (COLUMNS | {"status"})


def test_the_search_would_find_one() -> None:
    assert words_of(ROOT / "pipeline" / "takeover" / "stuck_sites.py") & TABLES
