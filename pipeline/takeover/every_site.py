"""Taking over every site of the old system: what storage holds becomes documents, ledger rows and counts."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from django.db import IntegrityError

from pipeline.errors import Fenced
from pipeline.models import Adoption, Intervention, Run
from pipeline.takeover import old_rows, one_site
from pipeline.takeover.holdings import warm_reader
from pipeline.takeover.needs import check_database, check_storage
from pipeline.takeover.old_rows import OldSite
from pipeline.takeover.one_site import Adopted
from sites.storage import SiteFiles

BY = "adopt_sites"


@dataclass
class AdoptionReport:
    """What was done, or would be. `later` are sites in a run, to be looked at when it has ended."""

    dry_run: bool
    sites: list[Adopted] = field(default_factory=list)
    already: int = 0
    later: list[str] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)


def adopt(
    *,
    dry_run: bool,
    only: Collection[str] = (),
    tell: Callable[[Adopted | str], None] = lambda what: None,
) -> AdoptionReport:
    """Each site once, whole or not at all; run again, it goes on where it was stopped.

    `tell` hears of every site, of some with nothing to say.
    """
    check_database()
    check_storage()
    report = AdoptionReport(dry_run)
    with warm_reader():
        for old in old_rows.every_site():
            if not only or old.site_id in only:
                _adopt_one(old, report, tell)
    if not dry_run and report.sites:
        _note(report)
    return report


def _adopt_one(old: OldSite, report: AdoptionReport, tell: Callable[[Adopted | str], None]) -> None:
    site_id = old.site_id
    try:
        if _is_adopted(site_id):
            report.already += 1
            return tell("")
        if Run.objects.running().filter(site_id=site_id).exists():
            report.later.append(site_id)
            return tell(f"{site_id}: in a run; run this again when it has ended")
        adopted = _take(old, report.dry_run)
    except (OSError, ValueError) as error:
        report.unreadable[site_id] = str(error)
        return tell(f"{site_id}: left as it was, its storage cannot be read ({error})")
    except (IntegrityError, Fenced):
        if not Run.objects.filter(site_id=site_id).exists():
            raise
        report.already += 1  # another one of these commands was faster
        return tell("")
    report.sites.append(adopted)
    return tell(adopted)


def _is_adopted(site_id: str) -> bool:
    """One that had nothing when it was taken over is looked at again: its disk may be back."""
    adoption = Adoption.objects.filter(pk=site_id).first()
    return adoption is not None and (adoption.documents > 0 or not SiteFiles.of(site_id).hold_anything)


def _take(old: OldSite, dry_run: bool) -> Adopted:
    if dry_run:
        return one_site.foresee(old)
    if Run.objects.filter(site_id=old.site_id).exists():
        return one_site.add_missing(old.site_id, BY)
    return one_site.write(old, BY)


def _note(report: AdoptionReport) -> None:
    details = {
        "sites": len(report.sites),
        "documents": sum(adopted.holdings.documents for adopted in report.sites),
        "pages": sum(adopted.holdings.pages for adopted in report.sites),
    }
    Intervention.objects.create(action=BY, reason="taking over the old system", by=BY, details=details)
