"""The API: the figures of the pages, part by part, for whoever may read, as its own schema says."""

from pathlib import Path

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from records.api.reference import reference
from records.api.service import api
from records.models import ApiToken

pytestmark = pytest.mark.django_db
SITE = "/api/v1/sites/bend.or"
ROOT = Path(__file__).resolve().parent.parent.parent


def all_of(client, address: str, **told):
    """Every item, going on from part to part."""
    items, cursor = [], ""
    while True:
        answer = client.get(address, {**told, "cursor": cursor}).json()
        items += answer["items"]
        cursor = answer["next"]
        if not cursor:
            return items


def test_the_figures_are_those_of_the_pages(client, town):
    page = client.get("/bend.or").context["overview"]
    site = client.get(SITE).json()

    assert {name: site[name] for name in vars(page)} == vars(page)
    assert [body["name"] for body in site["bodies"]] == ["City Council", "Parks Board"]
    assert [each["id"] for each in all_of(client, "/api/v1/sites")] == ["bend.or"]


def test_motions_and_votes_are_told_with_their_place(client, town):
    motion = next(each for each in all_of(client, f"{SITE}/motions") if "zoning" in each["text"])
    votes = all_of(client, f"{SITE}/votes", name="Cara Stone")

    assert (motion["mover"], motion["result"], motion["place"]["page"]) == ("Ann Lee", "passed", 2)
    assert {"name": "Cara Stone", "vote": "no"} in motion["votes"]
    assert client.get(motion["place"]["url"].removeprefix("http://testserver")).status_code == 200
    assert sorted(each["vote"] for each in votes) == ["aye", "no"]


@pytest.mark.parametrize(
    ("what", "count"), [("documents", 3), ("meetings", 2), ("motions", 2), ("votes", 7), ("people", 4)]
)
def test_a_list_in_parts_is_the_list_whole(client, town, what, count):
    whole = all_of(client, f"{SITE}/{what}", limit=100)

    assert len(whole) == count
    assert all_of(client, f"{SITE}/{what}", limit=1) == whole


def test_documents_and_their_pages(client, town):
    [minutes] = all_of(client, f"{SITE}/documents", kind="minutes", since="2024-01-01")
    pages = all_of(client, f"{SITE}/documents/{minutes['id']}/pages", limit=1)

    assert [page["page"] for page in pages] == [1, 2]
    assert client.get(f"{SITE}/documents/{minutes['id']}/pages/2").json() == pages[1]
    assert client.get(f"{SITE}/documents/{minutes['id']}/pages/3").status_code == 404
    assert client.get(f"{SITE}/documents/{'0' * 16}").status_code == 404
    assert client.get("/api/v1/sites/nowhere.or").json() == {"detail": "Nothing of this site is published."}


def test_search_goes_on_where_it_ended_in_both_orders(client, town):
    for sort in ("rank", "new"):
        found = all_of(client, "/api/v1/search", q="ordinance", sort=sort, limit=1)
        assert {hit["document"]["kind"] for hit in found} == {"agenda", "minutes"}
    assert client.get("/api/v1/search", {"q": "ordinance", "kind": "agenda"}).json()["total"] == 1


def test_what_has_not_changed_is_not_sent_again(client, town, add_document, publish):
    first = client.get(SITE)
    again = client.get(SITE, headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])

    add_document(town, "new", ["More"], path="pdfs/Council/x.pdf")
    publish(town)

    assert client.get(SITE, headers={"If-None-Match": first["ETag"]}).status_code == 200


@pytest.mark.parametrize("cursor", ["x", "WzFd", "bnVsbA", "W10", "WyJhIiwiYiIsImMiXQ"])
def test_a_cursor_that_is_not_ours_is_refused(client, town, cursor):
    assert client.get(f"{SITE}/documents", {"cursor": cursor}).status_code == 422


def test_without_a_token_only_staff_may_ask_where_the_records_are_not_public(client, town, as_, settings):
    settings.RECORDS_PUBLIC = False
    token, secret = ApiToken.objects.issue("newspaper", "ann", 600)

    def status(**headers):
        return client.get(SITE, headers=headers).status_code

    assert status() == 401
    assert status(Authorization=f"Bearer {secret}x") == 401
    assert status(Authorization=f"Bearer {secret}") == 200
    assert as_("viewer").get(SITE).status_code == 200
    assert client.get("/api/v1/openapi.json")["Location"].startswith("/admin/login/")
    ApiToken.objects.filter(pk=token.pk).update(revoked_at=token.created_at)
    assert status(Authorization=f"Bearer {secret}") == 401


def test_the_secret_of_a_token_is_kept_nowhere(db):
    token, secret = ApiToken.objects.issue("newspaper", "ann", 600)

    assert secret not in repr(vars(ApiToken.objects.get(pk=token.pk)))


def test_more_than_the_limit_is_refused_with_how_long_to_wait(client, town, settings):
    settings.RECORDS_API_PER_MINUTE = 2
    _, secret = ApiToken.objects.issue("newspaper", "ann", 5)
    # The minute may turn once between these.
    answers = [client.get(SITE) for _ in range(6)]
    with_token = [client.get(SITE, headers={"Authorization": f"Bearer {secret}"}) for _ in range(4)]

    refused = [answer for answer in answers if answer.status_code == 429]
    assert len(refused) >= 2
    assert 1 <= int(refused[0]["Retry-After"]) <= 60
    assert {answer.status_code for answer in with_token} == {200}


def test_pages_of_other_servers_may_read_it(client, town):
    asked = client.options(
        SITE, headers={"Origin": "https://news.example", "Access-Control-Request-Method": "GET"}
    )

    assert (asked.status_code, asked["Access-Control-Allow-Origin"]) == (204, "*")
    assert "Authorization" in asked["Access-Control-Allow-Headers"]
    assert client.get(SITE)["Access-Control-Allow-Origin"] == "*"
    assert not client.get("/bend.or").has_header("Access-Control-Allow-Origin")
    assert client.post(SITE).status_code == 405


@pytest.fixture
def own_schema(town, settings):
    """Not public, so that a request without a token must be refused."""
    loaded = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", get_wsgi_application())
    settings.RECORDS_PUBLIC = False
    return loaded


@pytest.mark.django_db(transaction=True)
def test_every_answer_is_as_the_schema_says(own_schema):
    _, secret = ApiToken.objects.issue("tests", "ann", 0)
    operations = [found.ok() for found in own_schema.get_all_operations()]
    assert len(operations) == 11
    for operation in operations:
        ask(operation, {"Authorization": f"Bearer {secret}"})


def ask(operation, headers):
    @given(case=operation.as_strategy())
    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    def answers(case):
        # No schema can say which cursors are ours.
        case.call_and_validate(headers=headers, excluded_checks=[positive_data_acceptance])

    answers()


def test_the_documentation_says_what_the_schema_says():
    told = (ROOT / "docs" / "api.md").read_text()

    assert reference(api.get_openapi_schema()) in told, reference(api.get_openapi_schema())
