"""What `make mutants` and `make chaos` name in the code is there."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import mutants  # noqa: E402
from faults.workers import BOUNDARIES  # noqa: E402


@pytest.mark.parametrize("mutant", list(mutants.mutants()), ids=lambda mutant: mutant.name)
def test_every_guard_that_is_taken_out_is_there(mutant: mutants.Mutant) -> None:
    assert (ROOT / mutant.file).read_text().count(mutant.old) == 1
    assert mutant.new != mutant.old
    assert all((ROOT / file).is_file() for file in mutant.tests.split())


def test_every_place_where_a_process_may_die_is_there() -> None:
    assert [name for module, name in BOUNDARIES if not callable(getattr(module, name, None))] == []
