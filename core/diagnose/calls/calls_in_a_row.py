r"""Calls in bare JSON one after another, of which one has no arguments: a reader of single calls gives up on them.

{"name": "read", "arguments": {"path": "a.md"}}
{"name": "list_jobs"}
"""

from __future__ import annotations

import json

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import Certainty, Severity, Trace
from prompt_debugger.core.diagnose.fields import body_of, request_tools
from prompt_debugger.core.diagnose.rules.base import Report
from prompt_debugger.core.diagnose.trace_queries import in_message
from prompt_debugger.core.diagnose.words import listed

_DECODER = json.JSONDecoder(strict=False)
_MAX = 64
_MAX_CHARS = 100_000


def report_calls_in_a_row(trace: Trace, content: str) -> Report | None:
    """Report content that is nothing but such calls, all of tools that the request offers."""
    names = _names(content, {tool.name for tool in request_tools(trace.request)})
    if not names or body_of(trace).get("response_format") or body_of(trace).get("tool_choice") == "none":
        return None
    return Report(
        title=f"Content is nothing but calls to {listed(names)}, in bare JSON, and not all have arguments.",
        detail="The objects come one after another, without a list around them, and one has a name alone, as for a "
        "tool without parameters. A parser that looks for one object with `name` and `arguments` leaves all of it in "
        "the text.",
        evidence=(in_message("content", content[:400]),),
        fix="Check that the prompt contains the tools in the model's own notation (`render`), as bare JSON is what a "
        "model falls back to. Until then read the objects one by one in the client, and take a missing `arguments` for "
        "an empty object.",
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )


def _names(text: str, offered: set[str]) -> list[str]:
    r"""Return the tools that the objects of a text call, in order; none if anything else is in it.

    >>> _names('{"name": "a", "arguments": {}}\\n{"name": "b"}', {"a", "b"}), _names('{"name": "b"}', {"b"})
    (['a', 'b'], [])
    """
    if not text.startswith(("{", " ", "\n", "\t")) or len(text) > _MAX_CHARS or not offered:
        return []
    found: list[str] = []
    bare = 0
    at = len(text) - len(text.lstrip())
    while at < len(text) and len(found) < _MAX:
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        call = as_object(value)
        name = call.get("name")
        keys = call.keys() - {"name"}
        if not isinstance(name, str) or name not in offered or not keys <= {"arguments", "parameters"}:
            return []
        if keys and not all(isinstance(call[key], dict) for key in keys):
            return []
        bare += not keys
        found.append(name)
        while at < len(text) and text[at] in " \t\r\n;,":
            at += 1
    return found if 0 < bare < len(found) and at == len(text) else []
