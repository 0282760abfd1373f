"""Azure OpenAI's three kinds of address, told apart. Pure."""

from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit, urlunsplit

_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")

#: The last dated version that is no preview, for deployment addresses that name none.
_DATED_VERSION = "2024-10-21"


@dataclass(frozen=True)
class Address:
    """Where requests go. `api_version` is set where Azure's dated API is meant, not OpenAI's shape."""

    base_url: str
    api_version: str | None = None


def address_of(base_url: str) -> Address:
    """Return where a base URL leads: `…/openai/v1` for a bare Azure resource, dated if it says so."""
    parts = urlsplit(base_url)
    if not (parts.hostname or "").endswith(_HOSTS):
        return Address(base_url)
    path = parts.path.rstrip("/")
    version = next(iter(parse_qs(parts.query).get("api-version", ())), None)
    if "/openai/v1" in path or path.endswith("/models"):
        return Address(base_url)
    if "/deployments/" in path:
        version = version or _DATED_VERSION
    if not path.endswith("/openai") and "/openai/" not in path:
        path += "/openai"
    if version is None:
        path += "/v1"
    return Address(urlunsplit((parts.scheme, parts.netloc, path, "", "")), version)
