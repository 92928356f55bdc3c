"""What all commands share: help with examples, and one line and the code 2 where they cannot begin."""

from typing import NoReturn

import pytest
from django.core.management import get_commands
from django.db import OperationalError, connection

from sites.models import Site

# The least that each can be called with.
COMMANDS = {
    "add_site": ("http://127.0.0.1:1/",),
    "archive_site": ("alameda.ca",),
    "backup": ("backups",),
    "build_full_db": (),
    "cancel_run": ("alameda.ca",),
    "completion": ("--sites", "a"),
    "confirm_end": ("alameda.ca",),
    "export_sites": (),
    "extract_facts": (),
    "health": (),
    "import_sites": ("sites.csv",),
    "invite": ("jo@example.org",),
    "migrate_stuck_sites": (),
    "adopt_sites": (),
    "notify": (),
    "pause_site": ("alameda.ca",),
    "pipeline_status": (),
    "prune": (),
    "remove_site": ("alameda.ca",),
    "restore_site": ("alameda.ca",),
    "read_again": ("--site", "alameda.ca"),
    "reconcile": (),
    "restore": ("backups", "--replace"),
    "resume_site": ("alameda.ca",),
    "retry_failed": (),
    "rollback_deploy": ("alameda.ca",),
    "run_pipeline": ("--all",),
    "saved_searches": (),
    "schedule": (),
    "search_index": (),
    "skip_document": ("1",),
    "unstick_site": ("alameda.ca",),
    "verify": (),
    "webhooks": (),
    "workers": (),
}
# They need no database to begin, or look at it in their own way, with tests of their own.
BEGIN_WITHOUT_IT = {"add_site", "workers", "reconcile", "restore", "search_index", "verify"}


def test_this_list_is_of_every_command():
    assert set(COMMANDS) == {name for name, app in get_commands().items() if app == "pipeline"}


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"reconcile", "verify"}))
def test_help_has_examples(manage, capsys, name):
    assert manage(name, "--help").code == 0
    out = capsys.readouterr().out
    assert "examples:\n" in out
    assert f"  manage.py {name}" in out


@pytest.mark.django_db
@pytest.mark.parametrize("name", sorted(set(COMMANDS) - BEGIN_WITHOUT_IT))
def test_without_a_database_it_says_so_and_ends_with_2(manage, name, tmp_path, monkeypatch):
    def away(*arguments) -> NoReturn:
        raise OperationalError("connection refused")

    monkeypatch.chdir(tmp_path)
    (tmp_path / "sites.csv").write_text("subdomain\nalameda.ca\n")
    with connection.execute_wrapper(away):
        ran = manage(name, *COMMANDS[name])
    assert ran.code == 2
    assert ran.err.startswith("the database cannot be read (connection refused); check DATABASE_URL")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "arguments",
    [
        ("run_pipeline", "alameda.ca"),
        ("unstick_site", "alameda.ca"),
        ("webhooks", "--send-due"),
        ("workers",),
    ],
    ids=lambda arguments: arguments[0],
)
def test_without_redis_what_needs_it_says_so_and_ends_with_2(manage, make_site, no_redis, arguments):
    make_site()
    ran = manage(*arguments)
    assert ran.code == 2
    assert "does not answer" in ran.err


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("rollback_deploy", "alamed"), "there is no site 'alamed'; did you mean alameda.ca?"),
        (("extract_facts", "--site", "nowhere.ca"), "there is no site 'nowhere.ca'"),
        (
            ("webhooks", "--add", "https://example.org", "--site", "nowhere.ca"),
            "there is no site 'nowhere.ca'",
        ),
        (("webhooks", "--site", "alameda.ca"), "--site and --event go with --add URL"),
        (("workers", "ocr=0"), "'ocr=0': expected ocr=NUMBER, at least 1"),
        (("add_site", "springfield"), "'springfield' is no address; did you mean https://"),
        (("skip_document", "7", "--reason", "blank"), "there is no document 7; `manage.py pipeline_status`"),
        (("run_pipeline", "--stale", "0"), "'0': expected a whole number, at least 1"),
        (("webhooks", "--remove", "7"), "there is no webhook 7; `manage.py webhooks` lists them"),
        (
            ("export_sites", "/no/such/folder/sites.csv"),
            "sites.csv cannot be written: No such file or directory",
        ),
        (("import_sites", "/no/such/sites.csv"), "sites.csv cannot be read: No such file or directory"),
        (("build_full_db", "--output", "/proc/all.db"), "/proc/all.db cannot be built"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_what_is_not_there_is_named_and_ends_with_2(manage, arguments, says):
    Site.objects.create(subdomain="alameda.ca")
    ran = manage(*arguments)
    assert ran.code == 2
    assert says in ran.err
