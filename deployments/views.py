"""The public chat endpoints (agent-events-v1 section 12). Synchronous: they query and admit; streams follow.

No session, no CSRF token: a visitor brings a token and perhaps a grant, and sites are told apart by `Origin`.
"""

import logging
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from deployments import (
    access,
    conversations,
    messages,
    origins,
    policy,
    serializers,
    stream,
    visitors,
)
from deployments.models import ChatDeployment
from deployments.origins import Site
from runs import erasure, idempotency
from runs.http import client_address, framework_refusal, parse_body
from runs.models import Conversation
from streaming import agent_events_v1
from streaming.response import EventStreamResponse
from workflows.models import WorkflowVersion

logger = logging.getLogger("deployments")


class ChatAPIView(APIView):
    """Finds chat and site before anything else; every answer, refusals too, carries the site's headers."""

    chat: ChatDeployment
    version: WorkflowVersion
    site = Site.FOREIGN

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self.chat, self.version = policy.find_chat(kwargs["slug"])
        host = request.get_host()
        # A proxy that takes TLS off hides from us that the page came by https.
        own = (f"{request.scheme}://{host}", f"https://{host}")
        self.site = origins.site(request.headers.get("Origin"), own, self.chat.allowed_origins)
        policy.check_site(self.site)
        super().initial(request, *args, **kwargs)

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        """The preflight: without credentials, as browsers send it."""
        headers = origins.preflight_headers(self.site, request.headers.get("Origin"))
        return Response(status=204, headers=headers)

    def handle_exception(self, exc: Exception) -> Any:
        """What nobody expected becomes an answer here already, so that a site may read its status."""
        try:
            return super().handle_exception(exc)
        except Exception:
            logger.exception("A chat endpoint failed.")
            return framework_refusal(500)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        for name, value in origins.cors_headers(self.site, request.headers.get("Origin")).items():
            response.headers.setdefault(name, value)
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    @property
    def grant(self) -> str | None:
        return access.CARRIER.read(self.request, self.site)

    @property
    def path(self) -> str:
        """Where this chat's cookies belong."""
        return f"/api/chat/{self.chat.slug}"

    def address(self) -> str:
        return client_address(self.request, settings.STUDIO_TRUSTED_PROXIES)


class ChatView(ChatAPIView):
    def get(self, request: Request, slug: str) -> Response:
        if policy.has_access(self.chat, self.grant):
            return Response(serializers.config(self.chat))
        return Response(serializers.locked_config(self.chat))

    def post(self, request: Request, slug: str) -> EventStreamResponse:
        """One message: a stream of its answer, or a refusal."""
        values = parse_body(request, settings.STUDIO_MAX_BODY_BYTES)
        negotiated = agent_events_v1.negotiated(request.headers.get(agent_events_v1.HEADER))
        asking = messages.Asking(
            chat=self.chat,
            version=self.version,
            visitor=visitors.visitor_of(request, self.site, self.chat),
            address=self.address(),
            grant=self.grant,
            negotiated=negotiated,
            idempotency_key=request.headers.get(idempotency.HEADER),
            now=timezone.now(),
        )
        admitted = messages.admit(asking, values)
        response = stream.response(admitted)
        if admitted.visitor.issued:
            visitors.CARRIER.write(response, self.site, admitted.visitor.token, self.path)
        if admitted.grant is not None:
            access.CARRIER.write(response, self.site, admitted.grant, self.path)
        return response


class AccessView(ChatAPIView):
    def post(self, request: Request, slug: str) -> HttpResponse:
        body = parse_body(request, settings.STUDIO_MAX_BODY_BYTES)
        password = serializers.read(serializers.AccessBody, body).password
        response = HttpResponse(status=204)
        if not access.is_open(self.chat):
            policy.check_password(self.chat, password, self.address(), timezone.now())
            access.CARRIER.write(response, self.site, access.grant(self.chat), self.path)
        return response


class ConversationView(ChatAPIView):
    """A visitor's own conversation: with any other token, or none, there is nothing here."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        policy.check_access(self.chat, self.grant)

    def get(self, request: Request, slug: str, conversation_id: str) -> Response:
        found = self.find(conversation_id)
        return Response(serializers.conversation(found.pk, found.messages.all()))

    def delete(self, request: Request, slug: str, conversation_id: str) -> HttpResponse:
        erasure.erase(self.find(conversation_id).pk)
        return HttpResponse(status=204)

    def find(self, conversation_id: str) -> Conversation:
        visitor = visitors.visitor_of(self.request, self.site, self.chat)
        return conversations.find(self.chat, visitor, conversation_id)
