"""Patterns that run in time linear in the text, whatever the text is."""

from typing import Any, TypeAlias

import re2

# RE2 ships no types.
Match: TypeAlias = Any
Pattern: TypeAlias = Any


def pattern(expression: str) -> Pattern:
    """Compile for RE2, which never backtracks; small enough to run on its fast engine."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 32 << 20
    return re2.compile(expression, options)
