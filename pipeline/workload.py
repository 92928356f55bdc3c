"""What each stage has to do in a run, and what a site has already."""

from django.db.models import Q, QuerySet

from pipeline.models import DocumentState, Run, Status
from pipeline.order import STEPS, Units
from pipeline.state.ledger import SITE_UNIT, Work
from sites.models import Document, Site
from sites.stages import Stage
from sites.storage import SiteFiles


def work_for(site_id: str, stage: Stage) -> Work:
    """What is not processed yet; the site's own units are done anew by every run."""
    step = STEPS[stage]
    units = {Units.SITE: [SITE_UNIT], Units.SOURCES: _sources(site_id), Units.NONE: []}[step.units]
    if not step.document_job:
        return Work(units=units)
    documents = _ready(site_id, step.needs, stage) if step.needs else _begun(site_id, stage)
    return Work(units=units, documents=documents)


def _sources(site_id: str) -> list[str]:
    sources = Site.objects.get(pk=site_id).sources.filter(enabled=True)
    return [f"source:{pk}" for pk in sources.order_by("pk").values_list("pk", flat=True)]


def wanted_documents(site_id: str) -> QuerySet[Document]:
    return Document.objects.filter(site_id=site_id, skip_reason="", superseded_at=None)


def _begun(site_id: str, stage: Stage) -> QuerySet[Document]:
    """Documents that this stage took up in an earlier run and did not finish."""
    rows = DocumentState.objects.filter(site_id=site_id, pipeline=stage)
    # Nothing is asked of a source that is switched off, or gone; a file that was lost may be fetched again.
    askable = Q(source__enabled=True) | (Q(source=None) & ~Q(sha256=""))
    return (
        wanted_documents(site_id)
        .filter(askable)
        .filter(pk__in=rows.exclude(status=Status.PROCESSED).values("document_id"))
    )


def _ready(site_id: str, after: Stage, stage: Stage) -> QuerySet[Document]:
    processed = DocumentState.objects.filter(site_id=site_id, status=Status.PROCESSED, document__isnull=False)
    return (
        wanted_documents(site_id)
        .filter(pk__in=processed.filter(pipeline=after).values("document_id"))
        .exclude(pk__in=processed.filter(pipeline=stage).values("document_id"))
    )


# ---- What a site has already --------------------------------------------------------------------------


def is_taken_over(site_id: str) -> bool:
    """False while a site's records are still another system's: a run would begin them anew, without them."""
    known = Document.objects.filter(site_id=site_id), Run.objects.filter(site_id=site_id)
    if any(found.exists() for found in known):
        return True
    return not has_files(site_id)


def has_files(site_id: str) -> bool:
    try:
        return SiteFiles.of(site_id).hold_anything
    except ValueError:  # no folder can be called so
        return False


def has_passed(site_id: str, stage: Stage) -> bool:
    """Whether any document of the site ever passed this stage."""
    return _passed(site_id, stage).filter(status=Status.PROCESSED).exists()


def has_text(site_id: str) -> bool:
    """Read here, or taken over with text that is not read anew yet."""
    has_text = Q(status=Status.PROCESSED) | Q(facts__kept_text=True)
    return _passed(site_id, Stage.OCR).filter(has_text).exists()


def _passed(site_id: str, stage: Stage) -> QuerySet[DocumentState]:
    return DocumentState.objects.filter(site_id=site_id, pipeline=stage, document__isnull=False)
