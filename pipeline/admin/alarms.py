"""Alarms, the channels that are told of them, and every message."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from pipeline.admin import html
from pipeline.admin.base import ReadOnly, TitledAdmin
from pipeline.admin.confirm import Act, ActingAdmin
from pipeline.flow import Refused
from pipeline.models import Alarm, AlarmKind, Channel, Notice, Notification
from pipeline.operations.channels import send_test
from pipeline.operations.interventions import ActOutcome, Operator, for_each
from pipeline.work.notify import check_address


def _test(chosen: QuerySet[Any], operator: Operator) -> ActOutcome:
    def act(channel: Channel) -> Notification:
        message = send_test(channel, operator.by)
        if message.status != Notification.Status.DELIVERED:
            raise Refused(f"{channel}: {message.answer}")
        return message

    return for_each(chosen, act)


class ChannelForm(forms.ModelForm):
    """The address of a chat is a key: it is typed once, and never shown again."""

    address = forms.CharField(
        required=False,
        widget=forms.PasswordInput(attrs={"size": 60, "autocomplete": "off"}),
        help_text="Mail addresses with commas, or one Apprise address (docs/notifications.md). "
        "Empty: as it was.",
    )
    kinds = forms.MultipleChoiceField(choices=AlarmKind, widget=forms.CheckboxSelectMultiple)

    class Meta:
        model = Channel
        fields = ("name", "way", "address", "kinds", "quiet_from", "quiet_until", "digest_hour", "enabled")

    def clean_address(self) -> str:
        address: str = self.cleaned_data["address"].strip() or (
            self.instance.address if self.instance.pk else ""
        )
        if not address:
            raise ValidationError("Where is it to be told?")
        if self.cleaned_data.get("way") == Channel.Way.APPRISE and not check_address(address):
            raise ValidationError("Apprise knows no such kind of address.")
        return address


@admin.register(Channel)
class ChannelAdmin(ActingAdmin):
    form = ChannelForm
    list_display = ("name", "way", "where", "enabled", "digest_hour", "off_reason")
    list_filter = ("enabled", "way")
    fieldsets = (
        (None, {"fields": (("name", "enabled"), "way", "where", "address", "off_reason")}),
        ("What and when", {"fields": ("kinds", ("quiet_from", "quiet_until"), "digest_hour")}),
    )
    readonly_fields = ("where", "off_reason")
    acts = (
        Act("test", "Send a test", "Each gets a message now, and you see what was answered.", here=_test),
    )

    @admin.display(description="now told at")
    def where(self, channel: Channel) -> str:
        return channel.shown_address

    def save_model(self, request: HttpRequest, obj: Channel, form: Any, change: bool) -> None:
        if obj.enabled:  # a person has looked at it
            obj.off_reason, obj.failures = "", 0
        super().save_model(request, obj, form, change)


@admin.register(Alarm)
class AlarmAdmin(ReadOnly, TitledAdmin):
    list_display = ("title", "kind", "state", "opened", "resolved")
    list_filter = (("resolved_at", admin.EmptyFieldListFilter), "kind")
    search_fields = ("=site__subdomain", "title")
    fields = ("title", "kind", "site", "message", "seen_at", "opened_at", "resolved_at", "told")
    readonly_fields = fields

    @admin.display(description="state")
    def state(self, alarm: Alarm) -> SafeString:
        if alarm.resolved_at:
            return html.badge("resolved", "good")
        return html.badge("open", "bad") if alarm.opened_at else html.badge("just seen", "quiet")

    @admin.display(description="opened", ordering="opened_at")
    def opened(self, alarm: Alarm) -> SafeString:
        return html.ago(alarm.opened_at)

    @admin.display(description="resolved", ordering="resolved_at")
    def resolved(self, alarm: Alarm) -> SafeString:
        return html.ago(alarm.resolved_at)

    @admin.display(description="told to")
    def told(self, alarm: Alarm) -> str:
        notices = Notice.objects.filter(alarm=alarm).select_related("channel", "notification")
        said = [
            f"{one.channel}: {one.phase}, {one.notification.status}" for one in notices if one.notification
        ]
        return "; ".join(said) or "nobody yet"


@admin.register(Notification)
class NotificationAdmin(ReadOnly, TitledAdmin):
    list_display = ("created", "channel", "what", "title", "status", "attempts", "answer")
    list_filter = ("status", "what", "channel")
    search_fields = ("title",)
    list_select_related = ("channel",)
    fields = (
        "created_at",
        "channel",
        "what",
        "title",
        "body",
        "status",
        "attempts",
        "answer",
        "delivered_at",
    )
    readonly_fields = fields

    @admin.display(description="created", ordering="created_at")
    def created(self, message: Notification) -> SafeString:
        return html.ago(message.created_at)
