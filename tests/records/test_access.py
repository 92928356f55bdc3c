"""Who may read: nobody but those who look at the pipeline, until the operator opens the records."""


def test_a_stranger_sees_only_the_login_page_while_the_records_are_not_public(db, client, settings):
    settings.RECORDS_PUBLIC = False

    answer = client.get("/records")

    assert (answer.status_code, answer["Location"]) == (302, "/admin/login/?next=/records")
    assert client.get("/")["Location"] == "/admin/login/?next=/"


def test_whoever_may_look_at_the_pipeline_may_read(as_):
    assert as_("viewer").get("/records").status_code == 200
    assert as_("").get("/records").status_code == 403


def test_the_front_is_the_dashboard_until_the_records_are_public(as_, client, settings):
    viewer = as_("viewer")
    assert "<h1>Dashboard</h1>" in viewer.get("/").content.decode()

    settings.RECORDS_PUBLIC = True

    assert "Find your town" in client.get("/").content.decode()
    assert "<h1>Dashboard</h1>" in viewer.get("/dashboard/").content.decode()


def test_a_public_page_may_be_cached_and_a_page_for_staff_may_not(as_, client, settings):
    assert "private" in as_("viewer").get("/records")["Cache-Control"]

    settings.RECORDS_PUBLIC = True

    assert "public" in client.get("/records")["Cache-Control"]
