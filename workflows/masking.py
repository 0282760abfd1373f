"""What leaves a run while rules are active (agent-events-v1 section 8): masked outputs, inputs, reasons."""

from typing import Any

from agents.errors import AgentError
from redaction.engine import Masker
from redaction.spec import RedactionFailed
from workflows.speech import MaskedSpeech


class Disclosure:
    """`masker` None: there are no rules. `texts` false: agents' texts wait for the block's output."""

    def __init__(self, masker: Masker | None, *, texts: bool) -> None:
        self._masker = masker
        self._texts = texts

    def speech(self) -> MaskedSpeech | None:
        """One agent's way out; None: as it is."""
        return None if self._masker is None else MaskedSpeech(self._masker, texts=self._texts)

    def output(self, output: dict[str, Any], said: str | None) -> dict[str, Any]:
        """A block's output; raises RedactionFailed. `said`: its agent's answer as it went out."""
        if self._masker is None:
            return output
        masked: dict[str, Any] = self._masker.mask_json(output)
        if said is not None:
            # The same text once more: chunks and content must agree to the letter.
            masked["content"] = said
        return masked

    def input(self, given: Any) -> Any:
        """What a block was given. What cannot be masked is withheld."""
        if self._masker is None:
            return given
        try:
            return self._masker.mask_json(given)
        except RedactionFailed:
            return None

    def reason(self, error: BaseException) -> str:
        """Why a block failed, for the log and the owner. What cannot be masked is withheld."""
        if self._masker is None or isinstance(error, RedactionFailed):
            return _literal(error)
        try:
            return self._masker.mask_document(_literal(error))
        except RedactionFailed as failure:
            return f"The reason is withheld: {failure.detail}"


def _literal(error: BaseException) -> str:
    """The reason as it was, with what each model of a chain answered."""
    if not isinstance(error, AgentError):
        return f"{type(error).__name__}: {error}"
    failures = [f"{failure.model}: {failure.code}: {failure.detail}" for failure in error.model_failures]
    return "; ".join([error.detail, *failures])
