"""Arguments that a tool says are missing, and that the call of the answer at hand has: lost on the way to the tool."""

from __future__ import annotations

import re
from typing import NamedTuple

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.diagnose.fields import CallField, as_text, returned_calls

_MISSING = re.compile(
    r"\b[Mm]issing (?:required |mandatory )?(?:parameters?|arguments?|fields?|propert(?:y|ies))?"
    r":? ?[`'\"](?P<a>\w{1,60})"
    r"|[`'\"](?P<b>\w{1,60})[`'\"] (?:is|are) (?:a )?(?:required|missing)\b"
    r"|\b(?:required|missing) (?:property|parameter|argument|field):? [`'\"](?P<c>\w{1,60})"
)


class LostArguments(NamedTuple):
    """The call that has what its tool says is missing, and the names of that."""

    call: CallField
    names: tuple[str, ...]


def find_lost_arguments(trace: Trace, words: str) -> LostArguments | None:
    """Return the call of the answer that has every parameter which an error says is missing.

    Args:
        trace: A run with an answer.
        words: The words of the error.

    Returns:
        `None` where the error names no parameter, or where the answer has no such call, or several.
    """
    found = (match["a"] or match["b"] or match["c"] for match in _MISSING.finditer(words[:4_000]))
    names = tuple(dict.fromkeys(found))
    calls = returned_calls(trace) if names else ()
    named = [call for call in calls if call.name and re.search(rf"\b{re.escape(call.name)}\b", words)] or [*calls]
    if len(named) != 1:
        return None
    call = named[0]
    value = decode_json(as_text(call.arguments) or "") if isinstance(call.arguments, str) else call.arguments
    return LostArguments(call, names) if isinstance(value, dict) and {*names} <= value.keys() else None
