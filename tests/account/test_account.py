"""One's own account: invited by mail, tokens, the second factor, and clear words for who cannot get in."""

import re

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django_otp.oath import TOTP
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from clerk_project.account import two_factor
from pipeline.flow import Refused
from pipeline.models import Intervention
from pipeline.operations.interventions import Operator
from pipeline.operations.invite import invite
from records.models import ApiToken

PASSWORD = "a password that holds 4711"
BOSS = Operator("boss", "new colleague")


@pytest.fixture
def jo(db) -> User:
    return User.objects.create_superuser("jo", "jo@example.org", PASSWORD)


@pytest.fixture
def browser(jo) -> Client:
    client = Client()
    client.force_login(jo)
    return client


# ---- Invitations ----------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_colleague_comes_in_by_the_link_of_the_mail_with_the_role_given(settings) -> None:
    settings.EMAIL_HOST, settings.PUBLIC_URL = "mail.test", "https://clerk.test"
    invite("New@Example.org", "operator", BOSS)

    [letter] = mail.outbox
    assert letter.to == ["new@example.org"]
    path = re.search(r"https://clerk\.test(/account/password/\S+)", letter.body)[1]
    newcomer = Client()
    form = newcomer.get(path, follow=True)
    assert form.status_code == 200
    answer = newcomer.post(
        form.redirect_chain[-1][0], {"new_password1": PASSWORD, "new_password2": PASSWORD}, follow=True
    )
    assert answer.status_code == 200
    logged_in = newcomer.post("/admin/login/", {"username": "new@example.org", "password": PASSWORD})
    assert logged_in.status_code == 302
    assert newcomer.get("/dashboard/").status_code == 200
    user = User.objects.get(username="new@example.org")
    assert [group.name for group in user.groups.all()] == ["operator"]
    assert not user.is_superuser
    assert Intervention.objects.get(action="invite").by == "boss"
    # The link is used up.
    assert b"used already" in Client().get(path, follow=True).content


@pytest.mark.django_db
def test_without_a_mail_server_the_link_is_there_to_pass_on_and_none_is_sent(settings) -> None:
    settings.EMAIL_HOST = ""

    assert "/account/password/" in invite("new@example.org", "viewer", BOSS)
    assert mail.outbox == []
    # Not come yet: a second invitation is a new link for the same account.
    invite("new@example.org", "viewer", BOSS)
    assert User.objects.filter(username="new@example.org").count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("closed", [False, True])
def test_nobody_with_a_password_or_a_closed_account_is_invited(jo, closed: bool) -> None:
    User.objects.filter(pk=jo.pk).update(is_active=not closed)

    with pytest.raises(Refused, match="has an account"):
        invite("JO@example.org", "operator", BOSS)
    with pytest.raises(Refused, match="no mail address"):
        invite("nonsense", "operator", BOSS)


# ---- Tokens ---------------------------------------------------------------------------------------------


def new_token(browser: Client) -> str:
    page = browser.post("/account/tokens/", {"name": "my script"}, follow=True).content.decode()
    return re.search(r"clerk_[\w-]+", page)[0]


def status_with(secret: str) -> int:
    return Client().get("/api/v1/sites", headers={"Authorization": f"Bearer {secret}"}).status_code


@pytest.mark.django_db
def test_a_persons_token_works_until_it_is_revoked(browser, jo) -> None:
    secret = new_token(browser)
    assert status_with(secret) == 200
    assert secret not in browser.get("/account/").content.decode()

    token = ApiToken.objects.get(owner=jo)
    browser.post(f"/account/tokens/{token.pk}/revoke/")

    assert status_with(secret) == 401


@pytest.mark.django_db
def test_a_persons_token_ends_with_the_account(browser, jo) -> None:
    secret = new_token(browser)

    User.objects.filter(pk=jo.pk).update(is_active=False)

    assert status_with(secret) == 401


@pytest.mark.django_db
def test_a_token_opens_no_more_than_its_person_may_read(settings) -> None:
    guest = User.objects.create_user("guest", password=PASSWORD)
    browser = Client()
    browser.force_login(guest)
    secret = new_token(browser)

    assert status_with(secret) == 401
    settings.RECORDS_PUBLIC = True
    assert status_with(secret) == 200


@pytest.mark.django_db
def test_nobody_revokes_the_token_of_another(browser, jo) -> None:
    other = User.objects.create_user("other", password=PASSWORD)
    token, secret = ApiToken.objects.issue("hers", "other", 0, owner=other)
    User.objects.filter(pk=other.pk).update(is_superuser=True)

    assert browser.post(f"/account/tokens/{token.pk}/revoke/").status_code == 404
    assert status_with(secret) == 200


# ---- The second factor ------------------------------------------------------------------------------------


def code_of(device: TOTPDevice, later: int = 0) -> str:
    totp = TOTP(device.bin_key, device.step, device.t0, device.digits, device.drift + later)
    return str(totp.token()).zfill(device.digits)


def set_up(browser: Client, user: User) -> list[str]:
    assert b"data:image/svg+xml" in browser.get("/account/two-factor/").content
    device = TOTPDevice.objects.get(user=user)
    page = browser.post("/account/two-factor/", {"code": code_of(device)}).content.decode()
    return re.findall(r"<li><code>(\w+)</code>", page)


def fresh(user: User) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


@pytest.mark.django_db
def test_whoever_has_a_second_factor_gets_no_further_without_it(settings, browser, jo) -> None:
    settings.TWO_FACTOR = "optional"
    codes = set_up(browser, jo)
    assert len(codes) == 10
    assert browser.get("/dashboard/").status_code == 200

    again = fresh(jo)
    for page in ("/dashboard/", "/admin/", "/queues/", "/account/", "/account/two-factor/remove/"):
        assert again.get(page)["Location"].startswith("/account/code/"), page
    assert again.post("/account/code/", {"code": "000000"}).status_code == 200
    assert again.get("/dashboard/").status_code == 302


@pytest.mark.django_db
def test_a_code_lets_in_once_and_so_does_each_recovery_code(settings, browser, jo) -> None:
    settings.TWO_FACTOR = "optional"
    codes = set_up(browser, jo)
    device = TOTPDevice.objects.get(user=jo)

    with_app = fresh(jo)
    right = code_of(device, later=1)
    answer = with_app.post("/account/code/", {"code": right, "next": "/account/"})
    assert answer["Location"] == "/account/"
    assert fresh(jo).post("/account/code/", {"code": right}).status_code == 200  # refused: used
    for kind in (TOTPDevice, StaticDevice):
        kind.objects.update(throttling_failure_count=0)

    printed = fresh(jo)
    answer = printed.post("/account/code/", {"code": codes[0], "next": "https://evil.test/"})
    assert answer["Location"] == "/dashboard/"
    assert fresh(jo).post("/account/code/", {"code": codes[0]}).status_code == 200


@pytest.mark.django_db
def test_guessing_codes_is_slowed_down(settings, browser, jo) -> None:
    settings.TWO_FACTOR = "optional"
    set_up(browser, jo)
    device = TOTPDevice.objects.get(user=jo)
    guesser = fresh(jo)
    for number in range(5):
        guesser.post("/account/code/", {"code": f"00000{number}"})

    assert guesser.post("/account/code/", {"code": code_of(device, later=1)}).status_code == 200
    assert guesser.get("/dashboard/").status_code == 302


@pytest.mark.django_db
def test_where_it_is_required_everybody_sets_it_up_first(settings, browser, jo) -> None:
    settings.TWO_FACTOR = "required"

    assert browser.get("/dashboard/")["Location"].startswith("/account/two-factor/")
    set_up(browser, jo)
    assert browser.get("/dashboard/").status_code == 200


@pytest.mark.django_db
def test_it_can_be_removed_and_off_means_off(settings, browser, jo) -> None:
    settings.TWO_FACTOR = "optional"
    set_up(browser, jo)
    browser.post("/account/two-factor/remove/")
    assert fresh(jo).get("/dashboard/").status_code == 200

    set_up(browser, jo)
    settings.TWO_FACTOR = two_factor.OFF
    assert fresh(jo).get("/dashboard/").status_code == 200


# ---- Clear words ------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_over_plain_http_the_login_page_says_why_it_cannot_work(settings) -> None:
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    settings.ALLOWED_HOSTS = ["clerk.lan", "localhost"]
    strict = Client(enforce_csrf_checks=True)

    assert b"SECURE_COOKIES=0" in strict.get("/admin/login/", HTTP_HOST="clerk.lan:8000").content
    refused = strict.post("/admin/login/", {"username": "a", "password": "b"}, HTTP_HOST="clerk.lan:8000")
    assert (refused.status_code, b"SECURE_COOKIES=0" in refused.content) == (403, True)
    assert b"SECURE_COOKIES" not in strict.get("/admin/login/", HTTP_HOST="localhost:8000").content
    assert b"SECURE_COOKIES" not in strict.get("/admin/login/", HTTP_HOST="clerk.lan", secure=True).content
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = False
    assert b"SECURE_COOKIES" not in strict.get("/admin/login/", HTTP_HOST="clerk.lan:8000").content


@pytest.mark.django_db
def test_an_unknown_name_is_told_which_setting_it_is(settings) -> None:
    settings.ALLOWED_HOSTS = ["clerk.lan"]
    settings.DEBUG = False

    answer = Client(raise_request_exception=False).get("/admin/login/", HTTP_HOST="other.lan")

    assert (answer.status_code, b"ALLOWED_HOSTS" in answer.content) == (400, True)


@pytest.mark.django_db
def test_pages_ask_the_browser_for_nothing_of_the_device() -> None:
    answer = Client().get("/admin/login/")

    assert "camera=()" in answer["Permissions-Policy"]
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["X-Frame-Options"] == "DENY"


@pytest.mark.django_db
def test_the_version_is_on_the_pages_of_staff_and_not_on_the_login_page(settings, browser) -> None:
    words = f"Clerk {settings.CLERK_VERSION}".encode()

    assert words in browser.get("/dashboard/").content
    assert words not in Client().get("/admin/login/").content
