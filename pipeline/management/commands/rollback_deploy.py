"""`manage.py rollback_deploy SITE`: serve an earlier version again."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from pipeline.errors import PipelineError
from pipeline.management.terminal.base import COULD_NOT, FAILED, OperatorCommand, add_operator, known_sites
from pipeline.models import Intervention
from pipeline.stages.deploy import targets
from pipeline.work.deploy import Target


class Command(OperatorCommand):
    help = "Serve an earlier version of a site's database again, on every target that keeps versions."
    examples = """\
examples:
  manage.py rollback_deploy alameda.ca --list
  manage.py rollback_deploy alameda.ca --dry-run
  manage.py rollback_deploy alameda.ca --reason "minutes of the wrong city"
  manage.py pause_site alameda.ca                # or its next run publishes anew

Exit code 0: done; 1: there is no such version, and nothing was changed; 2: no such site, or a target that
does not answer.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE", help="a subdomain, e.g. alameda.ca")
        parser.add_argument(
            "--to", metavar="VERSION", help="a kept version (default: the one before the current)"
        )
        parser.add_argument("--list", action="store_true", help="show the kept versions and change nothing")
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would be served and change nothing"
        )
        add_operator(parser)

    def handle(
        self, *, site: str, to: str | None, list: bool, dry_run: bool, by: str, reason: str, **options: Any
    ) -> None:
        known_sites([site])
        switched = []
        try:
            for url, target in targets():
                versions = target.versions(site)
                if list:
                    self._list(url, versions, target.current(site))
                elif versions:
                    switched.append(self._switch(url, target, site, to, dry_run))
        except PipelineError as error:
            code = COULD_NOT if error.retryable else FAILED
            raise CommandError(str(error), returncode=code) from error
        if not list and not switched:
            raise CommandError(f"no target keeps versions of {site}", returncode=FAILED)
        if switched and not dry_run:
            details = {"versions": sorted(set(switched))}
            Intervention.objects.create(
                site_id=site, action="rollback", reason=reason, by=by, details=details
            )

    def _list(self, url: str, versions: list[str], current: str | None) -> None:
        self.stdout.write(url)
        for version in versions:
            self.stdout.write(f"  {version}{'  (served)' if version == current else ''}")

    def _switch(self, url: str, target: Target, site: str, to: str | None, dry_run: bool) -> str:
        version = to or _before(target.versions(site), target.current(site))
        if version is None:
            raise CommandError(
                f"{url} keeps no version of {site} before {target.current(site)}", returncode=FAILED
            )
        if dry_run:
            self.stdout.write(f"{url}: would serve {version} instead of {target.current(site)}")
        else:
            published = target.switch(site, version)
            self.stdout.write(f"{url}: serves {published.version}, before it {published.previous}")
        return version


def _before(versions: list[str], current: str | None) -> str | None:
    earlier = [version for version in versions if current is None or version < current]
    return earlier[-1] if earlier else None
