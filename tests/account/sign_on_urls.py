"""The product's addresses with single sign-on, as they are where OIDC_CLIENT_ID is set."""

from django.urls import include, path

from clerk_project.urls import handler400 as handler400
from clerk_project.urls import urlpatterns as ours

urlpatterns = [path("oidc/", include("mozilla_django_oidc.urls")), *ours]
