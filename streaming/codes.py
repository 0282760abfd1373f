"""The codes of agent-events-v1 section 6, and the one sentence a stranger may read for each.

Codes are shared by every surface. What the log gets is another field (`detail`), never this one.
"""

from enum import StrEnum


class RunCode(StrEnum):
    """Why a run did not complete."""

    RUN_CANCELLED = "RUN_CANCELLED"
    RUN_TIMEOUT = "RUN_TIMEOUT"
    RUN_INTERRUPTED = "RUN_INTERRUPTED"
    PROVIDER_AUTH = "PROVIDER_AUTH"
    PROVIDER_RATE_LIMITED = "PROVIDER_RATE_LIMITED"
    PROVIDER_OVERLOADED = "PROVIDER_OVERLOADED"
    PROVIDER_BAD_REQUEST = "PROVIDER_BAD_REQUEST"
    PROVIDER_UNAVAILABLE = "PROVIDER_UNAVAILABLE"
    PROVIDER_STREAM_BROKEN = "PROVIDER_STREAM_BROKEN"
    PROVIDER_CONTENT_FILTERED = "PROVIDER_CONTENT_FILTERED"
    CONTEXT_WINDOW_EXCEEDED = "CONTEXT_WINDOW_EXCEEDED"
    OUTPUT_LIMIT = "OUTPUT_LIMIT"
    EMPTY_ANSWER = "EMPTY_ANSWER"
    MAX_TOOL_ROUNDS = "MAX_TOOL_ROUNDS"
    TOOL_FAILURE_LIMIT = "TOOL_FAILURE_LIMIT"
    BUDGET_EXCEEDED = "BUDGET_EXCEEDED"
    BLOCK_FAILED = "BLOCK_FAILED"
    AGENT_RUN_FAILED = "AGENT_RUN_FAILED"


#: The engine ends a run with these by its own rule between turns: `final` with success false (section 5).
ENDED_BY_RULE = frozenset({RunCode.TOOL_FAILURE_LIMIT, RunCode.BUDGET_EXCEEDED})

#: A model that fails with one of these before its turn ended is abandoned for the next one (section 4).
FALLBACK_CODES = frozenset(
    {
        RunCode.PROVIDER_AUTH,
        RunCode.PROVIDER_RATE_LIMITED,
        RunCode.PROVIDER_OVERLOADED,
        RunCode.PROVIDER_UNAVAILABLE,
        RunCode.PROVIDER_STREAM_BROKEN,
    }
)


class RefusalCode(StrEnum):
    """Why a request was answered with JSON instead of a stream."""

    INVALID_JSON = "INVALID_JSON"
    INVALID_BODY = "INVALID_BODY"
    INPUT_EMPTY = "INPUT_EMPTY"
    PROTOCOL_REQUIRED = "PROTOCOL_REQUIRED"
    UNKNOWN_OUTPUT = "UNKNOWN_OUTPUT"
    AUTH_REQUIRED = "AUTH_REQUIRED"
    AUTH_FAILED = "AUTH_FAILED"
    ORIGIN_NOT_ALLOWED = "ORIGIN_NOT_ALLOWED"
    NOT_FOUND = "NOT_FOUND"
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    CONVERSATION_BUSY = "CONVERSATION_BUSY"
    IDEMPOTENCY_CONFLICT = "IDEMPOTENCY_CONFLICT"
    IDEMPOTENCY_IN_PROGRESS = "IDEMPOTENCY_IN_PROGRESS"
    BODY_TOO_LARGE = "BODY_TOO_LARGE"
    UNSUPPORTED_MEDIA_TYPE = "UNSUPPORTED_MEDIA_TYPE"
    RATE_LIMITED = "RATE_LIMITED"
    BUDGET_EXCEEDED = "BUDGET_EXCEEDED"
    SERVICE_UNAVAILABLE = "SERVICE_UNAVAILABLE"


#: What a visitor of a public chat reads, on the wire, for a code. Fixed: nothing of a run is ever put in.
PUBLIC_RUN_SENTENCES: dict[RunCode, str] = {
    RunCode.RUN_CANCELLED: "The answer was stopped.",
    RunCode.RUN_TIMEOUT: "The answer took too long and was stopped.",
    RunCode.RUN_INTERRUPTED: "The service is restarting and cut the answer short. Please try again.",
    RunCode.PROVIDER_AUTH: "Something went wrong on our side.",
    RunCode.PROVIDER_RATE_LIMITED: "It is very busy right now. Please try again in a minute.",
    RunCode.PROVIDER_OVERLOADED: "It is very busy right now. Please try again in a minute.",
    RunCode.PROVIDER_BAD_REQUEST: "Something went wrong on our side.",
    RunCode.PROVIDER_UNAVAILABLE: "The assistant cannot be reached right now. Please try again later.",
    RunCode.PROVIDER_STREAM_BROKEN: "The answer broke off before its end. Please try again.",
    RunCode.PROVIDER_CONTENT_FILTERED: "This cannot be answered here.",
    RunCode.CONTEXT_WINDOW_EXCEEDED: "This conversation has become too long. Please start a new one.",
    RunCode.OUTPUT_LIMIT: "The answer grew too long. Please ask for a shorter one.",
    RunCode.EMPTY_ANSWER: "No answer came this time. Please try again.",
    RunCode.MAX_TOOL_ROUNDS: "This could not be finished.",
    RunCode.TOOL_FAILURE_LIMIT: "This could not be finished.",
    RunCode.BUDGET_EXCEEDED: "This chat has reached its limit for now. Please come back later.",
    RunCode.BLOCK_FAILED: "Something went wrong on our side.",
    RunCode.AGENT_RUN_FAILED: "Something went wrong on our side.",
}

#: The same for refusals: their status, and the sentence of their JSON body.
REFUSALS: dict[RefusalCode, tuple[int, str]] = {
    RefusalCode.INVALID_JSON: (400, "The request body is not valid JSON."),
    RefusalCode.INVALID_BODY: (400, "The request body is not what this endpoint accepts."),
    RefusalCode.INPUT_EMPTY: (400, "The input is empty."),
    RefusalCode.PROTOCOL_REQUIRED: (
        400,
        "includeThinking and includeToolCalls need the header X-Studio-Stream-Protocol: agent-events-v1 "
        'and "stream": true.',
    ),
    RefusalCode.UNKNOWN_OUTPUT: (400, "A selected output does not exist."),
    RefusalCode.AUTH_REQUIRED: (401, "Access to this resource needs a credential."),
    RefusalCode.AUTH_FAILED: (401, "The credential was not accepted."),
    RefusalCode.ORIGIN_NOT_ALLOWED: (403, "Requests from this origin are not allowed."),
    RefusalCode.NOT_FOUND: (404, "There is nothing here."),
    RefusalCode.METHOD_NOT_ALLOWED: (405, "This method is not allowed here."),
    RefusalCode.CONVERSATION_BUSY: (409, "An answer in this conversation is still on its way."),
    RefusalCode.IDEMPOTENCY_CONFLICT: (409, "This Idempotency-Key was used with another request."),
    RefusalCode.IDEMPOTENCY_IN_PROGRESS: (409, "The request with this Idempotency-Key is still running."),
    RefusalCode.BODY_TOO_LARGE: (413, "The request body is too large."),
    RefusalCode.UNSUPPORTED_MEDIA_TYPE: (415, "The request must be application/json."),
    RefusalCode.RATE_LIMITED: (429, "Too many requests. Please wait a moment."),
    RefusalCode.BUDGET_EXCEEDED: (429, "The budget is used up for now."),
    RefusalCode.SERVICE_UNAVAILABLE: (503, "The service is not available right now."),
}
