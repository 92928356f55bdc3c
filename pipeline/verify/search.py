"""The search index against what is deployed."""

from collections.abc import Iterator

from django.conf import settings

from pipeline.stages.deploy import served
from pipeline.verify.problem import Problem, among
from pipeline.work.index.upkeep import differences

CHECK = "sites whose search index is not what is deployed"


def problems(*, thorough: bool) -> Iterator[Problem]:
    found = differences(settings.SEARCH_INDEX_DIR, served(), thorough=thorough)
    try:
        yield from among(CHECK, found, "manage.py search_index")
    except ValueError as error:  # the library's one error
        why = "manage.py search_index --rebuild writes it anew from the deployed databases"
        yield Problem("the search index cannot be read", 1, why, (str(error)[:200],))
