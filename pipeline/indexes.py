"""An index that may carry the names an adopted database already has."""

from django.db import models


class NamedIndex(models.Index):
    # Django's 30 is Oracle's limit; PostgreSQL takes 63 and SQLite any.
    max_name_length = 63
