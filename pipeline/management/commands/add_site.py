"""Add a site from the address at which it publishes."""

import json
from collections.abc import Sequence
from datetime import date
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from pipeline.errors import PipelineError
from pipeline.management.terminal.base import COULD_NOT, OperatorCommand
from pipeline.operations import add_site, looking
from pipeline.operations.add_site import Preview
from pipeline.work.fetch import diagnosis
from pipeline.work.fetch.refs import DocRef

ABOUT = {
    "name": "e.g. Alameda",
    "state": "US state, two letters",
    "kind": "city, county, school board …",
    "country": "e.g. US",
    "time_zone": "e.g. America/Los_Angeles",
}


class Command(OperatorCommand):
    help = "Recognise what publishes the records at URL, show what would be fetched, and add the site."
    examples = """\
examples:
  manage.py add_site https://www.springfield.gov/meetings --dry-run    # what is it, what would be fetched?
  manage.py add_site https://www.springfield.gov/meetings --subdomain springfield.il --state IL
  manage.py add_site https://springfield.iqm2.com --subdomain springfield.il    # a second source
  manage.py add_site https://www.springfield.gov/old --platform generic --option match=minutes

The platforms and their options are in docs/fetchers.md. Exit code 0: added, or shown; 1: nothing was added.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url", metavar="URL", help="a page that lists meetings or their documents")
        parser.add_argument(
            "--subdomain", default="", help="the site's key, e.g. alameda.ca; made from URL if absent"
        )
        for name, what in ABOUT.items():
            parser.add_argument(f"--{name.replace('_', '-')}", default="", help=what)
        parser.add_argument("--start-year", type=int, help="how far back its documents are fetched")
        parser.add_argument("--platform", default="", help="do not guess, use this fetcher")
        parser.add_argument(
            "--option", action="append", default=[], metavar="NAME=VALUE", help="for --platform"
        )
        parser.add_argument(
            "--every", action="store_true", help="add every platform found, not only the likeliest"
        )
        parser.add_argument("--dry-run", action="store_true", help="only show, save nothing")
        parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")

    def handle(self, *, url: str, subdomain: str, state: str, dry_run: bool, **options: Any) -> str:
        if not options["platform"]:
            url = _address(url)
        previews = self._look(url, options["platform"], options["option"], timezone.localdate())
        picked = add_site.chosen(previews, options["every"])
        name = subdomain or add_site.suggest_subdomain(url, state)
        created = None
        if picked and not dry_run:
            values = {key: options[key] for key in ("name", "kind", "country", "time_zone", "start_year")}
            created = self._create(name, picked, values | {"state": state})
        if options["json"]:
            return _as_json(name, previews, picked, created)
        self._show(previews, picked)
        if not picked:
            raise CommandError(
                "nothing here lists documents; name the fetcher with --platform, or try another page"
            )
        if created is None:
            return f"Would add {name} with {len(picked)} source(s) (dry-run)"
        known = "" if created.new_site else " (the site was there already)"
        return f"Added {len(created.sources)} source(s) to {created.site.pk}{known}"

    def _look(self, url: str, platform: str, given: list[str], today: date) -> list[Preview]:
        try:
            with add_site.open_client() as client:
                if platform:
                    return [add_site.look_as(platform, url, _options(given), client, today)]
                return add_site.preview(url, client, today)
        except PipelineError as error:
            wrong = diagnosis.DIAGNOSES.get(diagnosis.code_of(error))
            told = f"{wrong.says} {wrong.advice} " if wrong else ""
            raise CommandError(f"{told}({error.code}: {error})") from error

    def _create(self, name: str, picked: Sequence[Preview], values: dict[str, Any]) -> add_site.Created:
        try:
            return add_site.create(name, picked, **values)
        except PipelineError as error:
            raise CommandError(str(error)) from error

    def _show(self, previews: Sequence[Preview], picked: Sequence[Preview]) -> None:
        for preview in previews:
            mark = "*" if preview in picked else " "
            self.stdout.write(
                f"{mark} {preview.label} ({preview.platform}), {preview.confidence:.0%}: {preview.reason}"
            )
            self.stdout.write(f"    {preview.url}")
            self.stdout.write(f"    {preview.error or _counts(preview)}")
            if preview in picked:
                for ref in preview.newest():
                    self.stdout.write(f"      {_line(ref)}")


def _address(text: str) -> str:
    """https:// is put in front; a name alone is answered with where such a city usually is."""
    url = looking.address_of(text)
    if not url:
        meant = " or ".join(looking.did_you_mean(text)) or "https://…"
        raise CommandError(f"{text!r} is no address; did you mean {meant}?", returncode=COULD_NOT)
    return url


def _counts(preview: Preview) -> str:
    return f"{len(preview.refs)} documents of {len(preview.bodies)} bodies in the trailing window"


def _line(ref: DocRef) -> str:
    off = " CANCELLED" if ref.cancelled else ""
    return f"{ref.date or 'undated'!s:<10}  {ref.kind:<8} {ref.body}: {ref.title}{off}"


def _options(given: Sequence[str]) -> dict[str, Any]:
    """`--option committees='["A9HDX937D70D"]'`: JSON where it is JSON, else text."""
    found: dict[str, Any] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals:
            raise CommandError(f"--option {pair}: expected NAME=VALUE")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _as_json(
    name: str, previews: Sequence[Preview], picked: Sequence[Preview], created: add_site.Created | None
) -> str:
    found = [
        {
            "platform": preview.platform,
            "label": preview.label,
            "url": preview.url,
            "confidence": round(preview.confidence, 2),
            "reason": preview.reason,
            "error": preview.error,
            "documents": len(preview.refs),
            "bodies": preview.bodies,
            "newest": [
                vars(ref) | {"date": str(ref.date or ""), "time": str(ref.time or "")}
                for ref in preview.newest()
            ],
            "picked": preview in picked,
        }
        for preview in previews
    ]
    added = [source.pk for source in created.sources] if created else []
    return json.dumps(
        {"subdomain": name, "saved": created is not None, "sources": added, "found": found}, indent=2
    )
