"""The stages of the pipeline, their order, and how far a site is in each."""

from dataclasses import dataclass

from django.db import models


class Stage(models.TextChoices):
    FETCH = "fetch", "Fetch"
    OCR = "ocr", "OCR"
    COMPILATION = "compilation", "Compilation"
    EXTRACTION = "extraction", "Extraction"
    DEPLOY = "deploy", "Deploy"
    COMPLETED = "completed", "Completed"


# The stages that have jobs and counters, in order.
WORK_STAGES = (Stage.FETCH, Stage.OCR, Stage.COMPILATION, Stage.EXTRACTION, Stage.DEPLOY)

# Stages of one wave run side by side; the next wave waits for all of them.
WAVES = ((Stage.FETCH,), (Stage.OCR,), (Stage.COMPILATION, Stage.EXTRACTION), (Stage.DEPLOY,))


def wave_of(stage: str) -> tuple[Stage, ...]:
    return next(wave for wave in WAVES if stage in wave)


def current_stage_of(wave: tuple[Stage, ...]) -> Stage:
    """What `current_stage` says while this wave runs: its last stage, so `extraction` for the pair."""
    return wave[-1]


@dataclass(frozen=True)
class Progress:
    total: int
    completed: int
    failed: int

    @property
    def done(self) -> int:
        return self.completed + self.failed

    @property
    def is_over(self) -> bool:
        return self.total <= self.done
