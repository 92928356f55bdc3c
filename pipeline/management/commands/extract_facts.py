"""`manage.py extract_facts`: read facts again where the rules are newer than the facts."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from pipeline.errors import PipelineError
from pipeline.management.terminal.base import FAILED, OperatorCommand, known_sites
from pipeline.stages.documents import read_documents
from pipeline.stages.extraction import extract_document
from sites.models import Site


class Command(OperatorCommand):
    help = (
        "Read the facts of every document again that were found by other rules than today's, or in another "
        "text. Nothing is published: the site's next deploy does that."
    )

    examples = """\
examples:
  manage.py extract_facts                        # after an upgrade with new rules
  manage.py extract_facts --site alameda.ca

Exit code 0: all facts are up to date; 1: some documents could not be read, and are named.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--site", action="append", default=[], metavar="SITE", help="only this one; repeat"
        )

    def handle(self, *, site: list[str], **options: Any) -> None:
        wanted = known_sites(site) or Site.objects.order_by("pk").values_list("pk", flat=True)
        anew = total = failed = 0
        for site_id in wanted:
            for document in read_documents(site_id):
                total += 1
                try:
                    anew += not extract_document(document).cached
                except PipelineError as error:  # the rest can be read all the same
                    failed += 1
                    self.stderr.write(f"{document} (document {document.pk}): {error.code}: {error}")
        self.stdout.write(f"{anew} of {total} documents read anew")
        if failed:
            raise CommandError(f"{failed} of {total} documents could not be read", returncode=FAILED)
