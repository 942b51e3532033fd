"""A call in bare JSON as the content of a message that no parser can read: open at its end, or broken inside.

{"name": "write", "arguments": {"text": "a                       open
{"name": "write", "arguments": {"text": "<p class="x">"}}       a quotation mark that is not escaped
[{"name": "write", "arguments": {"text": "a"}}                  whole calls in a list that is open
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from prompt_debugger.core.base.types import Certainty, Severity, Stage, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.calls.broken_arguments import stops_early
from prompt_debugger.core.diagnose.calls.written_calls import is_request_known, name_of_bare_call
from prompt_debugger.core.diagnose.fields import request_tools
from prompt_debugger.core.diagnose.rules.base import Report
from prompt_debugger.core.diagnose.trace_queries import in_message
from prompt_debugger.core.diagnose.words import counted, listed
from prompt_debugger.core.known_errors import json_break

AGAIN = (
    "Ask again: the model wrote it this way. A grammar for calls keeps their JSON whole (`tool_choice` as `required`, "
    "or `strict` in the tool, where the server constrains calls by it)."
)
_FENCE = re.compile(r"\A\s*+```[\w+-]{0,20}[ \t]{0,8}\n")
_LENIENT = json.JSONDecoder(strict=False)
_BEFORE_LIST = re.compile(r"\s*+(?:\[TOOL_CALLS\]|<[\w|]{1,40}>)?\s*+(?=\[)")
_AFTER_LIST = re.compile(r"</[\w|]{1,40}>\s*+\Z")
OF_OPEN_LIST = (
    "A parser that decodes the list as a whole finds no call in it, and another may return the calls that are whole; "
    "whether another call was to follow is unknown."
)
_MAX_END = 200  # characters in which the marker after a list is looked for
_BEFORE = 24  # characters that are shown before the place


def open_bare_call(text: str) -> str | None:
    """Return the name of the call that a text is, in bare JSON that is not closed; `None` if it is anything else."""
    name = name_of_bare_call(text)
    return name if name is not None and stops_early(text.strip()) else None


def is_open_list(text: str) -> bool:
    """Return whether a text is a list of objects of which nothing but the bracket that closes it is missing.

    >>> is_open_list('[{"name": "look"}'), is_open_list('[{"name": "look"}]'), is_open_list('[{"name": "look"')
    (True, False, False)
    """
    begun = _BEFORE_LIST.match(text)
    ended = _AFTER_LIST.search(text, max(0, len(text) - _MAX_END))
    shown = "" if begun is None else text[begun.end() : len(text) if ended is None else ended.start()].rstrip()
    if not shown.endswith("}"):
        return False
    try:
        return bool(json.loads(f"{shown}]", strict=False))
    except (ValueError, RecursionError):
        return False


def report_open_list(calls: Sequence[ToolCallAttempt], content: str) -> Report:
    """Report content that is nothing but whole calls in a list that is open."""
    return Report(
        title=f"Content is {said_of_open_list(calls)}",
        detail=f"It ends with {content.rstrip()[-40:]!r}. {OF_OPEN_LIST}",
        evidence=(in_message("content", content),),
        fix=f"Raise `max_tokens` where finish_reason is `length`. {AGAIN}",
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
        stage=Stage.COMPLETE,
    )


def said_of_open_list(calls: Sequence[ToolCallAttempt]) -> str:
    """Say what is missing from a list of calls, as the end of a sentence."""
    names = listed(list(dict.fromkeys(call.name or "" for call in calls)))
    subject = f"a call to {names}" if len(calls) == 1 else f"{counted(len(calls), 'call')} ({names})"
    return f"{subject} in a list that is not closed: `]` at its end is missing."


def report_broken_bare(trace: Trace, content: str) -> Report | None:
    """Report content that begins with such a call, of an offered tool, where the request does not want JSON."""
    begun = _FENCE.match(content)
    text = content if begun is None else content[begun.end() :].rstrip().removesuffix("```")
    name = name_of_bare_call(text)
    body = trace.request.body
    if name is None or body.get("response_format") or body.get("tool_choice") == "none":
        return None
    if is_request_known(trace) and name not in {tool.name for tool in request_tools(trace.request)}:
        return None
    if open_bare_call(text) is not None:
        return _report_open(name, content) if begun is None else None
    return _report_broken(name, text.strip(), content)


def unescaped_before(text: str, at: int) -> str:
    """Return what to say where a text that is no JSON goes on right after a quotation mark; "" elsewhere.

    >>> unescaped_before('{"a": "<p class="x">"}', 17)[:18], unescaped_before('{"a": 1 2}', 8)
    (' The quotation mar', '')
    """
    is_after = text[at - 1 : at] == '"' and text[at : at + 1].isalnum()
    return " The quotation mark before that place ends the string: inside one it has to be escaped." if is_after else ""


def _report_open(name: str, content: str) -> Report:
    return Report(
        title=f"Content begins a call to `{name}` in JSON that is not closed.",
        detail=f"It ends with {content[-60:]!r}: this is how this model writes its calls, "
        "and no parser reads one with unclosed brackets.",
        evidence=(in_message("content", content),),
        fix=f"Do not run this call. Raise `max_tokens` where finish_reason is `length`. {AGAIN}",
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
        stage=Stage.COMPLETE,
    )


def _report_broken(name: str, text: str, content: str) -> Report | None:
    fault = json_break(text)
    if fault is None or not text.endswith("}") or _begins_whole(text):
        return None
    place = text[max(0, fault.at - _BEFORE) : fault.at + 1]
    return Report(
        title=f"Content is a call to `{name}` in JSON that is malformed: {fault.why}.",
        detail=f"The place is character {fault.at}, after {place!r}.{unescaped_before(text, fault.at)} No parser reads "
        "the call, so it was returned as text.",
        evidence=(in_message("content", content),),
        fix=f"Do not run this call. {AGAIN}",
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
        stage=Stage.COMPLETE,
    )


def _begins_whole(text: str) -> bool:
    """Return whether a text begins with whole JSON, but for control characters in strings, which some parsers allow."""
    try:
        _LENIENT.raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return False
    return True
