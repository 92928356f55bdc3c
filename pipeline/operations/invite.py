"""A colleague is invited by mail: an account with a role, and a link to choose the password."""

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db import transaction
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from pipeline.flow import Refused
from pipeline.models import Intervention
from pipeline.operations.interventions import Operator

ROLES = ("viewer", "operator")
LETTER = """\
{by} invites you to Clerk, as {role}.

Choose your password here:

    {link}

The link works once, for {days} days. Then log in with your mail address at {place}
"""


def invite(email: str, role: str, operator: Operator) -> str:
    """Make the account if there is none, and send the link; the link itself is returned."""
    email = email.strip().lower()
    try:
        validate_email(email)
    except ValidationError as error:
        raise Refused(f"{email!r} is no mail address") from error
    with transaction.atomic():
        user = _account(email, role)
        Intervention.objects.create(
            action="invite", by=operator.by, reason=operator.reason, details={"email": email, "role": role}
        )
    link = _link(user)
    if settings.EMAIL_HOST:
        _send(email, role, operator.by, link)
    return link


def _account(email: str, role: str) -> User:
    """Somebody who has a password already is not invited: the link would let others take the account over."""
    if role not in ROLES:
        raise Refused(f"there is no role {role}; there are {', '.join(ROLES)}")
    user = User.objects.filter(email__iexact=email).first() or User.objects.filter(username=email).first()
    if user is None:
        user = User.objects.create_user(email, email=email, is_staff=True)
    elif user.has_usable_password() or not user.is_active:
        raise Refused(f"{email} has an account already")
    user.groups.set([Group.objects.get(name=role)])
    return user


def _link(user: User) -> str:
    key = urlsafe_base64_encode(force_bytes(user.pk))
    path = reverse("account:choose_password", args=[key, default_token_generator.make_token(user)])
    return f"{settings.PUBLIC_URL}{path}"


def _send(email: str, role: str, by: str, link: str) -> None:
    words = {
        "by": by or "Somebody",
        "role": role,
        "link": link,
        "days": settings.PASSWORD_RESET_TIMEOUT // 86400,
        "place": settings.PUBLIC_URL,
    }
    EmailMessage("You are invited to Clerk", LETTER.format(**words), to=[email]).send()
