"""What Clerk is made of in Django: apps, middleware, templates, policies. Operators set nothing here."""

from csp.constants import NONE, SELF, UNSAFE_INLINE

from clerk_project.values import CODE_DIR, INSTALLED

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "axes",
    "csp",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "django_htmx",
    "django_rq",
    "ninja",
    "sites",
    "pipeline",
    "records",
]
MIDDLEWARE = [
    "clerk_project.requests.RequestId",
    "pipeline.monitoring.probes.Probes",
    "records.api.cors.Cors",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "clerk_project.account.two_factor.SecondFactor",
    # Last, as it asks for: it turns the answer to one guess too many into a refusal.
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "clerk_project.urls"
WSGI_APPLICATION = "clerk_project.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [CODE_DIR / ("clerk_project/templates" if INSTALLED else "templates")],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "clerk_project.refusals.login_warning",
            ]
        },
    }
]
LANGUAGE_CODE = "en-us"
FORMAT_MODULE_PATH = "clerk_project.formats"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "dashboard"
CSRF_FAILURE_VIEW = "clerk_project.refusals.csrf_failure"
OTP_TOTP_ISSUER = "Clerk"
# Django's own hides keys and passwords in error pages; addresses have them too.
DEFAULT_EXCEPTION_REPORTER_FILTER = "clerk_project.error_pages.Filter"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
# The log says who guessed, and for whom. The password that was tried is never written.
AXES_SENSITIVE_PARAMETERS: list[str] = []

# No script but our own files'. django-rq's pages have a policy of their own (pipeline/dashboard/views.py).
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

STATIC_URL = "static/"
WHITENOISE_USE_FINDERS = True
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
