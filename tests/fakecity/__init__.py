"""A municipality that is not there: its web server, its records, and its bad days."""

from tests.fakecity.pdfs import make_pdf
from tests.fakecity.server import FakeCity

__all__ = ["FakeCity", "make_pdf"]
