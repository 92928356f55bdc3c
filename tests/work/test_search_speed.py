"""The search benchmark in small: it runs, and its figures have the right order of magnitude."""

from benchmarks import search
from benchmarks._library import Library


def test_search_stays_quick_as_pages_are_added(tmp_path, monkeypatch):
    monkeypatch.setattr(search, "ROUNDS", 3)
    figures = search.measure_search(tmp_path, 1_000, 10_000, Library(documents=50, pages=20, words=40))

    assert figures["search.pages"] >= 10_000
    assert figures["search.vs_fts5"] > 2
    assert figures["search.growth_exponent"] < 1.1


def test_a_changed_document_costs_a_fraction_of_its_site(tmp_path):
    assert search.measure_change(tmp_path / "change", 1_000)["search.changed_document_fraction"] < 0.2
