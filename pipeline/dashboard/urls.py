"""The pages of the pipeline."""

from django.urls import path

from pipeline.dashboard.views import dashboard, help_workers

urlpatterns = [
    path("dashboard/", dashboard, name="dashboard"),
    path("dashboard/workers/", help_workers, name="help_workers"),
]
