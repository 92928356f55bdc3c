"""Runs the benchmarks, all or those named, prints their figures and keeps them in var/bench.json."""

import importlib
import json
import os
import pkgutil
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import django
from rich.console import Console
from rich.table import Table

import benchmarks

RESULT = Path(__file__).resolve().parent.parent / "var" / "bench.json"
Figures = dict[str, float]


def main(chosen: list[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clerk_project.settings")
    django.setup()
    available = find(benchmarks.__path__, benchmarks.__name__)
    unknown = set(chosen) - set(available)
    if unknown:
        print(
            f"no benchmark {', '.join(sorted(unknown))}; there are: {', '.join(available) or 'none'}",
            file=sys.stderr,
        )
        return 2
    measured, failed = measure({name: available[name] for name in chosen or available})
    # A part of the benchmarks renews its own figures and leaves the others.
    kept = json.loads(RESULT.read_text()) if chosen and RESULT.exists() else {}
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(kept | measured, indent=2, sort_keys=True) + "\n")
    return 1 if failed else 0


def find(path: list[str], package: str) -> dict[str, Callable[[], Figures]]:
    """The modules of the package that have a `run`; names that begin with an underscore are shared code."""
    names = [found.name for found in pkgutil.iter_modules(path) if not found.name.startswith("_")]
    modules = {name: importlib.import_module(f"{package}.{name}") for name in sorted(names)}
    return {name: module.run for name, module in modules.items() if hasattr(module, "run")}


def measure(chosen: dict[str, Callable[[], Figures]]) -> tuple[Figures, list[str]]:
    """One benchmark's failure does not cost the others' figures."""
    console, table = Console(), Table("benchmark", "figure", "value", "took")
    table.columns[2].justify = table.columns[3].justify = "right"
    measured: Figures = {}
    failed = []
    for name, run in chosen.items():
        began = time.monotonic()
        try:
            figures = run()
        except Exception:
            traceback.print_exc()
            failed.append(name)
            figures = {}
        took = f"{time.monotonic() - began:.1f} s"
        for figure, value in figures.items():
            table.add_row(name, figure, f"{value:,.4g}", took)
        measured |= figures
    console.print(table if measured else "no benchmark gave a figure")
    if failed:
        console.print(f"failed: {', '.join(failed)}")
    return measured, failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
