"""What Datasette is told of a database, so that it is pleasant to use: titles, facets, what to sort by."""

from typing import Any

from pipeline.work.database.compilation import SiteInfo
from pipeline.work.extraction.kinds import KINDS

TABLES: dict[str, dict[str, Any]] = {
    "pages": {
        "title": "Pages",
        "description": "The text of every page. Search it with the box above the table.",
        "facets": ["body", "kind"],
        "sort_desc": "date",
        "size": 20,
    },
    "documents": {
        "title": "Documents",
        "description": "Every version of every file, with where it was found.",
        "facets": ["body", "kind", "superseded"],
        "sort_desc": "date",
        "label_column": "title",
    },
    "meetings": {"title": "Meetings", "facets": ["body"], "sort_desc": "date", "label_column": "date"},
    "site": {"title": "The municipality"},
    **{kind.table: kind.datasette for kind in KINDS},
}


def datasette_metadata(site: SiteInfo) -> dict[str, Any]:
    name = site.name or site.subdomain
    place = f"{name}, {site.state}" if site.state else name
    return {
        "title": f"Public records of {place}",
        "description": "Agendas and minutes, page by page, with what was decided in them.",
        "tables": TABLES,
    }
