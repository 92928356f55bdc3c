"""Whatever is in a page comes out of a search as it went in."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.work import ocr
from pipeline.work.database.compilation import DocumentInfo, SiteInfo, compile_site
from pipeline.work.database.search import fts_query, search_pages
from pipeline.work.extraction import MeetingContext, extract_document
from tests.work.unicode_pdf import unicode_pdf

Add = Callable[..., DocumentInfo]
TEXTS = {
    "accents": ("Señor Peña approved the café für Ägypten", "cafe"),
    "emoji": ("The 🦙 petting zoo 👩‍👩‍👧‍👦 was approved 🎉 quickly", "petting"),
    "quotes": ("O'Brien said \"it's 100% 'fine'\"; DROP TABLE pages; --", "o'brien"),
    "bidi": ("Notice שלום עולם and مرحبا بالعالم to \u202eall\u202c readers", "שלום"),
    "chinese": ("公告 議會 會議 記錄 of the council", "會議"),
    "combining": ("Nguye\u0302\u0303n Va\u0306n An spoke", "nguyễn"),
    "markup": ("<script>alert(1)</script> &amp; <b>bold</b> text", "script"),
    "astral": ("\U0001d49e\U0001d4c1 of the \U0002070e assembly", "assembly"),
    "zero width": ("over\u200bsight com\u00admittee met", "met"),
}


@pytest.mark.parametrize(("text", "word"), TEXTS.values(), ids=TEXTS.keys())
def test_text_survives_to_the_search_result(
    tmp_path: Path, site: SiteInfo, add_document: Add, text: str, word: str
) -> None:
    compile_site(tmp_path / "meetings.db", site, [add_document("minutes", text)])

    found = search_pages(tmp_path / "meetings.db", word)

    assert found.total == 1
    with closing(sqlite3.connect(tmp_path / "meetings.db")) as connection:
        assert connection.execute("SELECT text FROM pages").fetchone() == (text,)


@pytest.mark.parametrize("name", ["accents", "quotes", "bidi", "chinese", "emoji"])
def test_text_survives_from_the_pdf_to_the_search_result(tmp_path: Path, site: SiteInfo, name: str) -> None:
    text, word = TEXTS[name]
    if name == "bidi":
        # Glyphs stand in a PDF as they are seen, from left to right.
        text = f"Notice {'שלום עולם'[::-1]} to all readers"
    pdf, text_dir = tmp_path / "minutes.pdf", tmp_path / "txt" / "minutes"
    ordinary = "The meeting of the council was called to order and the minutes were approved by all."
    pdf.write_bytes(unicode_pdf(f"{ordinary}\n{text}", ordinary))
    ocr.read_document(pdf, text_dir)
    document = DocumentInfo("abc", text_dir, title="Minutes “2024” 🎉", body="Council", kind="minutes")

    compile_site(tmp_path / "meetings.db", site, [document])

    [hit] = search_pages(tmp_path / "meetings.db", word).hits
    assert (hit.page, hit.title) == (1, "Minutes “2024” 🎉")
    assert "<mark>" in hit.snippet


def test_a_snippet_is_safe_to_show(tmp_path: Path, site: SiteInfo, add_document: Add) -> None:
    compile_site(tmp_path / "meetings.db", site, [add_document("minutes", TEXTS["markup"][0])])

    [hit] = search_pages(tmp_path / "meetings.db", "bold").hits

    assert hit.snippet == (
        "&lt;script&gt;alert(1)&lt;/script&gt; &amp;amp; &lt;b&gt;<mark>bold</mark>&lt;/b&gt; text"
    )


@pytest.mark.parametrize(
    "words", ['"', "a AND", "NEAR(", "*", "^x", "col:umn", "-", "'", "\0", "(((", "OR OR", "text:"]
)
def test_nothing_that_is_typed_breaks_the_search(
    tmp_path: Path, site: SiteInfo, add_document: Add, words: str
) -> None:
    compile_site(tmp_path / "meetings.db", site, [add_document("minutes", "plain")])

    assert search_pages(tmp_path / "meetings.db", words).total == 0


def test_words_phrases_and_beginnings_are_found_best_first(
    tmp_path: Path, site: SiteInfo, add_document: Add
) -> None:
    document = add_document(
        "minutes", "levee levee levee bond", "the bond for the levee and much else besides", "levees"
    )
    compile_site(tmp_path / "meetings.db", site, [document])
    database = tmp_path / "meetings.db"

    assert [hit.page for hit in search_pages(database, "levee bond").hits] == [1, 2]
    assert [hit.page for hit in search_pages(database, '"bond for the levee"').hits] == [2]
    assert search_pages(database, "lev*").total == 3
    assert [hit.page for hit in search_pages(database, "levee", limit=1, offset=2).hits] != []
    assert fts_query('levee "bond for" lev*') == '"levee" "bond for" "lev"*'


def test_a_page_of_a_megabyte_an_empty_one_and_an_empty_document(
    tmp_path: Path, site: SiteInfo, add_document: Add
) -> None:
    huge = "word " * 200_000 + "needle"
    documents = [add_document("huge", huge, ""), add_document("empty")]
    compiled = compile_site(tmp_path / "meetings.db", site, documents)
    extracted = extract_document(documents[1].text_dir, tmp_path / "facts.json", MeetingContext())

    found = search_pages(tmp_path / "meetings.db", "needle")

    assert (compiled.pages, compiled.documents, extracted.counts) == (2, 2, {})
    assert "<mark>needle</mark>" in found.hits[0].snippet


def test_a_nul_and_broken_utf8_cost_only_themselves(
    tmp_path: Path, site: SiteInfo, add_document: Add
) -> None:
    document = add_document("minutes", "placeholder", title="half \ud83d a pair")
    (document.text_dir / "1.txt").write_bytes(b"before\x00after \xff\xfe end")

    compile_site(tmp_path / "meetings.db", site, [document])

    assert search_pages(tmp_path / "meetings.db", "after end").hits[0].title == "half ? a pair"


def test_provenance_of_each_page_is_kept_and_its_absence_borne(
    tmp_path: Path, site: SiteInfo, add_document: Add
) -> None:
    document = add_document("minutes", "scanned", "adopted", "damaged")
    (document.text_dir / "1.json").write_text(
        '{"number":1,"method":"ocr","confidence":91.5,"words":[["a",1,2,3,4,90]]}'
    )
    (document.text_dir / "3.json").write_text("{")
    compile_site(tmp_path / "meetings.db", site, [document])

    with closing(sqlite3.connect(tmp_path / "meetings.db")) as connection:
        rows = connection.execute("SELECT page, method, confidence FROM pages ORDER BY page").fetchall()
    assert rows == [(1, "ocr", 91.5), (2, None, None), (3, None, None)]


def test_the_old_layout_of_one_file_a_document_is_read(tmp_path: Path, site: SiteInfo) -> None:
    (tmp_path / "txt").mkdir()
    (tmp_path / "txt" / "2019-05-06.txt").write_text("first page\fsecond page")

    compiled = compile_site(
        tmp_path / "meetings.db", site, [DocumentInfo("old", tmp_path / "txt" / "2019-05-06")]
    )

    assert compiled.pages == 2
    assert search_pages(tmp_path / "meetings.db", "second").hits[0].page == 2
