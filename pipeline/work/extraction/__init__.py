"""Facts from the text of minutes and agendas: who was there, what was moved, how it went, what it cost."""

from pipeline.work.extraction.document import Extracted, extract_document, read_facts
from pipeline.work.extraction.facts import Fact, MeetingContext, PagedText

__all__ = ["Extracted", "Fact", "MeetingContext", "PagedText", "extract_document", "read_facts"]
