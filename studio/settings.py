"""All settings, one file, top to bottom. A fresh clone runs with nothing set; each variable has its line in
`.env.example`.

Only edges read settings; values travel inward as arguments.
"""

import atexit
import importlib.util
import ipaddress
import os
import shutil
import sys
import tempfile
from pathlib import Path

import django_stubs_ext
import environ
from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key

# Lets `ModelAdmin[Chat]` and the like be written at run time, as the types have it.
django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
TESTING = "pytest" in sys.modules
if not TESTING:
    environ.Env.read_env(BASE_DIR / ".env")


def _env_text(name: str, default: str = "") -> str:
    # Not environ's `env()`: it takes a value that begins with "$" for another variable's name.
    return os.environ.get(name, default).strip()


def _env_number(name: str, default: int, *, least: int = 0, most: int = 2**31 - 1) -> int:
    """Return a whole number from `least` to `most`, or raise ImproperlyConfigured that names the variable."""
    text = _env_text(name) or str(default)
    if not text.isdecimal() or not least <= int(text) <= most:
        raise ImproperlyConfigured(f"{name} must be a whole number from {least} to {most}, not {text!r}.")
    return int(text)


def _env_flag(name: str, default: bool) -> bool:
    text = (_env_text(name) or str(default)).lower()
    if text not in {"true", "false", "1", "0", "yes", "no", "on", "off"}:
        raise ImproperlyConfigured(f"{name} must be true or false, not {text!r}.")
    return text in {"true", "1", "yes", "on"}


def _env_list(name: str) -> list[str]:
    return [part.strip() for part in _env_text(name).split(",") if part.strip()]


def _require(name: str, module: str, file: str) -> None:
    """Refuse a variable whose optional packages are not installed."""
    if importlib.util.find_spec(module) is None:
        raise ImproperlyConfigured(f"{name} needs more packages: pip install -r requirements/{file}.")


# --- Where things are ---------------------------------------------------------------------------------------

DEBUG = False
PRODUCTION = _env_flag("STUDIO_PRODUCTION", False)
PORT = _env_number("PORT", 8000, least=1, most=65535)

if TESTING:
    # A folder of its own for each process: tests never meet real data and run side by side.
    DATA_DIR = Path(tempfile.mkdtemp(prefix="studio-test-"))
    atexit.register(shutil.rmtree, DATA_DIR, ignore_errors=True)
else:
    DATA_DIR = Path(_env_text("STUDIO_DATA_DIR") or BASE_DIR / "var").absolute()
try:
    DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
except OSError as _error:
    raise ImproperlyConfigured(f"STUDIO_DATA_DIR: cannot make the folder {DATA_DIR}: {_error}") from _error


def _generated_secret(path: Path) -> str:
    """Return the secret of this data folder, made on the first start; only its owner may read the file."""
    if not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(get_random_secret_key())
        try:
            os.link(draft, path)  # whole or not at all, and the first of two processes wins
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()


SECRET_KEY = _env_text("STUDIO_SECRET_KEY")
if PRODUCTION and len(SECRET_KEY) < 50:
    raise ImproperlyConfigured(
        "STUDIO_SECRET_KEY must be set to at least 50 characters when STUDIO_PRODUCTION is true."
    )
SECRET_KEY = SECRET_KEY or _generated_secret(DATA_DIR / "secret_key")
#: Older keys, newest first: what they encrypted and signed can still be read (rotation).
SECRET_KEY_FALLBACKS = _env_list("STUDIO_OLD_SECRET_KEYS")

ALLOWED_HOSTS = _env_list("STUDIO_HOSTS")
if PRODUCTION and not ALLOWED_HOSTS:
    raise ImproperlyConfigured("STUDIO_HOSTS must name the public host names when STUDIO_PRODUCTION is true.")
for _host in ALLOWED_HOSTS:
    if _host == "*" or "/" in _host:
        raise ImproperlyConfigured(f"STUDIO_HOSTS holds host names, like studio.example.com, not {_host!r}.")
CSRF_TRUSTED_ORIGINS = [f"https://{'*' if _host.startswith('.') else ''}{_host}" for _host in ALLOWED_HOSTS]
ALLOWED_HOSTS = ALLOWED_HOSTS or ["localhost", "127.0.0.1", "[::1]"]

# --- Limits and times ---------------------------------------------------------------------------------------

STUDIO_HEARTBEAT_SECONDS = _env_number("STUDIO_HEARTBEAT_SECONDS", 15, least=1)
STUDIO_REQUEST_SECONDS = _env_number("STUDIO_REQUEST_SECONDS", 3600, least=1)
STUDIO_RUN_LOG_DAYS = _env_number("STUDIO_RUN_LOG_DAYS", 30, least=1)
STUDIO_TRUSTED_PROXIES = _env_number("STUDIO_TRUSTED_PROXIES", 0, most=10)
#: CIDRs and host names on private or loopback addresses that tools may reach.
STUDIO_ALLOWED_NETWORKS = _env_list("STUDIO_ALLOWED_NETWORKS")
for _entry in STUDIO_ALLOWED_NETWORKS:
    if "/" in _entry:
        try:
            ipaddress.ip_network(_entry)
        except ValueError as _error:
            raise ImproperlyConfigured(f"STUDIO_ALLOWED_NETWORKS: {_error}") from _error
#: A body of a public or API request may not be larger than this, in bytes.
STUDIO_MAX_BODY_BYTES = 1_048_576
DATA_UPLOAD_MAX_MEMORY_SIZE = STUDIO_MAX_BODY_BYTES

# --- Applications -------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "daphne",
    "studio.admin_config.StudioAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "channels",
    "studio",
    "audit",
    "credentials",
    "redaction",
    "runs",
    "workflows",
    "deployments",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "studio.middleware.StaticFiles",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "studio.middleware.Sessions",
    "studio.middleware.Common",
    "studio.middleware.Csrf",
    "studio.middleware.Authentication",
    "audit.actor.middleware",
    "studio.middleware.Messages",  # stays the last: see studio.middleware
]

ROOT_URLCONF = "studio.urls"
ASGI_APPLICATION = "studio.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# --- Database -----------------------------------------------------------------------------------------------

_url = _env_text("DATABASE_URL")
if _url and not _url.startswith(("postgres://", "postgresql://", "sqlite:///")):
    raise ImproperlyConfigured("DATABASE_URL must be a postgres:// or sqlite:/// address.")
try:
    _database = environ.Env.db_url_config(_url) if _url else {}
except ValueError as _error:
    # Without the reason: it may quote a part of the password.
    raise ImproperlyConfigured(
        "DATABASE_URL is not like postgres://user:password@host:5432/name."
    ) from _error
if _database.get("ENGINE") == "django.db.backends.postgresql":
    _require("DATABASE_URL", "psycopg_pool", "postgres.txt")
    # A max age leaks connections under ASGI; a pool holds few and gives them back after each request.
    _database["CONN_MAX_AGE"] = 0
    _database["CONN_HEALTH_CHECKS"] = True
    _database.setdefault("OPTIONS", {})["pool"] = {"min_size": 0, "max_size": 10, "timeout": 10}
else:
    _database = {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": _database.get("NAME") or DATA_DIR / "studio.sqlite3",
        "OPTIONS": {
            # With these 2000 of 2000 contended transactions succeed; with the defaults 12 of 2000.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }
DATABASES = {"default": _database}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = _env_text("REDIS_URL")
if REDIS_URL:
    _require("REDIS_URL", "channels_redis", "redis.txt")
CHANNEL_LAYERS = {
    "default": (
        {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [REDIS_URL]}}
        if REDIS_URL
        else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    )
}

# --- Signing in, sessions, headers --------------------------------------------------------------------------

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "admin:login"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
#: For the admin and error pages; a chat's page brings its own. No inline script or style anywhere.
CONTENT_SECURITY_POLICY = {
    "EXCLUDE_URL_PREFIXES": ["/api/", "/v1/", "/health/"],
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    },
}
if PRODUCTION:
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_SSL_REDIRECT = STUDIO_TRUSTED_PROXIES > 0  # without a proxy nothing tells http from https
    SECURE_REDIRECT_EXEMPT = [r"^health/"]  # load balancers ask over plain HTTP
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if STUDIO_TRUSTED_PROXIES else None
SILENCED_SYSTEM_CHECKS = [
    "security.W003",  # CSRF protection is studio.middleware.Csrf, which the check does not know
    "security.W005",  # HSTS for subdomains: they are not ours to decide on
    "security.W021",  # nor the browsers' preload lists
]

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "runs.http.IgnoreAccept",
    "EXCEPTION_HANDLER": "runs.http.exception_handler",
    "UNAUTHENTICATED_USER": None,
}

# --- Language, static files, log ----------------------------------------------------------------------------

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"] if (BASE_DIR / "static").is_dir() else []
WHITENOISE_USE_FINDERS = True

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "studio.logs.OneLine"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        # Django's own handlers (mail, a second console) are not used: one line an event, on stderr.
        "django": {"handlers": [], "level": "WARNING", "propagate": True},
        # Scanners ask for any host and path all day; that is no event of ours.
        "django.security.DisallowedHost": {"level": "CRITICAL"},
        "django.request": {"level": "ERROR"},
        **{name: {"level": "INFO"} for name in ("studio", "deployments", "runtime", "workflows", "runs")},
    },
}
