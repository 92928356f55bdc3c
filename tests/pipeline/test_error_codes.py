"""One registry of error codes: nothing fails with a code that it lacks, and the docs say what it says."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.error_codes import CODES, Again, ErrorCode, explained
from pipeline.errors import DocumentError, JobTimeout, PipelineError, SourceError, StageError

ROOT = Path(__file__).resolve().parent.parent.parent


def codes_in(source: str) -> Iterator[str]:
    """Words given as `code=…` to an error, or as the first argument of the error of a child process."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            words = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
            if isinstance(node.func, ast.Name) and node.func.id == "ChildDied":
                words += node.args[:1]
            yield from (
                word.value for word in words if isinstance(word, ast.Constant) and isinstance(word.value, str)
            )


def test_every_code_that_the_product_fails_with_is_registered():
    used = {code for path in (ROOT / "pipeline").rglob("*.py") for code in codes_in(path.read_text())}

    assert used - set(CODES) == set()
    assert len(used) > 40


def test_every_kind_of_error_has_a_registered_code():
    kinds = (PipelineError, DocumentError, StageError, SourceError, JobTimeout)

    assert {kind.code for kind in kinds} <= set(CODES)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("no_text", "no_text"),
        ("http_418", "http_4xx"),
        ("http_503", "http_5xx"),
        ("http_410", "http_404"),
        ("a_plug_ins_own", "pipeline_error"),
        ("", "pipeline_error"),
    ],
)
def test_any_code_can_be_explained(code: str, expected: str):
    assert explained(code).code == expected


def table_line(entry: ErrorCode) -> str:
    return f"| `{entry.code}` | {entry.meaning} | {entry.again.value} | {entry.advice} |"


def test_the_docs_explain_every_code_in_the_words_of_the_registry():
    lines = (ROOT / "docs" / "errors.md").read_text().splitlines()
    documented = [line for line in lines if line.startswith("| `")]

    assert documented == [table_line(entry) for entry in CODES.values()]
    assert all(entry.again in Again for entry in CODES.values())
