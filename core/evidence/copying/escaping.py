"""A message whose `content` was put between quotation marks by hand: those within it were not escaped.

    {"role": "assistant", "content": "<function=look_up>{"city": "Bern"}</function>", "tool_calls": []}

A logger or a template that joins texts writes so. It is read only where markup of a call begins the content, and where
the text is JSON once its quotation marks are escaped.
"""

from __future__ import annotations

import re

from prompt_debugger.core.evidence.values.json_of import json_of

_MARKERS = r"<function=|<tool_call>|<\|tool_call\|>|\[TOOL_CALLS\]|<\|python_tag\|>|<invoke name=|<tool_code>"
_CONTENT = re.compile(rf'"content"\s{{0,4}}:\s{{0,4}}"(?=[^"]{{0,400}}?(?:{_MARKERS}))')
_BEHIND = re.compile(
    r"\"(?=\s{0,40}(?:\}|,\s{0,40}\"(?:role|refusal|tool_calls|function_call|reasoning(?:_content)?|audio|annotations"
    r"|name|finish_reason|tool_call_id|type|id)\"\s{0,4}:))"
)
_UNESCAPED = re.compile(r'(\\*+)"')
_STRING = re.compile(r'(?:[^"\\]|\\.)*+"\s{0,40}[,}]', re.DOTALL)  # the rest of one that is escaped already
_MAX_CHARS = 60_000
_MAX_ENDS = 20


def escape_content(text: str) -> str | None:
    r"""Return JSON in which the quotation marks of its content are escaped; `None` where nothing is to be done.

    >>> escape_content('{"role": "assistant", "content": "<function=f>{"a": 1}</function>"}')
    '{"role": "assistant", "content": "<function=f>{\\"a\\": 1}</function>"}'
    """
    begins = _CONTENT.search(text, 0, _MAX_CHARS) if text.lstrip()[:1] in ("{", "[") else None
    if begins is None or len(text) > _MAX_CHARS or json_of(text) is not None:
        return None
    if _STRING.match(text, begins.end()) is not None:
        return None
    for tried, end in enumerate(_BEHIND.finditer(text, begins.end())):
        if tried == _MAX_ENDS:
            break
        content = text[begins.end() : end.start()]
        escaped = _UNESCAPED.sub(_escape, content)
        whole = text[: begins.end()] + escaped.replace("\n", "\\n") + text[end.start() :]
        if escaped != content and json_of(whole) is not None:
            return whole
    return None


def _escape(found: re.Match[str]) -> str:
    return found[0] if len(found[1]) % 2 else f'{found[1]}\\"'
