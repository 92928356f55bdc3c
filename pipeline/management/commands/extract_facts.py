"""`manage.py extract_facts`: read facts again where the rules are newer than the facts."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from pipeline import records
from sites.models import Site


class Command(BaseCommand):
    help = (
        "Read the facts of every document again that were found by other rules than today's, or in another "
        "text. Nothing is published: the site's next deploy does that."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--site", action="append", help="only this site; may be given again")

    def handle(self, *, site: list[str] | None, **options: Any) -> str:
        sites = Site.objects.filter(pk__in=site) if site else Site.objects.all()
        unknown = sorted(set(site or ()) - {each.pk for each in sites})
        if unknown:
            raise CommandError(f"there is no site {', '.join(unknown)}")
        anew = total = 0
        for each in sites.order_by("pk"):
            for document in records.read_documents(each.pk):
                anew += not records.extract_document(document).cached
                total += 1
        return f"{anew} of {total} documents read anew"
