"""What Datasette is told of a database, so that it is pleasant to use: titles, facets, what to sort by."""

from typing import Any

from pipeline.work.database.compilation import SiteInfo

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
    "motions": {
        "title": "Motions",
        "description": "Read by rules, not by people: look at the page. `flags` says what does not add up.",
        "facets": ["result", "mover"],
    },
    "votes": {"title": "Votes", "description": "Each name under each motion.", "facets": ["vote", "name"]},
    "attendance": {"title": "Attendance", "facets": ["presence", "name"]},
    "legislation": {"title": "Ordinances and resolutions", "facets": ["kind"]},
    "money": {"title": "Amounts of money", "sort_desc": "amount"},
    "addresses": {"title": "Addresses", "facets": ["street"]},
    "dates": {"title": "Dates", "sort_desc": "date"},
    "agenda_items": {"title": "Agenda items"},
    "other_facts": {"title": "Other facts", "facets": ["kind"]},
}


def datasette_metadata(site: SiteInfo) -> dict[str, Any]:
    name = site.name or site.subdomain
    place = f"{name}, {site.state}" if site.state else name
    return {
        "title": f"Public records of {place}",
        "description": "Agendas and minutes, page by page, with what was decided in them.",
        "tables": TABLES,
    }
