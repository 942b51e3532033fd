"""Calls in tags that no parser reads, because a part of the notation is missing or is that of another one.

<tool_call>run_shellcommand</arg_key><arg_value>ls</arg_value></tool_call>       name and key run together
<tool_call><function>run_shell</function>{"command": "ls"}</tool_call>           half tags, half JSON
<｜DSML｜invke name="run_shell"><｜DSML｜parameter name="command" …               a word of DSML, misspelt
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from itertools import islice
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
_DSML = "DSML"
_DSML_TAG = re.compile(
    r"</?[｜|‖]{1,2} ?DSML ?[｜|‖]{1,2} ?(?P<word>[A-Za-z_]{2,30})(?: name=\"(?P<name>[^\"\n]{1,120})\")?"
)
_DSML_WORDS = ("invoke", "parameter", "tool_calls", "function_calls", "tool_call", "function_call", "calls", "tool")
_MIN_TAGS, _MAX_TAGS = 3, 200  # fewer are a mention


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
    >>> malformed_call('<｜DSML｜invke name="run"><｜DSML｜parameter name="a"></｜DSML｜parameter>').problem
    'its tag `invke` is a misspelt `invoke`'
    >>> malformed_call("<tool_call>run_shell<arg_key>command</arg_key><arg_value>ls</arg_value></tool_call>")
    """
    glued, half = _GLUED.search(text), _HALF_JSON.search(text)
    found = glued or half
    if found is None:
        return _misspelt_dsml(text) if _DSML in text else None
    end = text.find(_END, found.end())
    span = Span(found.start(), len(text) if end < 0 else end + len(_END))
    return MalformedCall(found[1] if glued else found["name"], span, _NO_KEY if glued else _IN_A_TAG)


def _misspelt_dsml(text: str) -> MalformedCall | None:
    """Return a call in DSML one of whose tags has a word that is nearly one of the notation."""
    tags = list(islice(_DSML_TAG.finditer(text), _MAX_TAGS))
    opened = next((tag for tag in tags if tag["name"] and tag["word"] != "parameter"), None)
    if opened is None or len(tags) < _MIN_TAGS:
        return None
    for tag in tags:
        word = tag["word"]
        if word in _DSML_WORDS:
            continue
        meant = [*get_close_matches(word, _DSML_WORDS, 1), *(one for one in _DSML_WORDS if one.startswith(word))]
        if meant:
            problem = f"its tag `{word}` is a misspelt `{meant[0]}`"
            return MalformedCall(opened["name"], Span(opened.start(), len(text)), problem)
    return None
