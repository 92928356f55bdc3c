"""Single sign-on: who a person is says the provider, by mail address; what they may do says Clerk."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group
from mozilla_django_oidc.auth import OIDCAuthenticationBackend


class SingleSignOn(OIDCAuthenticationBackend):
    def verify_claims(self, claims: dict[str, Any]) -> bool:
        """An address that the provider has not checked could be anybody's."""
        return bool(claims.get("email")) and claims.get("email_verified", True) is not False

    def filter_users_by_claims(self, claims: dict[str, Any]) -> Any:
        return self.UserModel.objects.filter(email__iexact=claims["email"], is_active=True)

    def create_user(self, claims: dict[str, Any]) -> Any:
        """Only where OIDC_NEW_USERS names a role; an account that was closed stays closed."""
        email = claims["email"].lower()
        if self.UserModel.objects.filter(email__iexact=email).exists():
            return None
        user = self.UserModel.objects.create_user(email, email=email, is_staff=True)
        user.groups.add(Group.objects.get(name=settings.OIDC_NEW_USERS))
        return user
