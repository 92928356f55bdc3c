"""Every fetcher by name: the built-in ones and those that other packages bring."""

import warnings
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from pipeline.errors import StageError
from pipeline.work.fetch.base import Fetcher
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.platforms.agendaquick import AgendaQuick
from pipeline.work.fetch.platforms.boardbook import BoardBook
from pipeline.work.fetch.platforms.boarddocs import BoardDocs
from pipeline.work.fetch.platforms.calendar import Calendar
from pipeline.work.fetch.platforms.civicclerk import CivicClerk
from pipeline.work.fetch.platforms.civicplus import CivicPlus
from pipeline.work.fetch.platforms.civicweb import CivicWeb
from pipeline.work.fetch.platforms.digitaltowpath import DigitalTowpath
from pipeline.work.fetch.platforms.escribe import EScribe
from pipeline.work.fetch.platforms.generic import Generic
from pipeline.work.fetch.platforms.granicus import Granicus
from pipeline.work.fetch.platforms.iqm2 import Iqm2
from pipeline.work.fetch.platforms.legistar import Legistar
from pipeline.work.fetch.platforms.legistar_api import LegistarApi
from pipeline.work.fetch.platforms.local import Local
from pipeline.work.fetch.platforms.municode import Municode
from pipeline.work.fetch.platforms.novusagenda import NovusAgenda
from pipeline.work.fetch.platforms.onbase import OnBase
from pipeline.work.fetch.platforms.onboard import OnBoard
from pipeline.work.fetch.platforms.opencities import OpenCities
from pipeline.work.fetch.platforms.primegov import PrimeGov
from pipeline.work.fetch.platforms.simbli import Simbli
from pipeline.work.fetch.platforms.suiteone import SuiteOne
from pipeline.work.fetch.platforms.swagit import Swagit

GROUP = "clerk.fetchers"
BUILT_IN: tuple[type[Fetcher], ...] = (
    AgendaQuick,
    BoardBook,
    BoardDocs,
    Calendar,
    CivicClerk,
    CivicPlus,
    CivicWeb,
    DigitalTowpath,
    EScribe,
    Generic,
    Granicus,
    Iqm2,
    Legistar,
    LegistarApi,
    Local,
    Municode,
    NovusAgenda,
    OnBase,
    OnBoard,
    OpenCities,
    PrimeGov,
    Simbli,
    SuiteOne,
    Swagit,
)


@cache
def fetchers() -> dict[str, type[Fetcher]]:
    """By name; one from an entry point takes the place of a built-in of the same name."""
    found = {fetcher.name: fetcher for fetcher in BUILT_IN}
    for point in entry_points(group=GROUP):
        try:
            found[point.name] = point.load()
        except (ImportError, AttributeError) as error:
            # Another package's mistake must not stop the cities that need it not.
            warnings.warn(f"fetcher {point.name} ({point.value}) cannot be loaded: {error}", stacklevel=2)
    return found


def fetcher_class(platform: str) -> type[Fetcher]:
    try:
        return fetchers()[platform]
    except KeyError:
        names = ", ".join(sorted(fetchers()))
        raise StageError(
            f"no fetcher is called {platform!r} (there are: {names})", code="no_fetcher"
        ) from None


def build(platform: str, client: Client, url: str, options: Mapping[str, Any] | None = None) -> Fetcher:
    return fetcher_class(platform)(client, url, options)
