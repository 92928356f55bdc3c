"""Runs, the ledger, acts, schedules, alarms, errors. Migrations name this path: it does not move."""

from pipeline.models.alarms import Alarm, AlarmKind, Channel, Notice, Notification, all_kinds
from pipeline.models.bulk import BulkAct, BulkItem
from pipeline.models.decisions import Correction, Decision, Intervention, Retirement, Takedown
from pipeline.models.history import Adoption, Publication
from pipeline.models.ledger import LEFT_OUT, WITHOUT_TEXT, DocumentState, Status
from pipeline.models.looks import Look
from pipeline.models.runs import ReconcileRun, Run, RunStage
from pipeline.models.schedule import Rhythm, Schedule
from pipeline.models.sources import Silence, SourceListing, SourceState
from pipeline.models.trouble import ErrorDay, ErrorGroup, LogLine
from pipeline.models.webhooks import Webhook, WebhookDelivery, list_of_events

__all__ = [
    "LEFT_OUT",
    "WITHOUT_TEXT",
    "Adoption",
    "Alarm",
    "AlarmKind",
    "BulkAct",
    "BulkItem",
    "Channel",
    "Correction",
    "Decision",
    "DocumentState",
    "ErrorDay",
    "ErrorGroup",
    "Intervention",
    "LogLine",
    "Look",
    "Notice",
    "Notification",
    "Publication",
    "ReconcileRun",
    "Retirement",
    "Rhythm",
    "Run",
    "RunStage",
    "Schedule",
    "Silence",
    "SourceListing",
    "SourceState",
    "Status",
    "Takedown",
    "Webhook",
    "WebhookDelivery",
    "all_kinds",
    "list_of_events",
]
