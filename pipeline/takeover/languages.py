"""The old system read every page in English and Spanish; so does Clerk, where Tesseract has both."""

from functools import cache

from django.conf import settings

from pipeline.errors import PipelineError
from pipeline.work.ocr.engines.tesseract import tessdata
from pipeline.work.ocr.model import OcrOptions
from sites.models import Site

USUAL, BEFORE = "eng", "eng+spa"


def read_as_before(site_id: str) -> None:
    """A language that somebody has chosen for the site stays."""
    if has_both():
        Site.objects.filter(pk=site_id, languages=USUAL).update(languages=BEFORE)


@cache
def has_both() -> bool:
    try:
        tessdata(OcrOptions(tessdata=settings.TESSDATA_PREFIX), BEFORE)
    except PipelineError:
        return False
    return True
