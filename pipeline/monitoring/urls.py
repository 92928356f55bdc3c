"""The addresses of the monitors; the probes are answered by their middleware."""

from django.urls import path

from pipeline.monitoring import views

urlpatterns = [
    path("health.json", views.health_json, name="health_json"),
    path("badge.svg", views.badge_svg, name="badge"),
    path("metrics", views.figures, name="metrics"),
]
