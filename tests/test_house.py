"""The house rules that a machine can count: sizes of files and lines, imports in their place."""

import ast
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("sites", "pipeline", "records", "clerk_project")
LONGEST_FILE = 330
LONGEST_TEMPLATE_LINE = 140
# Modules whose names are known only when it runs: an OCR engine, what a child process is to read with.
LOADERS = {
    "pipeline/work/ocr/engines/__init__.py",
    "pipeline/work/ocr/process/warm.py",
    # An extra that need not be installed.
    "clerk_project/settings.py",
    # A migration: its name is none that an import could write.
    "pipeline/verify/schema.py",
}


def sources() -> list[Path]:
    found = [path for package in PRODUCT for path in sorted((ROOT / package).rglob("*.py"))]
    return [path for path in found if "migrations" not in path.parts]


def functions() -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_is_short_enough_to_be_read_at_once(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_FILE


def test_functions_are_small() -> None:
    lines = sorted((node.end_lineno or node.lineno) - node.lineno + 1 for node in functions())

    assert statistics.median(lines) <= 6
    assert lines[int(len(lines) * 0.95)] <= 18


def test_no_function_imports() -> None:
    inside = [child for node in functions() for child in ast.walk(node)]

    assert [ast.unparse(node) for node in inside if isinstance(node, ast.Import | ast.ImportFrom)] == []


def test_modules_are_loaded_by_name_only_where_the_name_is_known_late() -> None:
    loading = re.compile(r"\bimport_module\(|__import__\(")
    found = {str(path.relative_to(ROOT)) for path in sources() if loading.search(path.read_text())}

    assert found == LOADERS


def test_templates_are_wrapped_like_code() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "templates").rglob("*ml"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if len(line) > LONGEST_TEMPLATE_LINE
    ]

    assert long == []
