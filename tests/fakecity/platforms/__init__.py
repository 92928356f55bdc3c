"""How each platform publishes the same meetings: `PUBLISH[platform](city, meetings)` gives its address."""

from tests.fakecity.platforms.apis import civicclerk, civicweb, escribe, legistar_api, primegov
from tests.fakecity.platforms.pages import (
    civicplus,
    digitaltowpath,
    generic,
    granicus,
    iqm2,
    municode,
    onbase,
)
from tests.fakecity.platforms.posted import boarddocs, legistar, novusagenda

PUBLISH = {
    "boarddocs": boarddocs,
    "civicclerk": civicclerk,
    "civicplus": civicplus,
    "civicweb": civicweb,
    "digitaltowpath": digitaltowpath,
    "escribe": escribe,
    "generic": generic,
    "granicus": granicus,
    "iqm2": iqm2,
    "legistar": legistar,
    "legistar_api": legistar_api,
    "municode": municode,
    "novusagenda": novusagenda,
    "onbase": onbase,
    "primegov": primegov,
}
