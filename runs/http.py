"""What every HTTP surface shares: refusals as `{"error","code"}`, one exception handler, bodies, client address."""

from rest_framework.negotiation import BaseContentNegotiation
