r"""Calls in content that depart from their notation so that a parser's flag alone does not help: what does, for each.

    {"name": "f", "arguments": "{\"a\": 1}"}       arguments encoded twice: parsers pass them on as a string
    "{\"name\": \"f\", \"arguments\": …}"          the whole call encoded twice: no parser reads it
    {"name": "f", "arguments": {…}}</tool_call>    no opening tag: parsers begin at it

Tried on vLLM 0.32 (`hermes`, `mistral`, `qwen3_coder`, `qwen3_xml`) and SGLang 0.5.23 (`qwen25`, `qwen3_coder`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.types import JSON, Span, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.advice import Step, is_done
from prompt_debugger.core.diagnose.calls.unparsed_calls import parser_steps

_OF_TEMPLATE = (
    "Check how the prompt shows calls of the history (`render`): a template that runs `tojson` over arguments that are "
    "already text teaches the model this form."
)
_TWICE = (
    "A parser that extracts the call returns its arguments as a string inside a string: decode them once more in the "
    f"client. {_OF_TEMPLATE}"
)
WHOLE_TWICE = Step(  # what helps with a call that was encoded as a whole
    f"{_OF_TEMPLATE} If it is right there, ask again: the model wrote the call this way, and no parser decodes it "
    "twice."
)
_HEADLESS = Step(
    "Find out where the opening tag went: parsers begin at it, and leave a call without it in the text. If the raw "
    "output has it (`skip_special_tokens: false`, or ask without streaming), the server took it out before its parser "
    "saw it. If not, the model left it out: ask again, and constrain calls where the server can (`tool_choice` as "
    "`required`)."
)
_ALONE_IN_VLLM = " SGLang's parser of this name needs the opening tag that is missing here."
_READ_HEADLESS = frozenset({"qwen3_coder"})  # by vLLM
_ENCODED = "JSON inside a JSON string"
_IS_HEADLESS = re.compile(r"^its opening tag is missing$|^`<tool_call>` before it is missing$")
_BODY = re.compile(
    r"(?P<open><tool_call>|<tools?>|\[TOOL_CALLS\]|<\|python_tag\|>|)\s{0,8}"
    r"(?P<body>\"(?:[^\"\\\n]|\\.){2,20000}\"|[\[{]{1,2}\s{0,8}\\\"(?:[^\"\\]|\\.){2,20000}\\?\"?[}\]\s]{1,8})"
    r"\s{0,8}(?P<close></tool_call>|</tools?>|)"
)


class EncodedCall(NamedTuple):
    """A call that was encoded as a string before it was written.

    Attributes:
        name: Of its tool.
        span: Where it is, markers included.
    """

    name: str
    span: Span


def have_taken_out(trace: Trace, calls: Sequence[ToolCallAttempt], family: str) -> tuple[Step, ...]:
    """Return what helps with calls of a family that are in content, by how they depart from its notation."""
    flags = parser_steps(trace, family)
    if any(_ENCODED in (call.deviation or "") for call in calls):
        first, *others = flags
        if is_done(trace, first):
            return (first, Step(_TWICE), *others)
        return (Step(f"{first.text} {_TWICE}", request=first.request, server=first.server), *others)
    if is_headless(calls):
        if family in _READ_HEADLESS:
            return _keep_vllm_flags(trace, flags)
        return (*(step for step in flags[:1] if is_done(trace, step)), _HEADLESS)
    return flags


def _keep_vllm_flags(trace: Trace, flags: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return flags with the word that SGLang's parser does not read the call."""
    kind = trace.server_kind
    if kind == "sglang":
        return (*(step for step in flags[:1] if is_done(trace, step)), _HEADLESS)
    if "SGLang" not in flags[0].text:
        return flags
    first = flags[0]
    return (Step(f"{first.text}{_ALONE_IN_VLLM}", request=first.request, server=first.server), *flags[1:])


def is_headless(calls: Sequence[ToolCallAttempt]) -> bool:
    """Return whether all of some calls lack the tag that opens them."""
    return all(any(map(_IS_HEADLESS.match, (call.deviation or "").split("; "))) for call in calls)


def encoded_call(content: str) -> EncodedCall | None:
    r"""Return the call that a content is, encoded as a string of JSON, with the quotes around it or without.

    >>> encoded_call('<tool_call>{\\"name\\": \\"f\\", \\"arguments\\": {}}</tool_call>').name
    'f'
    >>> encoded_call('"A word."') is None
    True
    """
    found = _BODY.fullmatch(content.strip())
    if found is None:
        return None
    body = found["body"].strip()
    inner = decode_json(body if body.startswith('"') else f'"{body}"'.replace("\n", "\\n"))
    name = _name_in(decode_json(inner)) if isinstance(inner, str) else None
    start = len(content) - len(content.lstrip())
    return None if name is None else EncodedCall(name, Span(start, start + found.end()))


def _name_in(value: JSON) -> str | None:
    one = value[0] if isinstance(value, list) and value else value
    if not isinstance(one, dict) or not isinstance(one.get("arguments", one.get("parameters")), dict | str):
        return None
    name = one.get("name")
    return name if isinstance(name, str) and name else None
