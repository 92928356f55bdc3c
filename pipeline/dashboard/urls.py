"""The pages of the pipeline."""

from django.urls import path

from pipeline.dashboard.views import dashboard

urlpatterns = [
    path("dashboard/", dashboard, name="dashboard"),
]
