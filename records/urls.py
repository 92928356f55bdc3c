"""The addresses of the records. They are for ever: people cite them."""

from django.urls import path, register_converter

from records.views import home

# The first words of every other address of Clerk; no site's page stands there.
TAKEN = (
    "admin",
    "api",
    "dashboard",
    "feeds",
    "metrics",
    "health",
    "images",
    "queues",
    "records",
    "search",
    "static",
)


class SiteConverter:
    """A site's subdomain, such as `alameda.ca`."""

    regex = rf"(?!(?:{'|'.join(TAKEN)})(?:/|$))[\w][\w.-]*"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(SiteConverter, "site")

app_name = "records"
urlpatterns = [
    path("records", home.front, name="home"),
]
