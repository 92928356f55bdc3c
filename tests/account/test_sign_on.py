"""Single sign-on against a provider of our own: who comes in, and who does not."""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from jwt.algorithms import RSAAlgorithm

from tests.test_settings import SAFE
from tests.test_settings import load as load

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Provider:
    """What it says of whoever logs in, and the key it signs with."""

    def __init__(self) -> None:
        self.claims: dict[str, Any] = {}
        self.nonce = ""
        self.key = KEY
        self.address = ""

    def answer(self, path: str) -> dict[str, Any]:
        if path == "/jwks":
            public = json.loads(RSAAlgorithm.to_jwk(KEY.public_key()))
            return {"keys": [{**public, "kid": "one", "alg": "RS256", "use": "sig"}]}
        if path == "/token":
            now = int(time.time())
            told = {
                "iss": self.address,
                "aud": "clerk",
                "sub": "7",
                "iat": now,
                "exp": now + 60,
                "nonce": self.nonce,
            }
            signed = jwt.encode({**told, **self.claims}, self.key, algorithm="RS256", headers={"kid": "one"})
            return {"access_token": "access", "id_token": signed, "token_type": "Bearer"}
        return {"sub": "7", **self.claims}


@pytest.fixture
def provider(settings, db) -> Iterator[Provider]:
    found = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.dumps(found.answer(self.path)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *arguments: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    found.address = f"http://127.0.0.1:{server.server_port}"
    settings.ROOT_URLCONF = "tests.account.sign_on_urls"
    settings.OIDC_NAME = "the county"
    settings.OIDC_RP_CLIENT_ID, settings.OIDC_RP_CLIENT_SECRET = "clerk", "secret"
    settings.OIDC_OP_AUTHORIZATION_ENDPOINT = f"{found.address}/login"
    settings.OIDC_OP_TOKEN_ENDPOINT = f"{found.address}/token"
    settings.OIDC_OP_USER_ENDPOINT = f"{found.address}/userinfo"
    settings.OIDC_OP_JWKS_ENDPOINT = f"{found.address}/jwks"
    sign_on = "clerk_project.account.sign_on.SingleSignOn"
    settings.AUTHENTICATION_BACKENDS = [*settings.AUTHENTICATION_BACKENDS, sign_on]
    yield found
    server.shutdown()
    server.server_close()


def comes(provider: Provider, **claims: Any) -> Client:
    """Through the whole dance, as a browser would go."""
    browser = Client()
    sent = urlsplit(browser.get("/oidc/authenticate/")["Location"])
    asked = parse_qs(sent.query)
    provider.claims, provider.nonce = claims, asked["nonce"][0]
    browser.get("/oidc/callback/", {"code": "abc", "state": asked["state"][0]})
    return browser


def is_in(browser: Client) -> bool:
    return "_auth_user_id" in browser.session


def test_the_login_page_offers_it(provider) -> None:
    assert b"Log in with the county" in Client().get("/admin/login/").content


def test_a_person_with_an_account_comes_in_by_mail_address(provider) -> None:
    User.objects.create_superuser("jo", "jo@example.org")

    browser = comes(provider, email="Jo@Example.org", email_verified=True)

    assert browser.get("/dashboard/").status_code == 200


def test_a_stranger_does_not_come_in_unless_a_role_is_named_for_strangers(provider, settings) -> None:
    settings.OIDC_CREATE_USER = False
    assert not is_in(comes(provider, email="new@example.org"))
    assert not User.objects.exists()

    settings.OIDC_CREATE_USER, settings.OIDC_NEW_USERS = True, "viewer"
    assert comes(provider, email="new@example.org").get("/dashboard/").status_code == 200
    assert [group.name for group in User.objects.get().groups.all()] == ["viewer"]


def test_an_address_that_nobody_checked_opens_nothing(provider) -> None:
    User.objects.create_superuser("jo", "jo@example.org")

    assert not is_in(comes(provider, email="jo@example.org", email_verified=False))


def test_a_closed_account_stays_closed(provider, settings) -> None:
    settings.OIDC_CREATE_USER, settings.OIDC_NEW_USERS = True, "operator"
    User.objects.create_user("jo", "jo@example.org", is_active=False)

    assert not is_in(comes(provider, email="jo@example.org", email_verified=True))


def test_what_somebody_else_signed_opens_nothing(provider) -> None:
    User.objects.create_superuser("jo", "jo@example.org")
    provider.key = OTHER_KEY

    assert not is_in(comes(provider, email="jo@example.org", email_verified=True))


def test_half_of_the_settings_are_refused_by_name(load) -> None:
    with pytest.raises(ImproperlyConfigured, match="OIDC_JWKS_URL"):
        load(
            **SAFE,
            OIDC_CLIENT_ID="clerk",
            OIDC_CLIENT_SECRET="secret",
            OIDC_AUTHORIZATION_URL="https://id.test/a",
            OIDC_TOKEN_URL="https://id.test/t",
            OIDC_USERINFO_URL="https://id.test/u",
        )
