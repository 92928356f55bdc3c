"""Webhooks, and what was sent to them."""

from django import forms
from django.contrib import admin
from django.utils.safestring import SafeString

from pipeline.admin import html
from pipeline.admin.base import ReadOnly, TitledAdmin
from pipeline.models import (
    Webhook,
    WebhookDelivery,
    list_of_events,
)


class WebhookForm(forms.ModelForm):
    """Events to tick; the secret is typed and never shown again."""

    url = forms.URLField(max_length=500, assume_scheme="https")
    events = forms.MultipleChoiceField(
        choices=Webhook.Event.choices, widget=forms.CheckboxSelectMultiple, initial=list_of_events
    )
    secret = forms.CharField(
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="Signs what is sent. Leave it empty to keep the one that is there, or to have one made.",
    )

    class Meta:
        model = Webhook
        fields = ("url", "site", "events", "secret", "enabled")

    def clean_secret(self) -> str:
        return self.cleaned_data["secret"] or self.instance.secret


@admin.register(Webhook)
class WebhookAdmin(TitledAdmin):
    list_display = ("url", "site", "events", "enabled")
    list_filter = ("enabled",)
    search_fields = ("url", "=site__subdomain")
    raw_id_fields = ("site",)
    form = WebhookForm
    fields = ("url", "site", "events", "secret", "enabled")


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
