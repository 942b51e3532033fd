"""A call's markers with text between them that is no call in any notation.

<tool_call>light_on(room=hall)</tool_call>        <start_function_call>call:call:call:<end_function_call>
"""

from __future__ import annotations

import re
from typing import NamedTuple

from prompt_debugger.core.base.types import Span
from prompt_debugger.core.diagnose.markers import find_unquoted_markers

_CLOSES = {
    "<tool_call>": "</tool_call>",
    "<|tool_call>": "<tool_call|>",
    "<|tool_call_start|>": "<|tool_call_end|>",
    "<start_function_call>": "<end_function_call>",
    "<minimax:tool_call>": "</minimax:tool_call>",
}
_MAX_BEFORE = 10
_MAX_INNER = 2_000  # characters; more is not one call that went wrong
# Instructions show the form with placeholders, and copies are shortened.
_SHOWN = re.compile(r"\.{3}|…|<(?:function|tool|args?|arguments|json|your|the)[ _-][\w -]{1,40}>|\{\{|\[\w{1,20} ")
_ENDS_BEFORE = re.compile(r"(?:\A|[\n.!?:>)|}\]])[ \t]{0,8}\Z")  # a sentence, before the block
_GOES_ON = re.compile(r"[ \t]{0,8}[a-z,;]")  # a sentence that only mentions the markers


class UnreadBlock(NamedTuple):
    """A closed block of a call that holds no call.

    Attributes:
        span: The block with its markers.
        begins: The marker that begins it.
        ends: The one that ends it.
        inner: What is between them.
    """

    span: Span
    begins: str
    ends: str
    inner: str


def find_unread_block(text: str) -> UnreadBlock | None:
    """Return the first such block of a text in which no call was read; `None` where nothing shows what is meant.

    >>> find_unread_block("Ok. <tool_call>light_on(room=hall)</tool_call>").inner
    'light_on(room=hall)'
    >>> find_unread_block("Write calls within `<tool_call>` and `</tool_call>`.")
    >>> find_unread_block("<tool_call><function-name></tool_call>")
    >>> find_unread_block("Calls begin with <tool_call> and end with </tool_call>.")
    """
    open_at: Span | None = None
    for span in find_unquoted_markers(text):
        marker = text[slice(*span)]
        if open_at is not None and marker == _CLOSES[text[slice(*open_at)]]:
            inner = text[open_at.stop : span.start]
            is_mention = _GOES_ON.match(text, span.stop) is not None or _SHOWN.search(inner) is not None
            if is_mention or len(inner) > _MAX_INNER or not inner.strip():
                return None
            begins = text[slice(*open_at)]
            return UnreadBlock(Span(open_at.start, span.stop), begins, marker, inner.strip())
        if open_at is None and marker in _CLOSES:
            if _ENDS_BEFORE.search(text, max(0, span.start - _MAX_BEFORE), span.start) is None:
                return None
            open_at = span
    return None
