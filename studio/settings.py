"""All settings, one file, top to bottom. A fresh clone runs with nothing set; `.env.example` lists every variable.

Only edges read settings; values travel inward as arguments.
"""

import ipaddress
import sys
from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env")


def _env_text(name: str, default: str = "") -> str:
    return str(env.str(name, default=default)).strip()


def _env_number(name: str, default: int, *, least: int = 0) -> int:
    """A whole number of at least `least`, or ImproperlyConfigured that names the variable."""
    text = _env_text(name, str(default))
    if not text.isdecimal() or int(text) < least:
        raise ImproperlyConfigured(f"{name} must be a whole number of at least {least}, not {text!r}.")
    return int(text)


def _env_flag(name: str, default: bool) -> bool:
    text = _env_text(name, str(default)).lower()
    if text not in {"true", "false", "1", "0", "yes", "no", "on", "off"}:
        raise ImproperlyConfigured(f"{name} must be true or false, not {text!r}.")
    return text in {"true", "1", "yes", "on"}


def _env_list(name: str) -> list[str]:
    return [part.strip() for part in _env_text(name).split(",") if part.strip()]


# --- Where things are ---------------------------------------------------------------------------------------

DEBUG = False
TESTING = "pytest" in sys.modules
PRODUCTION = _env_flag("STUDIO_PRODUCTION", False)
DATA_DIR = Path(_env_text("STUDIO_DATA_DIR", str(BASE_DIR / "var")))
DATA_DIR.mkdir(parents=True, exist_ok=True)


def _generated_secret(path: Path) -> str:
    """Read the secret of this data folder, made on the first start; only its owner may read the file."""
    try:
        with path.open("x") as file:
            path.chmod(0o600)
            file.write(get_random_secret_key())
    except FileExistsError:
        pass
    return path.read_text().strip()


SECRET_KEY = _env_text("STUDIO_SECRET_KEY")
if not SECRET_KEY:
    if PRODUCTION:
        raise ImproperlyConfigured("STUDIO_SECRET_KEY must be set when STUDIO_PRODUCTION is true.")
    SECRET_KEY = _generated_secret(DATA_DIR / "secret_key")
#: Older keys, newest first: what they encrypted and signed can still be read (rotation).
SECRET_KEY_FALLBACKS = _env_list("STUDIO_OLD_SECRET_KEYS")

PORT = _env_number("PORT", 8000, least=1)
ALLOWED_HOSTS = _env_list("STUDIO_HOSTS") or ["localhost", "127.0.0.1", "[::1]"]
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in _env_list("STUDIO_HOSTS")]

# --- Limits and times ---------------------------------------------------------------------------------------

STUDIO_HEARTBEAT_SECONDS = _env_number("STUDIO_HEARTBEAT_SECONDS", 15, least=1)
STUDIO_REQUEST_SECONDS = _env_number("STUDIO_REQUEST_SECONDS", 3600, least=1)
STUDIO_RUN_LOG_DAYS = _env_number("STUDIO_RUN_LOG_DAYS", 30, least=1)
STUDIO_TRUSTED_PROXIES = _env_number("STUDIO_TRUSTED_PROXIES", 0)
#: CIDRs and host names on private or loopback addresses that tools may reach.
STUDIO_ALLOWED_NETWORKS = _env_list("STUDIO_ALLOWED_NETWORKS")
for _entry in STUDIO_ALLOWED_NETWORKS:
    if "/" in _entry:
        try:
            ipaddress.ip_network(_entry)
        except ValueError as error:
            raise ImproperlyConfigured(f"STUDIO_ALLOWED_NETWORKS: {error}") from error
#: A body of a public or API request may not be larger than this, in bytes.
STUDIO_MAX_BODY_BYTES = 1_048_576
DATA_UPLOAD_MAX_MEMORY_SIZE = STUDIO_MAX_BODY_BYTES

# --- Applications -------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "daphne",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "channels",
    "studio",
    "credentials",
    "redaction",
    "runs",
    "workflows",
    "deployments",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "studio.middleware.Sessions",
    "django.middleware.common.CommonMiddleware",
    "studio.middleware.Csrf",
    "studio.middleware.Authentication",
    "studio.middleware.Messages",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
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

if _env_text("DATABASE_URL"):
    DATABASES = {"default": env.db("DATABASE_URL")}
    # A max age leaks connections under ASGI; a pool holds few and gives them back after each request.
    DATABASES["default"]["CONN_MAX_AGE"] = 0
    if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
        DATABASES["default"].setdefault("OPTIONS", {})["pool"] = {"min_size": 0, "max_size": 10, "timeout": 10}
else:
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": DATA_DIR / "studio.sqlite3",
            "OPTIONS": {
                # With these 2000 of 2000 contended transactions succeed; with the defaults 12 of 2000.
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
            },
        }
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = _env_text("REDIS_URL")
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
if PRODUCTION:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if STUDIO_TRUSTED_PROXIES else None

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
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"] if (BASE_DIR / "static").is_dir() else []
WHITENOISE_USE_FINDERS = True

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {"studio": {"level": "INFO"}},
}
