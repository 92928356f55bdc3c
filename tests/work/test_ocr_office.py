"""Texts of office programs are read like any other document."""

import pytest

from pipeline.errors import DocumentError
from pipeline.work.ocr.document import read_document
from tests.work.office_files import make_doc, make_docx, make_odt, make_rtf


def texts(tmp_path, name: str, content: bytes) -> list[str]:
    file = tmp_path / name
    file.write_bytes(content)
    result = read_document(file, tmp_path / "txt")
    return [(tmp_path / "txt" / f"{number}.txt").read_text() for number in range(1, result.pages + 1)]


def test_a_word_file_has_the_pages_that_its_author_made(tmp_path):
    first, second = texts(
        tmp_path, "a.docx", make_docx("Call to order", "Adjournment", table=(("Ayes", "Noes"), ("5", "2")))
    )

    assert "Call to order" in first
    assert second.split() == ["Adjournment", "Ayes", "Noes", "5", "2"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.odt", make_odt("Motion by Smith", "Seconded by Jones")),
        ("a.rtf", make_rtf("Motion by Smith\nSeconded by Jones")),
        ("a.doc", make_doc("Motion by Smith\nSeconded by Jones\n")),
    ],
)
def test_other_office_files_are_read_line_by_line(name, content, tmp_path):
    (page,) = texts(tmp_path, name, content)

    assert [line.strip() for line in page.splitlines() if line.strip()] == [
        "Motion by Smith",
        "Seconded by Jones",
    ]


@pytest.mark.parametrize("name", ["a.docx", "a.odt", "a.doc"])
def test_a_broken_office_file_is_corrupt_and_nothing_worse(name, tmp_path):
    whole = make_doc("Motion") if name == "a.doc" else make_docx("Motion")
    file = tmp_path / name
    file.write_bytes(whole[: len(whole) // 3])

    with pytest.raises(DocumentError) as caught:
        read_document(file, tmp_path / "txt")

    assert caught.value.code == "corrupt"
