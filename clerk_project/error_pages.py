"""What an error page may show of the settings and of the variables on the way."""

import re
from typing import Any

from django.views.debug import SafeExceptionReporterFilter

from pipeline.redaction import redact


class Filter(SafeExceptionReporterFilter):
    """Django hides what is called a key or a password; here the credentials in every other text go too."""

    hidden_settings = re.compile(f"{SafeExceptionReporterFilter.hidden_settings.pattern}|DSN", re.IGNORECASE)

    def cleanse_setting(self, key: Any, value: Any) -> Any:
        cleansed = super().cleanse_setting(key, value)
        return redact(cleansed) if isinstance(cleansed, str) else cleansed
