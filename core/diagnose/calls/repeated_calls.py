"""Calls that are in the text of a message although the server returned them: a stream showed them before it read them.

The two are compared by name and by what the arguments say, as the text has them in the notation of a family (XML), and
the answer as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from prompt_debugger.core.base.json_values import as_object, decode_json
from prompt_debugger.core.base.types import JSON, Certainty, Severity, ToolCallAttempt
from prompt_debugger.core.diagnose.fields import CallField
from prompt_debugger.core.diagnose.rules.base import Report
from prompt_debugger.core.diagnose.trace_queries import in_message


def not_returned(calls: Sequence[ToolCallAttempt], returned: Sequence[CallField]) -> list[ToolCallAttempt]:
    """Return the written calls that are not among the returned ones."""
    return [call for call in calls if not any(_is_same(call, one) for one in returned)]


def report_repeated(calls: Sequence[ToolCallAttempt], content: str) -> Report:
    """Report calls that were returned and are in content, too."""
    names = ", ".join(f"`{call.name}`" for call in calls[:6])
    is_one = len(calls) == 1
    return Report(
        title=f"The {'call' if is_one else 'calls'} to {names} {'is' if is_one else 'are'} also in content, as text.",
        detail=f"The answer has {'the call' if is_one else 'the calls'}, so nothing is lost; the text shows "
        f"{'it' if is_one else 'them'} once more, as the model wrote {'it' if is_one else 'them'}. Servers that stream "
        "text before they recognize a call in it answer like this.",
        evidence=tuple(in_message("content", content[slice(*call.char_span)], call.char_span) for call in calls),
        fix="Execute the returned calls only, and do not show this text or send it back in the history. Compare with "
        "an answer that is not streamed, and report it to the authors of the server.",
        severity=Severity.WARNING,
        certainty=Certainty.OBSERVED,
    )


def _is_same(call: ToolCallAttempt, one: CallField) -> bool:
    if call.name != one.name:
        return False
    if call.arguments == str(one.arguments):
        return True
    decoded = decode_json(one.arguments) if isinstance(one.arguments, str) else one.arguments
    if call.arguments_json is None or not isinstance(decoded, dict):
        return False
    return _as_texts(call.arguments_json) == _as_texts(decoded)


def _as_texts(values: JSON) -> dict[str, str]:
    """Return values as texts: a notation without types has no others."""
    return {
        name: value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        for name, value in as_object(values).items()
    }
