"""A request that is answered with `{"error","code"}` instead of being served (agent-events-v1 section 6).

What a stranger reads is the fixed sentence of the code. `detail` is for the log, and for callers of an
authenticated surface, which may read real reasons.
"""

from collections.abc import Mapping
from typing import Any

from streaming.codes import REFUSALS, RefusalCode

#: Codes whose answer says when to come again, and when that is if nobody knows better, in seconds.
_COME_AGAIN = {
    RefusalCode.RATE_LIMITED: 5,
    RefusalCode.BUDGET_EXCEEDED: 60,
    RefusalCode.IDEMPOTENCY_IN_PROGRESS: 1,
    RefusalCode.SERVICE_UNAVAILABLE: 5,
}


class Refused(Exception):
    """Raised anywhere before a stream begins; the surface's one exception handler makes the answer of it.

    `detail` is private. `extra` are public fields of the body beside `error` and `code`, e.g. the outputs
    that can be selected. `retry_after` is in seconds.
    """

    def __init__(
        self,
        code: RefusalCode,
        detail: str = "",
        *,
        retry_after: int | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{code}: {detail}" if detail else str(code))
        self.code = code
        self.detail = detail
        self.retry_after = _COME_AGAIN.get(code) if retry_after is None else max(1, retry_after)
        self.extra = dict(extra or {})

    @property
    def status(self) -> int:
        return REFUSALS[self.code][0]

    def body(self, *, explained: bool = False) -> dict[str, Any]:
        """Return the JSON body. `explained`: the caller may read the real reason, where there is one."""
        sentence = self.detail if explained and self.detail else REFUSALS[self.code][1]
        return {"error": sentence, "code": self.code.value, **self.extra}
