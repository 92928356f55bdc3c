"""Every error code, once: what it means, whether it is tried again, and what a person can do.

`docs/errors.md` and the pages are made from this table; a test holds that no code is missing here.
"""

import re
from dataclasses import dataclass
from enum import Enum


class Again(Enum):
    """When what failed so is tried again."""

    YES = "by itself, later"
    NEXT_RUN = "with the next run"
    FURTHER = "while it gets further"
    NO = "no"


@dataclass(frozen=True)
class ErrorCode:
    code: str
    meaning: str
    again: Again
    advice: str


_WAIT = "Nothing, unless it stays: then look whether the city's server is well."
_OPEN = "Open the city's file. If it is broken there, skip the document or tell the city."
_SOURCE = "Look at the source's address and options on the site's page."
_TARGET = "Look at the message and at the target; the version before serves on."
_NEW_RUN = "Start the site again when it suits you."

_TABLE = (
    # ---- Fetch
    ("http_404", "The address leads nowhere (404 or 410).", Again.NEXT_RUN, _OPEN),
    ("http_4xx", "The city's server refuses this document.", Again.NEXT_RUN, _OPEN),
    ("http_403", "The city's server refuses us for now.", Again.YES, _WAIT),
    ("http_429", "The city's server asks us to come less often.", Again.YES, _WAIT),
    ("http_5xx", "The city's server has trouble.", Again.YES, _WAIT),
    ("http_206", "The city's server sent only part of the file.", Again.YES, _WAIT),
    ("timeout_connect", "The city's server did not take the connection in time.", Again.YES, _WAIT),
    ("timeout_read", "The city's server stopped sending in the middle.", Again.YES, _WAIT),
    ("timeout_total", "The download took longer than is allowed.", Again.YES, _WAIT),
    ("connect_failed", "The city's server cannot be reached.", Again.YES, _WAIT),
    ("dns_failed", "The name of the city's server cannot be resolved.", Again.YES, _WAIT),
    ("tls_failed", "The city's server has no valid certificate.", Again.YES, _WAIT),
    ("truncated", "The download ended in the middle.", Again.YES, _WAIT),
    ("host_busy", "Other work has this host, or it asked to be left alone.", Again.YES, "Nothing."),
    (
        "robots_disallowed",
        "The city's robots.txt asks us not to fetch this.",
        Again.NEXT_RUN,
        "Ask the city, then name its host in FETCH_ROBOTS_EXEMPT_HOSTS.",
    ),
    (
        "unsafe_address",
        "The address is not on the public internet.",
        Again.NEXT_RUN,
        "If it is yours, name its host in FETCH_PRIVATE_HOSTS.",
    ),
    ("bad_url", "The address cannot be read as one.", Again.NEXT_RUN, _SOURCE),
    ("bad_redirect", "The server sends us on to no address.", Again.NEXT_RUN, _OPEN),
    ("redirect_loop", "The server sends us round in circles.", Again.NEXT_RUN, _OPEN),
    ("login_page", "A login page came in place of the document.", Again.NEXT_RUN, _OPEN),
    ("bad_encoding", "What came cannot be unpacked as the server says it is packed.", Again.NEXT_RUN, _OPEN),
    ("wrong_page", "The source does not answer as its platform does.", Again.YES, _SOURCE),
    (
        "source_disabled",
        "The source was switched off before this was fetched.",
        Again.NEXT_RUN,
        "Nothing; it is fetched when the source is switched on again.",
    ),
    ("bad_json", "The source sent data that cannot be read.", Again.YES, _SOURCE),
    ("bad_options", "The options of the source do not fit its platform.", Again.NEXT_RUN, _SOURCE),
    ("no_fetcher", "No fetcher has the platform's name.", Again.NEXT_RUN, _SOURCE),
    ("no_folder", "The folder of a local source is not there.", Again.YES, _SOURCE),
    ("source_gone", "The source was removed while its run was under way.", Again.NO, "Nothing."),
    ("bad_name", "The key cannot name a site.", Again.NO, "Use small letters, digits, dots and hyphens."),
    ("conflict", "Somebody else changed the same thing at the same moment.", Again.NO, "Do it again."),
    # ---- OCR
    (
        "missing_file",
        "Neither the PDF nor its text is in storage.",
        Again.NEXT_RUN,
        "Restore it, or retry from fetch.",
    ),
    (
        "changed_file",
        "The file is another than the one whose text is there.",
        Again.NO,
        "Let the site run again, which reads it.",
    ),
    ("empty_file", "The file has no content.", Again.NO, _OPEN),
    ("not_a_pdf", "It is something else under a PDF's name: an error page, an office file.", Again.NO, _OPEN),
    ("encrypted", "It needs a password to open.", Again.NO, _OPEN),
    ("no_pages", "It is a PDF without a page.", Again.NO, _OPEN),
    ("no_such_page", "The document has no page of that number.", Again.NO, "Nothing."),
    ("too_large", "It has more bytes than FETCH_MAX_BYTES allows.", Again.NO, "Raise the limit, then retry."),
    (
        "too_many_pages",
        "It has more pages than OCR_MAX_PAGES allows.",
        Again.NO,
        "Raise the limit, then retry.",
    ),
    ("corrupt", "No reader can open it, and nothing could be salvaged.", Again.NO, _OPEN),
    ("page_unreadable", "This page of it cannot be loaded.", Again.NO, _OPEN),
    (
        "no_text",
        "Every page was looked at and none gave a word.",
        Again.NO,
        "Look at the pages: a photograph or a map has none. Skip it, or read it again with another engine.",
    ),
    (
        "memory_limit",
        "It takes more memory than is allowed.",
        Again.NO,
        "Raise OCR_MEMORY_MB or FETCH_MEMORY_MB, then retry.",
    ),
    (
        "page_time_limit",
        "One page takes longer than OCR_PAGE_SECONDS.",
        Again.NO,
        "Raise the limit, then retry.",
    ),
    (
        "time_limit",
        "The document takes longer than OCR_LIMIT.",
        Again.FURTHER,
        "Raise the limit, then retry.",
    ),
    ("reader_crashed", "The process that read it fell over.", Again.NO, _OPEN),
    ("engine_failed", "The OCR engine refused every page that needed it.", Again.NO, _OPEN),
    (
        "engine_missing",
        "The OCR engine is not installed on this machine.",
        Again.YES,
        "Install it, or set OCR_ENGINE; `health` says which machine.",
    ),
    (
        "language_missing",
        "Tesseract lacks one of the site's languages.",
        Again.YES,
        "Install the language data.",
    ),
    # ---- Compilation, extraction, deploy
    (
        "no_compiled_text",
        "There is no compiled database to publish.",
        Again.NO,
        "Run the site from compilation.",
    ),
    ("storage", "The storage that machines share did not answer.", Again.YES, "Look at STORAGE_URL."),
    (
        "deploy_target_unknown",
        "DEPLOY_TARGETS names a kind of target that does not exist.",
        Again.NO,
        "Correct DEPLOY_TARGETS, then retry.",
    ),
    (
        "deploy_target_options",
        "DEPLOY_TARGETS has an option that its target does not take.",
        Again.NO,
        "Correct DEPLOY_TARGETS, then retry.",
    ),
    (
        "missing_text",
        "Text that was read is not in storage.",
        Again.YES,
        "Look whether storage is complete; `verify --files` names every document.",
    ),
    (
        "missing_facts",
        "Facts that were extracted are not in storage.",
        Again.YES,
        "Look whether storage is complete; `extract_facts` reads them again.",
    ),
    ("deploy_version_unknown", "The target keeps no such version.", Again.NO, "Choose one that it lists."),
    ("deploy_s3", "The object storage did not answer, or refused.", Again.YES, _TARGET),
    ("deploy_late", "A newer run had published already.", Again.NO, "Nothing: the newer version serves."),
    ("deploy_command", "The deploy command failed or took too long.", Again.YES, _TARGET),
    ("after_deploy", "It is published, but a command after it failed.", Again.YES, _TARGET),
    (
        "publishes_less",
        "It would publish much less than is published now.",
        Again.NO,
        "Find out what is missing; `run_pipeline SITE --from deploy --force` publishes it all the same.",
    ),
    ("search_index", "The search index could not be written.", Again.YES, _TARGET),
    # ---- Any stage
    ("timeout", "The job hit its time limit.", Again.FURTHER, "Raise the limit of its stage, then retry."),
    (
        "worker_lost",
        "The worker died in the middle of the job.",
        Again.YES,
        "Nothing. If it happens to one document again and again, look at its memory.",
    ),
    (
        "disk_full",
        "There is no room left on the disk.",
        Again.YES,
        "Make room; `health` says how much is left.",
    ),
    ("skipped", "Left out on purpose.", Again.NO, "Take it up again on the document's page."),
    ("cancelled", "Its run was cancelled.", Again.NEXT_RUN, _NEW_RUN),
    ("superseded", "Its run was given up for a newer one.", Again.NEXT_RUN, "Nothing."),
    (
        "unexpected",
        "A bug, or trouble nobody has named yet.",
        Again.YES,
        "Read the message; please report it.",
    ),
    ("document_error", "This file is bad.", Again.NO, _OPEN),
    ("stage_error", "The site cannot pass this stage.", Again.NO, "Read the message on the site's page."),
    ("source_error", "Something outside failed and may recover.", Again.YES, _WAIT),
    ("pipeline_error", "The job failed.", Again.YES, "Read the message."),
    # ---- Webhooks
    (
        "webhook_refused",
        "The receiver of a webhook answered with an error.",
        Again.YES,
        "Look at the receiver.",
    ),
    ("webhook_unreachable", "The receiver of a webhook did not answer.", Again.YES, "Look at the receiver."),
    # ---- Alarms
    (
        "notify_address",
        "The address of a channel is of no kind that is known.",
        Again.NO,
        "Look at docs/notifications.md, and correct the channel.",
    ),
    ("notify_refused", "A chat or push service did not take a message.", Again.YES, "Send a test."),
    (
        "mail_refused",
        "The mail server did not take a message.",
        Again.YES,
        "Look at EMAIL_HOST.",
    ),
    ("ping_failed", "The watcher behind PING_URL did not answer.", Again.YES, "Look at PING_URL."),
)
CODES = {row[0]: ErrorCode(*row) for row in _TABLE}


def explained(code: str) -> ErrorCode:
    """The entry of a code; an HTTP status has its family's, a plug-in's own code the general one."""
    if code in CODES:
        return CODES[code]
    if code == "http_410":
        return CODES["http_404"]
    status = re.fullmatch(r"http_([45])\d\d", code)
    return CODES[f"http_{status.group(1)}xx" if status else "pipeline_error"]
