"""A download is the document, whole, or it is an error; never something else under its name."""

import hashlib
from pathlib import Path

import pytest

from pipeline.errors import DocumentError, PipelineError, SourceError
from pipeline.work.fetch.answers import Limits
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.download import NOT_MODIFIED, Downloaded, copy, download
from pipeline.work.fetch.gate import LocalGate
from tests.fakecity import FakeCity, make_pdf

PDF = make_pdf("Roll call")
PAGE = "<!doctype html><html><body><h1>Agenda</h1><p>1. Roll call</p></body></html>"


@pytest.fixture
def city():
    with FakeCity() as server:
        yield server


@pytest.fixture
def client(city):
    limits = Limits(read_seconds=1, file_bytes=100_000)
    with Client(gate=LocalGate(0), private_hosts=[city.host], limits=limits) as opened:
        yield opened


def code_of(failing) -> str:
    with pytest.raises(PipelineError) as caught:
        failing()
    return caught.value.code


def test_a_pdf_is_written_whole_and_described(city, client, tmp_path):
    url = city.pdf("/a.pdf", PDF, headers={"Last-Modified": "Mon, 01 Jun 2026 10:00:00 GMT"})

    got = download(client, url, tmp_path / "in" / "a.pdf")

    assert (tmp_path / "in" / "a.pdf").read_bytes() == PDF
    assert isinstance(got, Downloaded)
    assert (got.sha256, got.size) == (hashlib.sha256(PDF).hexdigest(), len(PDF))
    assert got.content_type == "application/pdf"
    assert got.etag
    assert got.last_modified == "Mon, 01 Jun 2026 10:00:00 GMT"


def test_what_the_bytes_are_beats_what_the_server_calls_them(city, client, tmp_path):
    called = ("application/octet-stream", "text/html", "binary/pdf", "")
    for number, content_type in enumerate(called):
        url = city.page(f"/{number}", PDF, content_type)
        got = download(client, url, tmp_path / "a.pdf")
        assert isinstance(got, Downloaded)
        assert got.content_type == "application/pdf"


def test_junk_before_the_header_does_not_hide_a_pdf(city, client, tmp_path):
    got = download(client, city.pdf("/a.pdf", b"\r\n\x00junk\n" + PDF), tmp_path / "a.pdf")

    assert isinstance(got, Downloaded)
    assert got.content_type == "application/pdf"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<html><body>Please log in</body></html>", "application/pdf"),
        ("<html><body>Please log in</body></html>", "text/html"),
        ("", "application/pdf"),
        ("PK\x03\x04 a word document", "application/vnd.openxmlformats"),
        ("just words", "text/plain"),
        ("just words", "application/pdf"),
    ],
)
def test_what_is_not_a_pdf_is_never_saved_as_one(body, content_type, city, client, tmp_path):
    url = city.page("/a.pdf", body, content_type)

    assert code_of(lambda: download(client, url, tmp_path / "a.pdf")) == "not_a_pdf"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("status", "code"), [(404, "http_404"), (500, "http_5xx"), (403, "http_403")])
def test_an_error_page_is_never_saved(status, code, city, client, tmp_path):
    url = city.page("/a.pdf", PDF, "application/pdf", status=status)

    assert code_of(lambda: download(client, url, tmp_path / "a.pdf")) == code
    assert list(tmp_path.iterdir()) == []


def test_a_page_is_a_document_only_where_one_was_announced(city, client, tmp_path):
    url = city.page("/agenda", PAGE)

    got = download(client, url, tmp_path / "agenda.html", accept="html")

    assert isinstance(got, Downloaded)
    assert got.content_type == "text/html"
    assert (tmp_path / "agenda.html").read_text() == PAGE


def test_a_pdf_is_welcome_where_a_page_was_announced(city, client, tmp_path):
    got = download(client, city.pdf("/agenda", PDF), tmp_path / "agenda", accept="html")

    assert isinstance(got, Downloaded)
    assert got.content_type == "application/pdf"


def test_a_login_page_is_no_agenda(city, client, tmp_path):
    url = city.page("/agenda", "<html><form><input name=p type='password'></form></html>")

    assert code_of(lambda: download(client, url, tmp_path / "a", accept="html")) == "login_page"


def test_a_file_that_breaks_off_is_not_kept_and_may_be_tried_again(city, client, tmp_path):
    url = city.pdf("/a.pdf", PDF, truncate_at=100)

    with pytest.raises(SourceError) as caught:
        download(client, url, tmp_path / "a.pdf")

    assert caught.value.code == "truncated"
    assert caught.value.retryable
    assert list(tmp_path.iterdir()) == []


def test_a_file_over_the_limit_is_not_kept_however_it_comes(city, client, tmp_path):
    city.pdf("/declared.pdf", PDF + b"x" * 200_000)

    for name in ("declared",):
        assert (
            code_of(lambda name=name: download(client, f"{city.url}/{name}.pdf", tmp_path / "a"))
            == "too_large"
        )
    assert list(tmp_path.iterdir()) == []


def test_an_unchanged_file_is_not_sent_again(city, client, tmp_path):
    url = city.pdf("/a.pdf", PDF)
    first = download(client, url, tmp_path / "a.pdf")
    assert isinstance(first, Downloaded)

    again = download(client, url, tmp_path / "b.pdf", etag=first.etag, last_modified=first.last_modified)

    assert again is NOT_MODIFIED
    assert not (tmp_path / "b.pdf").exists()
    assert [asked.status for asked in city.gets("/a.pdf")] == [200, 304]


def test_a_failed_attempt_leaves_the_file_that_was_there(city, client, tmp_path):
    (tmp_path / "a.pdf").write_bytes(b"the old one")
    url = city.pdf("/a.pdf", PDF, truncate_at=10)

    with pytest.raises(SourceError):
        download(client, url, tmp_path / "a.pdf")

    assert (tmp_path / "a.pdf").read_bytes() == b"the old one"


def test_a_local_file_is_copied_once(tmp_path):
    folder = tmp_path / "records"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(PDF)
    client = Client(local_dirs=[folder])
    url = (folder / "a.pdf").as_uri()

    first = copy(client, url, tmp_path / "a.pdf")

    assert isinstance(first, Downloaded)
    assert copy(client, url, tmp_path / "b.pdf", etag=first.etag) is NOT_MODIFIED
    assert code_of(lambda: copy(client, (folder / "gone.pdf").as_uri(), tmp_path / "c")) == "http_404"


def test_only_a_local_source_reads_files_of_this_machine(tmp_path):
    (tmp_path / "a.pdf").write_bytes(PDF)
    client = Client(local_dirs=[tmp_path])

    failing = code_of(lambda: download(client, (tmp_path / "a.pdf").as_uri(), tmp_path / "b.pdf"))

    assert failing == "bad_url"


def test_a_listing_cannot_name_a_file_outside_the_folders(tmp_path):
    folder = tmp_path / "records"
    folder.mkdir()
    (tmp_path / "secret.pdf").write_bytes(PDF)
    (folder / "link.pdf").symlink_to(tmp_path / "secret.pdf")
    client = Client(local_dirs=[folder])

    for url in (
        f"file://{folder}/../secret.pdf",
        f"file://{folder}/%2e%2e/secret.pdf",
        f"file://{folder}/link.pdf",
    ):
        with pytest.raises(DocumentError):
            copy(client, url, Path(tmp_path / "out.pdf"))
