"""One page after another: its text layer, a look at it, or the second reader; always with the reason."""

import time
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import pypdfium2

from pipeline.errors import DocumentError
from pipeline.work.ocr.engines import EngineSetup
from pipeline.work.ocr.model import BLANK, DAMAGED, FAILED, OCR, SALAD, TEXT, PageText
from pipeline.work.ocr.pages.deciding import PageDecision, decide
from pipeline.work.ocr.pages.hyphens import rejoined
from pipeline.work.ocr.pages.judging import glued_share, is_word_salad, sanity, tidy, visible
from pipeline.work.ocr.pages.looking import Looker
from pipeline.work.ocr.pages.mending import SecondReader
from pipeline.work.ocr.pages.pdf import has_broken_image, layer_of, page_of, turned_back
from pipeline.work.ocr.pages.spacing import may_have_lost_spaces, spaced

GLUED = 0.15


class Reader:
    def __init__(self, file: Path, setup: EngineSetup) -> None:
        self._file = file
        self._looker = Looker(setup)
        self._ignore_text = setup.options.ignore_text

    def page(self, document: pypdfium2.PdfDocument, number: int) -> PageText:
        started = time.perf_counter()
        page = self._page(document, number)
        return replace(page, seconds=round(time.perf_counter() - started, 3))

    def _page(self, document: pypdfium2.PdfDocument, number: int) -> PageText:
        try:
            with page_of(document, number) as page:
                return self._read(page, number)
        except pypdfium2.PdfiumError:
            text = tidy(self._second.text_of(number))
            return PageText(number, text, TEXT if visible(text) else FAILED, "page_unreadable")
        except DocumentError as error:  # the engine's refusal of this page
            return PageText(number, "", FAILED, error.code)

    def _read(self, page: pypdfium2.PdfPage, number: int) -> PageText:
        layer, written = layer_of(page)
        decision = decide(layer)
        if self._ignore_text and decision.method == TEXT:
            decision = PageDecision(OCR, "asked_for")
        known = PageText(
            number, tidy(written.text), TEXT, decision.reason, rotation=written.turn, words=written.words
        )
        if decision.method == BLANK:
            return self._blank(known)
        if decision.method == TEXT:
            return self._with_spaces(known)
        return self._looked_at(page, known)

    def _blank(self, page: PageText) -> PageText:
        """pdfium draws nothing where it cannot decode a page, and says nothing either."""
        text = tidy(self._second.text_of(page.number))
        if visible(text):
            return replace(page, text=text, reason="text_layer_by_pypdf")
        damaged = self._second.draws_on(page.number)
        return replace(page, method=BLANK, reason=DAMAGED if damaged else page.reason, ink=damaged)

    def _with_spaces(self, page: PageText) -> PageText:
        """pdfium overlooks spaces in some files; pypdf, which is slower, overlooks others."""
        if not may_have_lost_spaces(page.text):
            return page
        other = tidy(self._second.text_of(page.number))
        text, words = spaced(page.text, page.words, other)
        if glued_share(text) > GLUED and sanity(other) > sanity(text):
            return replace(page, text=other, reason="text_layer_by_pypdf")
        reason = page.reason if text == page.text else "text_layer_spaced"
        return replace(page, text=text, words=words, reason=reason)

    def _looked_at(self, page: pypdfium2.PdfPage, layer: PageText) -> PageText:
        """What the engine read; the text layer after all where the engine found nothing and the layer did."""
        seen = self._looker.see(page)
        if seen.reading is None:
            return self._without_ink(page, layer)
        text = rejoined(tidy(seen.reading.text))
        if not visible(text) and visible(layer.text):
            return replace(layer, reason=f"{layer.reason}_ocr_empty")
        read = PageText(
            layer.number,
            text,
            OCR,
            layer.reason,
            seen.reading.confidence,
            ink=seen.ink,
            rotation=seen.turn,
            looks=seen.looks,
            tried=seen.tried,
            engine=seen.engine,
            words=turned_back(seen.reading.words, seen.turn),
        )
        return self._saner(read, layer) if is_word_salad(text) else read

    def _without_ink(self, page: pypdfium2.PdfPage, layer: PageText) -> PageText:
        """An image that cannot be decoded is drawn as nothing."""
        if visible(layer.text):
            return replace(layer, method=TEXT, reason="no_ink", ink=False)
        damaged = has_broken_image(page)
        return replace(layer, method=BLANK, reason=DAMAGED if damaged else "no_ink", ink=damaged)

    def _saner(self, read: PageText, layer: PageText) -> PageText:
        """A missing font is drawn with the wrong letters; then the text layer may be right after all."""
        if visible(layer.text) and not is_word_salad(layer.text) and sanity(layer.text) > sanity(read.text):
            return replace(layer, reason=f"{layer.reason}_ocr_salad")
        return replace(read, reason=SALAD)

    @cached_property
    def _second(self) -> SecondReader:
        """Most documents never need it."""
        return SecondReader(self._file)
