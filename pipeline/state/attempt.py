"""The right to work on one ledger row, and what comes of it."""

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from pipeline.errors import Fenced
from pipeline.state.guards import in_hand
from sites.models import Document
from sites.stages import Stage


@dataclass
class Attempt:
    """The right to work on one ledger row, until somebody else takes it."""

    row_id: int
    run_id: int
    site_id: str
    stage: Stage
    document_id: int | None
    unit: str
    token: uuid.UUID
    number: int
    delivery: int = 0
    done_before: int = 0
    deaths: int = 0
    resumptions: int = 0
    began: float = field(default_factory=time.monotonic)
    got_further: bool = False
    # What the tally is told of it beyond stage and outcome: the facts, the platform, an error's code.
    noted: dict[str, Any] = field(default_factory=dict)
    _reported: float = 0.0

    def elapsed(self) -> float:
        return round(time.monotonic() - self.began, 3)

    @property
    def lost_its_workers(self) -> bool:
        """Delivered again, and no attempt is left: the one before took its worker down."""
        return self.delivery > 0 and self.deaths >= settings.MAX_ATTEMPTS

    @property
    def failures(self) -> int:
        """How often the work failed, should this attempt do so too."""
        return max(self.number - self.deaths - self.resumptions, 1)

    def progress(self, done: int, total: int) -> None:
        """Show how far the work is, at most every two seconds; stops work that is no longer ours."""
        self.got_further = self.got_further or done > self.done_before
        if time.monotonic() - self._reported < 2 and done < total:
            return
        self._reported = time.monotonic()
        try:
            self._touch(progress_done=done, progress_total=total)
        except (OperationalError, InterfaceError):
            # The database was restarted; the work knows nothing of it, and the next report comes through.
            connection.close()

    def check(self) -> None:
        """Stop here if somebody else has the row by now: for work whose effect is seen outside."""
        try:
            self._touch()
        except (OperationalError, InterfaceError):
            connection.close()
            self._touch()

    def _touch(self, **values: Any) -> None:
        row = in_hand(self.row_id, self.run_id, self.token)
        if not row.update(updated_at=timezone.now(), **values):
            raise Fenced(f"row {self.row_id} was taken over")


@dataclass(frozen=True)
class Finished:
    """What work reports: facts for the ledger row, and what to record in the finishing transaction.

    `record` may return documents, which become further rows of the same stage.
    """

    facts: dict[str, Any] = field(default_factory=dict)
    record: Callable[[], Sequence[Document] | None] | None = None


@dataclass(frozen=True)
class Outcome:
    status: str
    coordinator_seq: int | None = None
    added: Sequence[int] = ()
    retry_at: datetime | None = None
