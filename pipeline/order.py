"""The order of the pipeline, in one table: what each stage runs, on what, and after which other."""

from dataclasses import dataclass
from enum import Enum

from sites.stages import Stage


class Units(Enum):
    """What a stage works on besides documents."""

    NONE = "none"
    SITE = "the site as a whole"
    SOURCES = "each of its sources"


@dataclass(frozen=True)
class Step:
    """One stage: its entry points in the queue, and what it has to do in a run."""

    document_job: str = ""
    unit_job: str = ""
    units: Units = Units.NONE
    # Documents that are processed in this stage are ready for ours; none: those it has begun itself.
    needs: Stage | None = None
    # Whether the site cannot go on where this stage failed.
    required: bool = False


STEPS = {
    Stage.FETCH: Step("pipeline.jobs.download_document", "pipeline.jobs.list_source", units=Units.SOURCES),
    Stage.OCR: Step("pipeline.jobs.ocr_document", "pipeline.jobs.find_missing_document", needs=Stage.FETCH),
    Stage.COMPILATION: Step(unit_job="pipeline.jobs.compile_site", units=Units.SITE, required=True),
    Stage.EXTRACTION: Step("pipeline.jobs.extract_document", needs=Stage.OCR),
    Stage.DEPLOY: Step(unit_job="pipeline.jobs.deploy_site", units=Units.SITE, required=True),
}


def stages_with_documents() -> tuple[Stage, ...]:
    return tuple(stage for stage, step in STEPS.items() if step.document_job)
