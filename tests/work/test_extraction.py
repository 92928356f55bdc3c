"""Facts are read once, kept with where they were read, and read again only when text or rules change."""

import json
from collections.abc import Callable
from pathlib import Path

from pipeline.work.database.compilation import DocumentInfo
from pipeline.work.extraction import MeetingContext, extract_document

Add = Callable[..., DocumentInfo]


def test_a_fact_knows_its_page_and_span(add_document: Add, tmp_path: Path) -> None:
    document = add_document("minutes", "Call to order", "An award of $2.5 million was approved.")

    extracted = extract_document(document.text_dir, tmp_path / "facts.json", MeetingContext())

    [fact] = json.loads((tmp_path / "facts.json").read_text())["facts"]
    assert extracted.counts == {"money": 1}
    assert (fact["page"], fact["start"], fact["end"], fact["text"]) == (2, 12, 24, "$2.5 million")
    assert fact["amount"] == 2_500_000


def test_unchanged_text_is_not_read_again(add_document: Add, tmp_path: Path) -> None:
    document = add_document("minutes", "The fee is $5.")
    facts = tmp_path / "facts.json"

    runs = [extract_document(document.text_dir, facts, MeetingContext()).cached for _ in range(2)]
    (document.text_dir / "1.txt").write_text("The fee is $6.")
    runs.append(extract_document(document.text_dir, facts, MeetingContext()).cached)

    assert runs == [False, True, False]
