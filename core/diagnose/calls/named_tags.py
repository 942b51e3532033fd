r"""A call as an element that has the name of its tool: around JSON, around elements, or with attributes.

    <get_weather>{"city": "Oslo"}</get_weather>       <get_weather city="Oslo" />
    <str_replace_editor>
    <command>view</command> …

A tool that the request offers is certain. Without a request, the name has to say what a tool does (`get_…`, `run_…`),
and the element has to hold nothing but JSON, or nothing but elements up to the end of the text.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.types import Span

_MAX_TRIED = 50
_TAG = re.compile(r"<([A-Za-z][\w.-]{1,63})(?P<empty>(?:\s{1,8}[\w-]{1,60}=\"[^\"<>]{0,2000}\"){1,20}\s{0,4}/?>)?")
_DOES = re.compile(
    r"(?:apply|browse|calculate|call|check|click|create|delete|edit|execute|fetch|find|get|insert|invoke|list|look|make|"
    r"open|query|read|replace|run|search|send|set|str|update|view|write)_\w+\Z"
)
_IS_OUTCOME = re.compile(r"_(?:args|arguments|error|input|output|outputs|params|request|response|result|results)\Z")
_DOCUMENT = re.compile(r"<\?xml|<!DOCTYPE|xmlns|<[Ss]oap|<(?:tool_(?:response|result)|function_results?|tools?)>")
_CHILD = re.compile(r"<([A-Za-z_][\w.-]{0,60})>")
_GAP = re.compile(r"\s*+")
_SCHEMA = frozenset({"properties", "parameters", "$schema"})


class NamedTag(NamedTuple):
    """An element with the name of a tool.

    Attributes:
        name: The tool.
        span: Where it is.
    """

    name: str
    span: Span


def find_named_tag(text: str, offered: Collection[str] = ()) -> NamedTag | None:
    r"""Return the first call as an element that has the name of its tool; `None` where there is none.

    >>> find_named_tag('<get_weather>{"city": "Oslo"}</get_weather>').name
    'get_weather'
    >>> find_named_tag('<look city="Oslo" />', ["look"]).name
    'look'
    >>> find_named_tag('<profile>{"city": "Oslo"}</profile>')
    """
    tried = 0
    for opened in _TAG.finditer(text):
        name = opened[1]
        is_offered = name in offered
        if not is_offered and (offered or _DOES.match(name) is None or _IS_OUTCOME.search(name) is not None):
            continue
        tried += 1
        if tried > _MAX_TRIED:
            return None
        if (stop := _end(text, opened, is_offered=is_offered)) is not None:
            return NamedTag(name, Span(opened.start(), stop))
    return None


def _end(text: str, opened: re.Match[str], *, is_offered: bool) -> int | None:
    """Return where an element ends that is a call; `None` if it is none."""
    if opened["empty"] is not None:
        return opened.end() if is_offered else None
    if not text.startswith(">", opened.end()):
        return None
    start, closer = opened.end() + 1, f"</{opened[1]}>"
    at = text.find(closer, start)
    if at < 0:
        return None
    inner, stop = text[start:at].strip(), at + len(closer)
    if inner.startswith("{"):
        value = decode_json(inner)
        return stop if isinstance(value, dict) and not _SCHEMA & value.keys() else None
    is_last = not text[stop:].strip()
    is_whole = _holds_elements(inner) and (is_offered or (is_last and _DOCUMENT.search(text) is None))
    return stop if is_whole else None


def _holds_elements(inner: str) -> bool:
    """Return whether a text is one or more elements, one after the other, and nothing else."""
    at = 0
    while at < len(inner):
        child = _CHILD.match(inner, at)
        closer = "" if child is None else f"</{child[1]}>"
        end = -1 if child is None else inner.find(closer, child.end())
        if end < 0:
            return False
        gap = _GAP.match(inner, end + len(closer))
        at = len(inner) if gap is None else gap.end()
    return bool(inner)
