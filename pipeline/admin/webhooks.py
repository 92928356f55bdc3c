"""Webhooks, and what was sent to them."""

from django.contrib import admin
from django.db import models
from django.utils.safestring import SafeString

from pipeline.admin import html
from pipeline.admin.base import ReadOnly, TitledAdmin
from pipeline.models import (
    Webhook,
    WebhookDelivery,
)


@admin.register(Webhook)
class WebhookAdmin(TitledAdmin):
    list_display = ("url", "site", "events", "enabled")
    list_filter = ("enabled",)
    search_fields = ("url", "=site__subdomain")
    raw_id_fields = ("site",)
    fields = ("url", "site", "events", "secret", "enabled")
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnly, TitledAdmin):
    list_display = ("created", "event", "run", "webhook", "status", "attempts", "answer")
    list_filter = ("status", "event")
    search_fields = ("webhook__url", "=run__site__subdomain")
    list_select_related = ("webhook", "run")
    fields = (
        "created_at",
        "event",
        "run",
        "webhook",
        "status",
        "attempts",
        "answer",
        "last_attempt_at",
        "next_attempt_at",
        "delivered_at",
        "payload",
    )
    readonly_fields = fields

    @admin.display(description="created", ordering="created_at")
    def created(self, delivery: WebhookDelivery) -> SafeString:
        return html.ago(delivery.created_at)
