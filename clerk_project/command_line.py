"""`clerk` and `manage.py`: Django's command line; `--env-file FILE` names the settings file."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from clerk_project import __version__, environment
from pipeline import redaction
from pipeline.short_names import in_full


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        print(f"clerk {__version__}")  # noqa: T201 - asked for by a person, before any settings are read
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clerk_project.settings")
    redaction.guard_streams()
    try:
        execute_from_command_line(in_full(environment.take_option(sys.argv, os.environ)))
    except ImproperlyConfigured as error:
        sys.exit(f"Clerk cannot start: {error}")
