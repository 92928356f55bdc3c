"""`manage.py search_index`: the index over all sites, brought up to what is deployed, checked, rebuilt."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from pipeline.management.terminal.base import COULD_NOT, FAILED, OperatorCommand
from pipeline.stages.deploy import served
from pipeline.work.index import generations, upkeep
from pipeline.work.index.writing import Synced


class Command(OperatorCommand):
    help = (
        "Bring the search index up to what is deployed. Every deploy does so for its site; this is for an "
        "index that is new, was lost, or lies on a machine that deploys nothing itself."
    )
    examples = """\
examples:
  manage.py search_index                 # only what is missing or old
  manage.py search_index --check         # compare document by document, change nothing
  manage.py search_index --rebuild       # anew from the deployed databases; the old one serves meanwhile
  manage.py search_index --optimize      # anew only if that makes it smaller or quicker; from cron, at night

Exit code 0: done, or no difference; 1: --check found differences; 2: the index cannot be read or written.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--rebuild", action="store_true", help="write it anew, beside the one that serves")
        what.add_argument("--check", action="store_true", help="compare it with what is deployed")
        what.add_argument("--optimize", action="store_true", help="write it anew if that is worth it")

    def handle(self, *, rebuild: bool, check: bool, optimize: bool, **options: Any) -> str | None:
        root = Path(settings.SEARCH_INDEX_DIR)
        try:
            if check:
                return self._check(root)
            if optimize and not upkeep.is_worn(root):
                return f"nothing to gain: {_shape(root)}"
            if rebuild or optimize:
                sites = upkeep.rebuild(root, served, self._say)
                return f"{sites} sites indexed: {_shape(root)}"
            behind = upkeep.update(root, served(), self._say)
            return f"{behind} sites were not as deployed: {_shape(root)}"
        except (ValueError, OSError) as error:
            raise CommandError(f"{root}: {error}", returncode=COULD_NOT) from error

    def _check(self, root: Path) -> str:
        found = list(upkeep.differences(root, served(), thorough=True))
        for difference in found:
            self.stdout.write(str(difference))
        if found:
            raise CommandError(
                f"{len(found)} differences; `manage.py search_index` fixes them", returncode=FAILED
            )
        return f"the index is what is deployed: {_shape(root)}"

    def _say(self, synced: Synced) -> None:
        self.stdout.write(
            f"{synced.site}: {synced.pages} pages of {len(synced.added) + len(synced.changed)} documents"
            f" indexed, {len(synced.removed)} documents taken out"
        )


def _shape(root: Path) -> str:
    folder = generations.serving(root)
    if folder is None:
        return "there is no index"
    shape = generations.shape_of(folder)
    return (
        f"{shape.pages} entries in {shape.segments} pieces, {shape.deleted} deleted ones among them,"
        f" {shape.bytes / 2**20:.1f} MB"
    )
