"""The list of tools at the end of an error, which goes on below a line break: in a terminal, or where a person cut it.

Model tried to call unavailable tool 'a'. Available tools: read,
<… others …>
web__read, web__list.
"""

from __future__ import annotations

import re

from prompt_debugger.core.diagnose.near_names import LEFT_OUT, LIST_BEGINS

_BEGUN = re.compile(rf"{LIST_BEGINS}[^\n]{{0,8000}},[ \t]{{0,8}}\Z")
_NAMES = r"[\w./:-]{1,80}(?:,[ \t]{0,4}[\w./:-]{1,80}){0,400}"
_GOES_ON = re.compile(
    rf"(?:\n[ \t]{{0,40}}(?:<[^<>\n]{{1,60}}>|{_NAMES},)[ \t]*(?=\n))*+\n[ \t]{{0,40}}{_NAMES}[`'\"]?[ \t]*(?=\n|\Z)"
)


def complete_list(message: str, text: str) -> str:
    r"""Return an error's words with the rest of the list of tools that they end in, as the text has it.

    >>> complete_list("No tool 'a'. Available tools: b,", "No tool 'a'. Available tools: b,\nc, d.\nWhy?")
    "No tool 'a'. Available tools: b, c, d."
    """
    if _BEGUN.search(message) is None:
        return message
    words = message.rstrip()
    at = text.find(words)
    rest = None if at < 0 else _GOES_ON.match(text[at + len(words) :].lstrip(" \t"))
    if rest is None:
        return message
    shown = " ".join(LEFT_OUT.sub("", rest[0]).split())
    return f"{words} {shown}".rstrip("`'\" ")
