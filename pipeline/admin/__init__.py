"""The admin: it shows and starts; it never edits state."""

from django.contrib import admin

from pipeline.admin import (
    alarms,
    bulk,
    documents,
    errors,
    job_log,
    ledger,
    records,
    runs,
    scheduling,
    sites,
    webhooks,
)

__all__ = [
    "alarms",
    "bulk",
    "documents",
    "errors",
    "job_log",
    "ledger",
    "records",
    "runs",
    "scheduling",
    "sites",
    "webhooks",
]

admin.site.site_header = "Clerk"
admin.site.site_title = "Clerk"
admin.site.index_title = "Everything"
admin.site.site_url = None
admin.site.enable_nav_sidebar = False
