"""Every setting of Clerk, read from the environment once; a bad value stops the start with its name."""

import os
import zoneinfo
from datetime import timedelta
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key

from clerk_project import __version__, database, environment, framework, logs, values
from clerk_project.framework import *  # noqa: F403 (they are settings)
from clerk_project.values import (
    env,
    envbool,
    envchoice,
    envint,
    envlist,
    envnetworks,
    envnumber,
    envpath,
    home,
    redacted,
)
from pipeline import redaction

environment.load(os.environ)
redaction.remember(os.environ)

BASE_DIR = home()
ASKED_FOR = values.ASKED_FOR

# ---- Django -----------------------------------------------------------------------------------------

DEBUG = envbool("DEBUG")
SECRET_KEY = env("SECRET_KEY")
if not SECRET_KEY:
    if not DEBUG:
        raise ImproperlyConfigured(
            "SECRET_KEY is not set; set it to a long random text (or DEBUG=1 to try things out)"
        )
    SECRET_KEY = get_random_secret_key()
elif not DEBUG and (len(SECRET_KEY) < 32 or len(set(SECRET_KEY)) < 10):
    # Sessions are signed with it: who guesses it is whoever they like to be.
    raise ImproperlyConfigured(
        "SECRET_KEY is too easy to guess; expected 32 characters or more, as `openssl rand -base64 48` prints"
    )

# Whom the pages say to ask when they cannot help: a name, a mail address, a telephone number.
OPERATOR_CONTACT = env("OPERATOR_CONTACT")
ALLOWED_HOSTS = envlist("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = envlist("CSRF_TRUSTED_ORIGINS")

TIME_ZONE = env("TIME_ZONE", "UTC")
if TIME_ZONE not in zoneinfo.available_timezones():
    raise ImproperlyConfigured(f"TIME_ZONE={redacted(TIME_ZONE)}: expected a name such as America/New_York")
# Who guesses a password this often, from one address for one name, is locked out for a while; it is logged.
AXES_FAILURE_LIMIT = envint("LOGIN_ATTEMPTS", 10, 1)
AXES_COOLOFF_TIME = timedelta(minutes=envint("LOGIN_LOCK_MINUTES", 15, 1))
STATIC_ROOT = envpath("STATIC_ROOT", BASE_DIR / "staticfiles")
# SQLite keeps no comments on tables and columns. They are for PostgreSQL; nobody misses them here.
SILENCED_SYSTEM_CHECKS = ["fields.W163", "models.W046"]
BEHIND_TLS_PROXY = envbool("BEHIND_TLS_PROXY")
if not DEBUG:
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = envbool("SECURE_COOKIES", True)
    SECURE_SSL_REDIRECT = envbool("SECURE_SSL_REDIRECT", False)
    SECURE_HSTS_SECONDS = envint("SECURE_HSTS_SECONDS", 0)
    # Whether the domain's other hosts are ready for HSTS is not ours to say.
    SILENCED_SYSTEM_CHECKS += ["security.W005", "security.W021"]
    if BEHIND_TLS_PROXY:
        SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# ---- Database ---------------------------------------------------------------------------------------

DATABASES = {
    "default": database.configured(
        env("DATABASE_URL") or f"sqlite:///{BASE_DIR / 'var' / 'clerk.sqlite3'}",
        {
            "lock_timeout": envnumber("DATABASE_LOCK_SECONDS", 30),
            "statement_timeout": envnumber("DATABASE_STATEMENT_SECONDS", 900),
            "idle_in_transaction_session_timeout": envnumber("DATABASE_IDLE_SECONDS", 120),
        },
    )
}

# ---- Queues -----------------------------------------------------------------------------------------

REDIS_URL = env("REDIS_URL", "redis://127.0.0.1:6379/0")
if urlsplit(REDIS_URL).scheme not in {"redis", "rediss", "unix"}:
    # The value itself may hold a password, here and below.
    raise ImproperlyConfigured("REDIS_URL: expected redis://, rediss:// or unix://")

# Seconds a job may take. A job that hits its limit is a failure of its document, with the code `timeout`.
JOB_LIMITS = {
    "coordinator": envint("COORDINATOR_LIMIT", 5 * 60, 1),
    "fetch": envint("FETCH_LIMIT", 60 * 60, 1),
    "ocr": envint("OCR_LIMIT", 20 * 60, 1),
    "compilation": envint("COMPILATION_LIMIT", 30 * 60, 1),
    "extraction": envint("EXTRACTION_LIMIT", 60 * 60, 1),
    "deploy": envint("DEPLOY_LIMIT", 10 * 60, 1),
    "webhooks": envint("WEBHOOK_LIMIT", 2 * 60, 1),
}
# `high` carries the coordinators; each other queue carries the jobs of its stage, and has its limit's name.
RQ_QUEUES = {
    "high" if name == "coordinator" else name: {
        "URL": REDIS_URL,
        "DEFAULT_TIMEOUT": limit,
        "DEFAULT_RESULT_TTL": 3600,
        "SERIALIZER": "json",
    }
    for name, limit in JOB_LIMITS.items()
}
# A worker's process stays for job after job, and is replaced after so many; or it is forked for each.
WORKER_STAYS = envbool("WORKER_STAYS", True)
WORKER_MAX_JOBS = envint("WORKER_MAX_JOBS", 500, 1)
WORKER_MAX_MB = envint("WORKER_MAX_MB", 512, 64)
RQ = {
    "WORKER_CLASS": "pipeline.workers.staying.StayingWorker"
    if WORKER_STAYS
    else "pipeline.workers.worker.PipelineWorker"
}
# Functions beside Clerk's own that workers may run: `package.module.function`, or `package.module.*`.
QUEUE_FUNCTIONS = envlist("QUEUE_FUNCTIONS")
# The queue pages are mounted by clerk_project/urls.py, behind a permission; these would only ask for staff.
RQ_SHOW_ADMIN_LINK = False

# ---- Pipeline ---------------------------------------------------------------------------------------

STORAGE_DIR = envpath("STORAGE_DIR", BASE_DIR / "var" / "storage")
# Where machines share what is in STORAGE_DIR, such as s3://bucket/prefix. Empty: this folder is all.
STORAGE_URL = env("STORAGE_URL")
if STORAGE_URL and urlsplit(STORAGE_URL).scheme != "s3":
    raise ImproperlyConfigured("STORAGE_URL: expected s3://bucket/prefix")
DEPLOY_DIR = envpath("DEPLOY_DIR", BASE_DIR / "var" / "deployed")
# Where databases are published, in order. Empty: in DEPLOY_DIR.
DEPLOY_TARGETS = envlist("DEPLOY_TARGETS")
# A deploy that would publish this much less than is published now (in percent) stops and asks a person.
DEPLOY_MAX_SHRINK_PERCENT = envnumber("DEPLOY_MAX_SHRINK_PERCENT", 20)
AFTER_DEPLOY_COMMAND = env("AFTER_DEPLOY_COMMAND")
# What `prune` keeps: of each site so many runs, and all of so many days; history of so many days.
KEEP_RUNS = envint("KEEP_RUNS", 20, 1)
KEEP_RUN_DAYS = envint("KEEP_RUN_DAYS", 180, 1)
KEEP_HISTORY_DAYS = envint("KEEP_HISTORY_DAYS", 90, 1)
# How long a removed site or a document that was taken down can still be had back.
KEEP_REMOVED_DAYS = envint("KEEP_REMOVED_DAYS", 30)
# Files of versions that a newer one superseded. 0: for ever, as cities delete and replace theirs.
KEEP_SUPERSEDED_DAYS = envint("KEEP_SUPERSEDED_DAYS", 0)
# With STORAGE_URL: how much of it may lie in STORAGE_DIR. 0: no bound.
STORAGE_CACHE_MB = envint("STORAGE_CACHE_MB", 0)
WEBHOOK_ATTEMPTS = envint("WEBHOOK_ATTEMPTS", 6, 1)
WEBHOOK_TIMEOUT_SECONDS = envnumber("WEBHOOK_TIMEOUT_SECONDS", 10, 0.1)
MAX_ATTEMPTS = envint("MAX_ATTEMPTS", 3, 1)
RETRY_BACKOFF_SECONDS = envnumber("RETRY_BACKOFF_SECONDS", 60)
# A row must be quiet for longer than the queue's 90 s heartbeat before it counts as lost.
RECONCILE_GRACE_SECONDS = envint("RECONCILE_GRACE_SECONDS", 300, 1)
# A pass that takes longer than this stops; the next one goes on.
RECONCILE_LIMIT_SECONDS = envint("RECONCILE_LIMIT_SECONDS", 600, 1)
# Hosts on private addresses that may be fetched all the same (the demo's city, an intranet). Empty: none.
FETCH_PRIVATE_HOSTS = envlist("FETCH_PRIVATE_HOSTS")
FETCH_HOST_GAP_SECONDS = envnumber("FETCH_HOST_GAP_SECONDS", 1.0)
# Hosts whose operators allow us more than their robots.txt says. Empty: none.
FETCH_ROBOTS_EXEMPT_HOSTS = envlist("FETCH_ROBOTS_EXEMPT_HOSTS")
# Folders that a `local` source may read. Empty: none.
FETCH_LOCAL_DIRS = [Path(folder) for folder in envlist("FETCH_LOCAL_DIRS")]
# Every run lists this many days again (minutes appear late) and asks whether their documents have changed.
FETCH_WINDOW_DAYS = envint("FETCH_WINDOW_DAYS", 90, 1)
# A document whose server gives neither ETag nor date is fetched whole to be compared: at most this often.
FETCH_RECHECK_DAYS = envint("FETCH_RECHECK_DAYS", 14, 1)
# How long to wait for a server's answer.
FETCH_TIMEOUT_SECONDS = envnumber("FETCH_TIMEOUT_SECONDS", 30, 0.1)
FETCH_MAX_BYTES = envint("FETCH_MAX_BYTES", 500 * 1024 * 1024, 1)
FETCH_MEMORY_MB = envint("FETCH_MEMORY_MB", 1024, 64)
FETCH_USER_AGENT = env("FETCH_USER_AGENT", "Clerk/1.0 (civic records archive)")
# `auto`, `tesserocr`, `pytesseract`, or the name of an installed plug-in (docs/ocr.md).
OCR_ENGINE = env("OCR_ENGINE", "auto") or "auto"
if not OCR_ENGINE.replace("-", "_").isidentifier():
    raise ImproperlyConfigured(
        f"OCR_ENGINE={redacted(OCR_ENGINE)}: expected auto, tesserocr, pytesseract, accurate or a plug-in"
    )
TESSERACT_CMD = env("TESSERACT_CMD") or None
TESSDATA_PREFIX = env("TESSDATA_PREFIX") or None
# Whether the process that reads a document is shut in as far as the kernel can (docs/ocr.md), and the folders
# that a plug-in engine must see there, such as that of its models.
OCR_SANDBOX = envbool("OCR_SANDBOX", True)
OCR_READ_DIRS = envlist("OCR_READ_DIRS")
OCR_MEMORY_MB = envint("OCR_MEMORY_MB", 640, 200)
# "below:90": pages that the engine is less than 90 percent sure of are read by the accurate one, too.
OCR_ACCURATE = env("OCR_ACCURATE") or ""
OCR_ACCURATE_BELOW = 0
if OCR_ACCURATE:
    _policy, _, _percent = OCR_ACCURATE.partition(":")
    if _policy != "below" or not _percent.isdecimal() or not 1 <= int(_percent) <= 100:
        raise ImproperlyConfigured(
            f"OCR_ACCURATE={redacted(OCR_ACCURATE)}: expected below:PERCENT, as in below:90"
        )
    OCR_ACCURATE_BELOW = int(_percent)
OCR_ACCURATE_MEMORY_MB = envint("OCR_ACCURATE_MEMORY_MB", 1536, 800)
OCR_PAGE_SECONDS = envnumber("OCR_PAGE_SECONDS", 120, 1)
OCR_MAX_PAGES = envint("OCR_MAX_PAGES", 5000, 1)

# ---- Schedule and alarms ----------------------------------------------------------------------------

# How often a site is checked that has no rhythm of its own, and how many sites may run at once for it.
SCHEDULE_RHYTHM = envchoice(
    "SCHEDULE_RHYTHM",
    "daily",
    ("hourly", "daily", "weekdays", "weekly", "meetings", "adaptive", "never"),
)
SCHEDULE_AT_ONCE = envint("SCHEDULE_AT_ONCE", 25, 1)
# Minutes between two passes of reconcile that `manage.py workers` runs itself. 0: cron calls it.
WORKERS_RECONCILE_MINUTES = envint("WORKERS_RECONCILE_MINUTES", 0)
# Asked after each pass of reconcile (healthchecks-style), with /fail where the pass failed. Empty: none.
PING_URL = env("PING_URL")
if PING_URL and urlsplit(PING_URL).scheme not in ("http", "https"):
    raise ImproperlyConfigured("PING_URL: expected https://…")
# Alarms that open within this time of each other are told in one message.
ALARM_GROUP_SECONDS = envint("ALARM_GROUP_SECONDS", 120)
# Messages that one channel gets in an hour; what comes above waits and is told in one.
ALARM_MESSAGES_PER_HOUR = envint("ALARM_MESSAGES_PER_HOUR", 6, 1)

# ---- Records ----------------------------------------------------------------------------------------

# Whether everyone may read the records. Off: only those who may look at the pipeline.
RECORDS_PUBLIC = envbool("RECORDS_PUBLIC")
# What one address may ask for in a minute. 0: as much as it likes.
RECORDS_SEARCHES_PER_MINUTE = envint("RECORDS_SEARCHES_PER_MINUTE", 60)
RECORDS_IMAGES_PER_MINUTE = envint("RECORDS_IMAGES_PER_MINUTE", 600)
# Requests to the API in a minute, from one address without a token. 0: no limit.
RECORDS_API_PER_MINUTE = envint("RECORDS_API_PER_MINUTE", 60)
# Notes and saved searches that one address may leave in a minute. 0: no limit.
RECORDS_NOTES_PER_MINUTE = envint("RECORDS_NOTES_PER_MINUTE", 5)
# The index over all sites: where it lies, and whether deploy writes it.
SEARCH_INDEX = envbool("SEARCH_INDEX", True)
SEARCH_INDEX_DIR = envpath("SEARCH_INDEX_DIR", BASE_DIR / "var" / "index")
# Pictures of pages are drawn when somebody looks, and kept here within this bound.
RECORDS_IMAGE_CACHE_DIR = envpath("RECORDS_IMAGE_CACHE_DIR", BASE_DIR / "var" / "images")
RECORDS_IMAGE_CACHE_MB = envint("RECORDS_IMAGE_CACHE_MB", 500, 1)

# ---- Mail -------------------------------------------------------------------------------------------

# Empty: no mail is sent, and nobody is offered any.
EMAIL_HOST = env("EMAIL_HOST")
EMAIL_PORT = envint("EMAIL_PORT", 587, 1)
EMAIL_HOST_USER = env("EMAIL_USER")
EMAIL_HOST_PASSWORD = env("EMAIL_PASSWORD")
_EMAIL_SECURITY = envchoice("EMAIL_SECURITY", "starttls", ("starttls", "tls", "none"))
EMAIL_USE_TLS, EMAIL_USE_SSL = _EMAIL_SECURITY == "starttls", _EMAIL_SECURITY == "tls"
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = env("EMAIL_FROM", "clerk@localhost")
# Where people reach Clerk. What is sent from a command has no request that could tell.
PUBLIC_URL = env("PUBLIC_URL", "http://127.0.0.1:8000").rstrip("/")
if urlsplit(PUBLIC_URL).scheme not in ("http", "https") or not urlsplit(PUBLIC_URL).netloc:
    # The value itself may hold a password.
    raise ImproperlyConfigured("PUBLIC_URL: expected https://host")

# ---- Who gets in -----------------------------------------------------------------------------------

# off; optional: for whoever has set one up; required: for everybody.
TWO_FACTOR = envchoice("TWO_FACTOR", "off", ("off", "optional", "required"))
# Single sign-on with OpenID Connect; without OIDC_CLIENT_ID there is none. Its client is an extra.
OIDC_RP_CLIENT_ID = env("OIDC_CLIENT_ID")
OIDC_RP_CLIENT_SECRET = env("OIDC_CLIENT_SECRET")
OIDC_OP_AUTHORIZATION_ENDPOINT = env("OIDC_AUTHORIZATION_URL")
OIDC_OP_TOKEN_ENDPOINT = env("OIDC_TOKEN_URL")
OIDC_OP_USER_ENDPOINT = env("OIDC_USERINFO_URL")
OIDC_OP_JWKS_ENDPOINT = env("OIDC_JWKS_URL")
# The role of people who come for the first time; none: only those who have an account already get in.
OIDC_NEW_USERS = envchoice("OIDC_NEW_USERS", "none", ("none", "viewer", "operator"))
OIDC_NAME = env("OIDC_NAME", "single sign-on") if OIDC_RP_CLIENT_ID else ""
OIDC_RP_SIGN_ALGO = "RS256"
OIDC_CREATE_USER = OIDC_NEW_USERS != "none"
if OIDC_RP_CLIENT_ID:
    for _name in ("CLIENT_SECRET", "AUTHORIZATION_URL", "TOKEN_URL", "USERINFO_URL", "JWKS_URL"):
        if not env(f"OIDC_{_name}"):
            raise ImproperlyConfigured(f"OIDC_CLIENT_ID is set, and OIDC_{_name} is not")
    if find_spec("mozilla_django_oidc") is None:
        raise ImproperlyConfigured("OIDC_CLIENT_ID needs the extra `single-sign-on`")
    INSTALLED_APPS = [*framework.INSTALLED_APPS, "mozilla_django_oidc"]
    _SIGN_ON = "clerk_project.account.sign_on.SingleSignOn"
    AUTHENTICATION_BACKENDS = [*framework.AUTHENTICATION_BACKENDS, _SIGN_ON]

# ---- Monitoring -------------------------------------------------------------------------------------

CLERK_VERSION = __version__
# Who may read /metrics, /health.json and the badge beside staff: whoever has the token, and these networks.
MONITORING_TOKEN = env("MONITORING_TOKEN")
MONITORING_NETWORKS = envnetworks("MONITORING_NETWORKS")
STATUS_BADGE_PUBLIC = envbool("STATUS_BADGE_PUBLIC")
# Where bugs are sent; empty: nowhere. Sentry's client is an extra, so it is imported only where it is wanted.
SENTRY_DSN = env("SENTRY_DSN")
SENTRY_ENVIRONMENT = env("SENTRY_ENVIRONMENT")
if SENTRY_DSN:
    try:
        import_module("clerk_project.sentry").start(SENTRY_DSN, CLERK_VERSION, SENTRY_ENVIRONMENT)
    except ImportError as error:
        raise ImproperlyConfigured(
            "SENTRY_DSN is set, and sentry-sdk is not installed: the extra `sentry` has it"
        ) from error
    except ValueError as error:  # the value itself is a key
        raise ImproperlyConfigured("SENTRY_DSN: expected https://key@host/number") from error

# ---- Taking over the old system ---------------------------------------------------------------------

# Lets the migrations that drop the old table and columns go ahead although their checks fail. It is logged.
CLERK_ALLOW_DROPS = envbool("CLERK_ALLOW_DROPS")
# Lets a backward migration delete documents, ledger rows, runs and what else its tables hold. It is logged.
CLERK_ALLOW_DELETION = envbool("CLERK_ALLOW_DELETION")

# ---- Logs -------------------------------------------------------------------------------------------

LOG_FORMAT = envchoice("LOG_FORMAT", "text", ("text", "json"))
LOG_LEVEL = envchoice("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"))
# What jobs write is kept for this many days, and shown on the pages of runs and failures. 0: not at all.
LOG_DAYS = envint("LOG_DAYS", 30)
LOGGING = logs.configured(LOG_FORMAT, LOG_LEVEL)
