"""What programs that read the whole web are told: where they may go, and what there is."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from records import towns
from records.access import is_public, readers
from records.published import records_of

# A sitemap holds at most 50,000 addresses.
PART = 40_000
# Costly for us and of no use to them: every search, every picture, every other form of the same page.
KEPT_OUT = ("/admin/", "/queues/", "/search", "/*.webp$", "/*/pages", "/*/original", "/*/changes/", "/*?")


def robots(request: HttpRequest) -> HttpResponse:
    """Records that are not public are nobody's to crawl."""
    lines = ["User-agent: *"]
    if is_public():
        lines += [f"Disallow: {path}" for path in KEPT_OUT]
        lines += ["Crawl-delay: 5", f"Sitemap: {request.build_absolute_uri(reverse('records:sitemap'))}"]
    else:
        lines.append("Disallow: /")
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")


@readers
def sitemap(request: HttpRequest) -> HttpResponse:
    """One map per site, or several where it has very many documents."""
    parts = [
        request.build_absolute_uri(reverse("records:site_map", args=(town.id, part)))
        for town in towns.towns()
        for part in range(1, town.documents // PART + 2)
    ]
    return render(request, "records/sitemap.xml", {"maps": parts}, content_type="application/xml")


@readers
def site_map(request: HttpRequest, site_id: str, part: int) -> HttpResponse:
    with records_of(site_id) as records:
        documents = records.documents(
            "WHERE NOT coalesce(superseded, 0) AND pages > 0 ORDER BY id LIMIT ? OFFSET ?",
            *(PART, max(part - 1, 0) * PART),
        )
    if not documents:
        raise Http404("this map has no such part")
    host = request.build_absolute_uri("/").rstrip("/")
    context = {"host": host, "site_id": site_id, "documents": documents}
    return render(request, "records/site_map.xml", context, content_type="application/xml")
