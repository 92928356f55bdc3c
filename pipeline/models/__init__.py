"""Runs, the ledger, interventions, decisions, webhooks. Migrations name this path: it does not move."""

from pipeline.models.decisions import Correction, Decision, Intervention, Takedown
from pipeline.models.history import Adoption, Publication
from pipeline.models.ledger import LEFT_OUT, WITHOUT_TEXT, DocumentState, Status
from pipeline.models.runs import ReconcileRun, Run, RunStage
from pipeline.models.webhooks import Webhook, WebhookDelivery, list_of_events

__all__ = [
    "LEFT_OUT",
    "WITHOUT_TEXT",
    "Adoption",
    "Correction",
    "Decision",
    "DocumentState",
    "Intervention",
    "Publication",
    "ReconcileRun",
    "Run",
    "RunStage",
    "Status",
    "Takedown",
    "Webhook",
    "WebhookDelivery",
    "list_of_events",
]
