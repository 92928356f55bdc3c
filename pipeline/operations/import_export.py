"""Sites and their sources as one CSV or JSON file, out and in."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction

from pipeline.errors import PipelineError
from pipeline.work.fetch.registry import fetcher_class
from sites.keys import is_key
from sites.models import Site, Source

SITE_FIELDS = (
    "name",
    "state",
    "kind",
    "country",
    "lat",
    "lng",
    "start_year",
    "time_zone",
    "languages",
    "scraper",
    "extra",
)
SOURCE_FIELDS = ("platform", "url", "options", "enabled")
COLUMNS = ("subdomain", *SITE_FIELDS, *SOURCE_FIELDS)
_NOT_NULL = {"time_zone", "languages"}


class BadList(ValueError):
    """The file cannot be taken as it is; every reason is a line. Nothing was saved."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass
class Record:
    """A site with its sources, as a file says it; fields that the file lacks are left as they are."""

    subdomain: str
    values: dict[str, Any] = field(default_factory=dict)
    sources: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Summary:
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    sources_created: int = 0
    sources_updated: int = 0


# ---- Out ----------------------------------------------------------------------------------------------


def export_json(sites: Iterable[Site]) -> str:
    rows = [
        {"subdomain": site.pk}
        | {name: getattr(site, name) for name in SITE_FIELDS}
        | {
            "sources": [
                {name: getattr(source, name) for name in SOURCE_FIELDS} for source in site.sources.all()
            ]
        }
        for site in sites
    ]
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


def export_csv(sites: Iterable[Site]) -> str:
    """One line per source; a site without sources has one line."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for site in sites:
        values = {"subdomain": site.pk} | {name: getattr(site, name) for name in SITE_FIELDS}
        sources = [_source_cells(source) for source in site.sources.all()]
        writer.writerows(values | cells for cells in sources or [{}])
    return text.getvalue()


def _source_cells(source: Source) -> dict[str, Any]:
    options = json.dumps(source.options) if source.options else ""
    return {
        "platform": source.platform,
        "url": source.url,
        "options": options,
        "enabled": int(source.enabled),
    }


# ---- In -----------------------------------------------------------------------------------------------


def format_of(file: Path) -> str:
    """By its name: `csv`, and JSON for anything else."""
    return "csv" if file.suffix.lower() == ".csv" else "json"


def read_json(text: str) -> list[Record]:
    try:
        rows = json.loads(text)
    except ValueError as error:
        raise BadList([f"not JSON: {error}"]) from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadList(["expected a list of sites"])
    problems: list[str] = []
    records = []
    for number, row in enumerate(rows, start=1):
        unknown = set(row) - {"subdomain", *SITE_FIELDS, "sources"}
        problems += [f"site {number}: there is no field {name!r}" for name in sorted(unknown)]
        values = {name: row[name] for name in SITE_FIELDS if name in row}
        records.append(Record(str(row.get("subdomain") or ""), values, list(row.get("sources") or [])))
    return _checked(records, problems)


def read_csv(text: str) -> list[Record]:
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    unknown = set(reader.fieldnames or ()) - set(COLUMNS)
    problems = [f"there is no column {name!r}" for name in sorted(str(name) for name in unknown)]
    if "subdomain" not in (reader.fieldnames or ()):
        raise BadList([*problems, "the column 'subdomain' is missing"])
    records: dict[str, Record] = {}
    for number, row in enumerate(reader, start=2):
        subdomain = (row.get("subdomain") or "").strip()
        record = records.setdefault(subdomain, Record(subdomain))
        record.values |= {name: row[name].strip() for name in SITE_FIELDS if row.get(name)}
        try:
            record.sources += _source_of(row)
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    return _checked(list(records.values()), problems)


def _source_of(row: Mapping[str, str]) -> list[dict[str, Any]]:
    if not row.get("platform") and not row.get("url"):
        return []
    try:
        options = json.loads(row.get("options") or "{}")
    except ValueError as error:
        raise ValueError(f"options are not JSON: {error}") from error
    enabled = (row.get("enabled") or "1").strip().lower() in ("1", "true", "yes", "on")
    return [{"platform": row.get("platform"), "url": row.get("url"), "options": options, "enabled": enabled}]


def _checked(records: list[Record], problems: list[str]) -> list[Record]:
    for record in records:
        problems += _problems_of(record)
    seen: set[str] = set()
    problems += [f"{record.subdomain}: listed twice" for record in records if _again(record.subdomain, seen)]
    if problems:
        raise BadList(problems)
    return records


def _again(name: str, seen: set[str]) -> bool:
    known = name in seen
    seen.add(name)
    return known


def _problems_of(record: Record) -> Iterator[str]:
    if not is_key(record.subdomain):
        yield f"{record.subdomain!r} cannot name a site: small letters, digits, dots, hyphens"
    year = record.values.get("start_year")
    if year not in (None, ""):
        if not str(year).isdigit() or not 1900 <= int(year) <= 2100:
            yield f"{record.subdomain}: start_year {year!r} is not a year"
        else:
            record.values["start_year"] = int(year)
    for source in record.sources:
        yield from _source_problems(record.subdomain, source)


def _source_problems(subdomain: str, source: dict[str, Any]) -> Iterator[str]:
    unknown = set(source) - set(SOURCE_FIELDS)
    yield from (f"{subdomain}: a source has no field {name!r}" for name in sorted(unknown))
    if not source.get("url"):
        yield f"{subdomain}: a source has no url"
    try:
        fetcher_class(str(source.get("platform") or "")).check_options(source.get("options") or {})
    except PipelineError as error:
        yield f"{subdomain}: {error}"


def save(records: Iterable[Record], *, dry_run: bool = False) -> Summary:
    """All of it or nothing. A second time changes nothing."""
    summary = Summary()
    with transaction.atomic():
        for record in records:
            _save_site(record, summary)
        transaction.set_rollback(dry_run)
    return summary


def _save_site(record: Record, summary: Summary) -> None:
    values = {
        name: value if value not in (None, "") or name not in _NOT_NULL else ""
        for name, value in record.values.items()
    }
    site, new = Site.objects.get_or_create(subdomain=record.subdomain, defaults=values)
    changed = [name for name, value in values.items() if getattr(site, name) != value]
    if changed:
        # Only what the file says: the counters beside these fields belong to the workers.
        Site.objects.filter(pk=site.pk).update(**{name: values[name] for name in changed})
    summary.created += new
    summary.updated += bool(changed) and not new
    summary.unchanged += not changed and not new
    for source in record.sources:
        _save_source(site, source, summary)


def _save_source(site: Site, wanted: Mapping[str, Any], summary: Summary) -> None:
    values = {"options": wanted.get("options") or {}, "enabled": bool(wanted.get("enabled", True))}
    source, new = Source.objects.get_or_create(
        site=site, platform=wanted["platform"], url=wanted["url"], defaults=values
    )
    changed = {name: value for name, value in values.items() if getattr(source, name) != value}
    if changed:
        Source.objects.filter(pk=source.pk).update(**changed)
    summary.sources_created += new
    summary.sources_updated += bool(changed) and not new
