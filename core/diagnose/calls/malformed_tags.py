"""Calls in tags that no parser reads, because a part of the notation is missing or is that of another one.

<tool_call>run_shellcommand</arg_key><arg_value>ls</arg_value></tool_call>       name and key run together
<tool_call><function>run_shell</function>{"command": "ls"}</tool_call>           half tags, half JSON
"""

from __future__ import annotations

import re
from typing import NamedTuple

from prompt_debugger.core.base.types import Span

_GLUED = re.compile(r"<tool_call>\s{0,8}([A-Za-z_][\w.\- ]{0,120})</arg_key>\s{0,8}<arg_value>")
_NO_KEY = "the tag `<arg_key>` before its first key is missing, so its name and that key run together"
_HALF_JSON = re.compile(
    r"<tool_call>\s{0,8}<(?P<tag>function|name|tool_name)>\s{0,8}(?P<name>[A-Za-z_][\w.-]{0,120})\s{0,8}</(?P=tag)>\s{0,8}"
    r"(?:<(?:arguments|parameters)>\s{0,8})?\{"
)
_IN_A_TAG = "its name is in a tag and its arguments are bare JSON, half of one notation and half of another"
_END = "</tool_call>"


class MalformedCall(NamedTuple):
    """A call that is malformed in a way that shows from its tags.

    Attributes:
        name: What is in place of its name.
        span: Where it is.
        problem: What is wrong with it, as a clause.
    """

    name: str
    span: Span
    problem: str


def malformed_call(text: str) -> MalformedCall | None:
    """Return the first such call.

    >>> malformed_call("<tool_call>run_shellcommand</arg_key><arg_value>ls</arg_value></tool_call>").name
    'run_shellcommand'
    >>> malformed_call('<tool_call><function>run</function>{"a": 1}</tool_call>').name
    'run'
    >>> malformed_call("<tool_call>run_shell<arg_key>command</arg_key><arg_value>ls</arg_value></tool_call>")
    """
    glued, half = _GLUED.search(text), _HALF_JSON.search(text)
    found = glued or half
    if found is None:
        return None
    end = text.find(_END, found.end())
    span = Span(found.start(), len(text) if end < 0 else end + len(_END))
    return MalformedCall(found[1] if glued else found["name"], span, _NO_KEY if glued else _IN_A_TAG)
