"""Every package is pinned, and every pin installs on the oldest Python we promise."""

import re
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
# Not 3.11 as such: Debian 12 has 3.11.2, and some packages ask for a later one.
OLDEST_PYTHON = "3.11.0"


def lines(name: str) -> list[str]:
    return re.findall(r"^[A-Za-z0-9].*$", (ROOT / name).read_text(), re.MULTILINE)


# Not pinned among the others, for it is not installed with them.
ACCURATE = "requirements-accurate.txt"
PINS = {canonicalize_name(Requirement(line).name): line for line in lines("constraints.txt")}


@pytest.mark.parametrize("name", PINS)
def test_a_pinned_package_runs_on_the_oldest_python(name: str) -> None:
    wanted = distribution(name).metadata["Requires-Python"] or ""

    assert SpecifierSet(wanted).contains(OLDEST_PYTHON)


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-dev.txt", "requirements-extras.txt"])
def test_what_is_required_is_pinned_to_the_same_version(file: str) -> None:
    for line in lines(file):
        required = Requirement(line)
        pin = Requirement(PINS[canonicalize_name(required.name)])
        assert required.specifier == pin.specifier, line


def test_what_the_accurate_engine_requires_is_pinned_exactly() -> None:
    required = [Requirement(line) for line in lines(ACCURATE)]

    assert {"rapidocr", "openvino"} <= {package.name for package in required}
    assert all(re.fullmatch(r"==[\d.]+", str(package.specifier)) for package in required)
    assert not {canonicalize_name(package.name) for package in required} & set(PINS)
