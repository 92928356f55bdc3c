"""The addresses of the records. They are for ever: people cite them.

A document's id is that of one version of it, the same on every machine and in every build (16 hexadecimal
digits), so under a site's name every other word is free.
"""

from django.urls import path, register_converter

from records.views import (
    crawlers,
    follow,
    following,
    home,
    meetings,
    notes,
    people,
    reader,
    search,
    site,
    tables,
)

# The first words of every other address of Clerk; no site's page stands there.
TAKEN = (
    "account",
    "admin",
    "api",
    "badge.svg",
    "dashboard",
    "feeds",
    "metrics",
    "health",
    "health.json",
    "healthz",
    "images",
    "oidc",
    "queues",
    "readyz",
    "records",
    "robots.txt",
    "search",
    "search.csv",
    "search.json",
    "sitemap.xml",
    "sitemaps",
    "static",
)


class SiteConverter:
    """A site's subdomain, such as `alameda.ca`."""

    regex = rf"(?!(?:{'|'.join(TAKEN)})(?:/|$))[\w][\w.-]*"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class DocumentConverter(SiteConverter):
    """The id of a published document."""

    regex = "[0-9a-f]{16}"


register_converter(SiteConverter, "site")
register_converter(DocumentConverter, "document")

app_name = "records"
urlpatterns = [
    path("records", home.front, name="home"),
    path("search", search.page, name="search"),
    path("search.csv", search.as_csv, name="search_csv"),
    path("search.json", search.as_json, name="search_json"),
    path("search/follow", follow.follow, name="follow"),
    path("search/follow/confirm/<str:token>", follow.confirm, name="confirm"),
    path("search/follow/stop/<str:token>", follow.stop, name="stop"),
    path("search/follow/all/<str:token>", follow.followed, name="followed"),
    path("feeds/search.atom", following.search_feed, name="search_feed"),
    path("robots.txt", crawlers.robots, name="robots"),
    path("sitemap.xml", crawlers.sitemap, name="sitemap"),
    path("sitemaps/<site:site_id>/<int:part>.xml", crawlers.site_map, name="site_map"),
    path("<site:site_id>", site.home, name="site"),
    path("<site:site_id>/feed.atom", following.site_feed, name="feed"),
    path("<site:site_id>/meetings.ics", following.calendar, name="calendar"),
    path("<site:site_id>/meetings", meetings.listing, name="meetings"),
    path("<site:site_id>/meetings/<document:meeting_id>", meetings.one, name="meeting"),
    path("<site:site_id>/people", people.listing, name="people"),
    path("<site:site_id>/people/<path:name>", people.one, name="person"),
    path("<site:site_id>/legislation", tables.laws, name="legislation"),
    path("<site:site_id>/legislation/<slug:kind>/<path:number>", tables.law, name="law"),
    path("<site:site_id>/tables/<slug:name>", tables.table, name="table"),
    path("<site:site_id>/tables/<slug:name>.csv", tables.download, name="download"),
    path("<site:site_id>/<document:document_id>", reader.document, name="document"),
    path("<site:site_id>/<document:document_id>/<int:page>", reader.page, name="page"),
    path("<site:site_id>/<document:document_id>/<int:page>/note", notes.leave, name="note"),
    path("<site:site_id>/<document:document_id>/operate", notes.operate, name="operate"),
    path("<site:site_id>/<document:document_id>/<int:page>/<int:width>.webp", reader.picture, name="picture"),
    path("<site:site_id>/<document:document_id>/<int:page>.txt", reader.text, name="text"),
    path("<site:site_id>/<document:document_id>/pages", reader.pages, name="pages"),
    path("<site:site_id>/<document:document_id>/original", reader.original, name="original"),
    path("<site:site_id>/<document:document_id>/changes/<document:other_id>", reader.changes, name="changes"),
]
