"""The values of calls that a server changed: written by our reading, returned by the message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_text, decode_json
from prompt_debugger.core.base.types import JSON, CallOutcome, CallStatus, Certainty, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.fields import CallField
from prompt_debugger.core.diagnose.trace_queries import comparison, matched_calls


class AlteredCall(NamedTuple):
    """A call whose arguments came back changed.

    Attributes:
        written: As the model wrote it.
        returned: As the message has it.
        certainty: How surely both belong together.
    """

    written: ToolCallAttempt
    returned: CallField
    certainty: Certainty

    def changes(self) -> Iterator[tuple[str, JSON, JSON]]:
        """Yield path, written and returned value of everything that is on both sides and differs."""
        returned = decode_json(as_text(self.returned.arguments) or "")
        if isinstance(self.written.arguments_json, dict) and isinstance(returned, dict):
            yield from _changes("", self.written.arguments_json, returned)


def altered_arguments(trace: Trace) -> Iterator[AlteredCall]:
    """Yield the finished calls whose arguments the ledger found altered."""
    certainty = comparison(trace)
    if certainty is None:
        return
    for match, written, got in matched_calls(trace):
        is_altered = match.outcome is CallOutcome.ALTERED and "arguments" in match.altered
        if is_altered and written.status is CallStatus.COMPLETE:
            yield AlteredCall(written, got, certainty)


def _changes(path: str, written: JSON, returned: JSON, depth: int = 0) -> Iterator[tuple[str, JSON, JSON]]:
    if depth < 50 and isinstance(written, dict) and isinstance(returned, dict):
        for key in (key for key in written if key in returned):
            yield from _changes(f"{path}.{key}" if path else key, written[key], returned[key], depth + 1)
    elif type(written) is not type(returned) or written != returned:
        yield path, written, returned
