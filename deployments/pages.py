"""The chat's own page, `/chat/{slug}`. It holds title and slug; the rest comes over the API, by access.

Its headers are strict: scripts and styles are files of ours, and only listed sites may frame it.
"""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from agents.providers.demo import DemoProvider
from credentials.crypto import CredentialError
from credentials.providers import resolve
from deployments import origins, policy
from runs.refusals import Refused
from workflows.blocks.agent import Agent
from workflows.graph import read
from workflows.models import WorkflowVersion
from workflows.problems import GraphError

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; frame-ancestors "
)


@xframe_options_exempt
@require_safe
def chat_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Unknown, inactive and unpublished chats are the same page, byte for byte."""
    try:
        chat, version = policy.find_chat(slug)
    except Refused as refused:
        return _guarded(render(request, "deployments/unavailable.html", status=refused.status), ["'none'"])
    shown = {
        "title": chat.title,
        "slug": chat.slug,
        "locale": chat.locale or "en",
        "demo": _is_demo(version),
    }
    listed = [origin for origin in chat.allowed_origins if origins.parse(origin)]
    return _guarded(render(request, "deployments/chat.html", shown), ["'self'", *listed])


def _is_demo(version: WorkflowVersion) -> bool:
    """Whether scripted answers stand in for a model's: whoever reads them must know."""
    try:
        blocks = read(version.graph).blocks.values()
        models = [block.model for block in blocks if isinstance(block, Agent)]
        return any(resolve(model).provider.vendor == DemoProvider.vendor for model in models)
    except (GraphError, CredentialError):
        return False


def _guarded(response: HttpResponse, ancestors: Sequence[str]) -> HttpResponse:
    # frame-ancestors instead of X-Frame-Options, which cannot name other sites.
    response.headers["Content-Security-Policy"] = _POLICY + " ".join(ancestors)
    response.headers["Permissions-Policy"] = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
    response.headers["Cache-Control"] = "no-store"
    return response
