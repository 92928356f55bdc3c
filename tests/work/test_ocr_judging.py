"""Judgements on text alone, and the decision they lead to."""

import pytest

from pipeline.work.ocr.pages import judging
from pipeline.work.ocr.pages.deciding import Layer, decide
from tests import pdfs

PROSE = "\n".join(pdfs.prose(2, 20))
SPANISH = (
    "El Concejo Municipal aprobó la resolución y autorizó al administrador a firmar el contrato de obras. "
    * 3
)
TABLE = "\n".join(f"{number} 1,2{number} $4,500.00 12/31/2024 A-{number}" for number in range(30))
CIPHER = PROSE.translate({code: code + 5 if code < 118 else code - 21 for code in range(97, 123)})


def layer(raw: str, **facts) -> Layer:
    return Layer(**{"raw": raw, "objects": 9, "paths": 0, "image_share": 0.0, "hidden_share": 0.0} | facts)


@pytest.mark.parametrize(
    "text", [PROSE, PROSE.upper(), SPANISH, TABLE, "Заседание городского совета " * 9, "OK"]
)
def test_real_text_is_not_word_salad(text):
    assert not judging.is_word_salad(text)


@pytest.mark.parametrize("text", [CIPHER, " ".join(PROSE.replace(" ", ""))])
def test_a_cipher_and_single_letters_are(text):
    assert judging.is_word_salad(text)


def test_the_saner_of_two_readings_has_its_spaces():
    assert judging.sanity(PROSE) > judging.sanity(PROSE.replace(" ", "")) > judging.sanity("")


def test_text_is_tidied_of_what_cannot_be_stored():
    assert judging.tidy("a\x00b \r\nmu\x02\r\nnicipal\x0c\ud800") == "ab\nmu-\nnicipal\n?"


@pytest.mark.parametrize(
    ("facts", "decision"),
    [
        ({"raw": PROSE}, ("text", "text_layer")),
        ({"raw": PROSE, "image_share": 1.0}, ("text", "text_layer")),
        ({"raw": ""}, ("ocr", "no_text")),
        ({"raw": " \r\n", "objects": 0}, ("blank", "nothing_drawn")),
        ({"raw": PROSE + "\ufffd" * 60}, ("ocr", "mojibake")),
        ({"raw": PROSE, "image_share": 0.9, "hidden_share": 1.0}, ("ocr", "hidden_layer")),
        ({"raw": PROSE[:300], "image_share": 0.9}, ("ocr", "stamp_over_scan")),
        ({"raw": PROSE[:300], "image_share": 0.5}, ("text", "text_layer")),
        ({"raw": "Page 3", "image_share": 0.4}, ("ocr", "sparse_text")),
        ({"raw": "Page 3", "paths": 900}, ("ocr", "sparse_text")),
        ({"raw": CIPHER}, ("ocr", "word_salad")),
    ],
)
def test_the_decision_and_its_reason(facts, decision):
    decided = decide(layer(**facts))
    assert (decided.method, decided.reason) == decision
