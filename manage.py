#!/usr/bin/env python
"""Django's command line for Clerk; `--env-file FILE` names the settings file."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from clerk_project import environment
from pipeline import redaction

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clerk_project.settings")
    redaction.guard_streams()
    try:
        execute_from_command_line(environment.take_option(sys.argv, os.environ))
    except ImproperlyConfigured as error:
        sys.exit(f"Clerk cannot start: {error}")
