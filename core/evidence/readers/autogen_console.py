"""The console of AutoGen's chats: calls that were suggested, and what calling them gave.

    ***** Suggested tool call (call_1): get_weather *****
    Arguments:
    {"city": "Oslo"}
    *****************************************************
    ***** Response from calling tool (call_1) *****
    Error: …

The calls of one turn are the answer: of the last turn whose tool answered with an error, else of the last.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject
from prompt_debugger.core.diagnose.words import counted
from prompt_debugger.core.evidence.evidence import UNKNOWN_ID, Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader

_CALL = re.compile(
    r"(?mi)^[ \t]*+\*{5} Suggested (?:tool|function) call(?: ?\((?P<id>[^)\n]{0,80})\))?: "
    r"(?P<name>[^\s*]{1,120}) \*{5,}[ \t]*$\n+[ \t]*+Arguments:[ \t]*\n"
)
_RESULT = re.compile(
    r"(?mi)^[ \t]*+\*{5} Response from calling (?:tool|function)[^\n*]{0,160}\*{5,}[ \t]*$\n+[ \t]*+Error\b"
)
_STARS = re.compile(r"(?m)^[ \t]*+\*{5,}[ \t]*$")
_SPEAKER = re.compile(r"(?m)^[^\n]{1,80} \(to [^\n]{1,80}\):[ \t]*$")
_MAX_CALLS = 4_000
_MAX_OF_TURN = 32  # calls


class _Call(NamedTuple):
    start: int
    id: str
    name: str
    arguments: str


def _calls(text: str) -> Iterator[_Call]:
    """Yield the calls that are printed whole: up to the line of stars below them, or to the end of the text."""
    ends = [match.start() for match in _STARS.finditer(text)] + [len(text)]
    for match in islice(_CALL.finditer(text), _MAX_CALLS):
        stop = ends[bisect_left(ends, match.end())]
        yield _Call(match.start(), match["id"] or UNKNOWN_ID, match["name"], text[match.end() : stop].strip())


def _finds(paste: Paste) -> float:
    return 0.9 if "***** Suggested " in paste.text and _CALL.search(paste.text) is not None else 0.0


def _read(paste: Paste) -> Evidence:
    calls = list(_calls(paste.text))
    failed = [match.start() for match in _RESULT.finditer(paste.text)]
    stop = failed[-1] if failed and calls[0].start < failed[-1] else len(paste.text)
    before = [call for call in calls if call.start < stop]
    turns = [match.start() for match in _SPEAKER.finditer(paste.text) if match.start() < before[-1].start]
    own = [call for call in before if not turns or call.start > turns[-1]][-_MAX_OF_TURN:]
    entries: list[JSON] = [_entry(call) for call in own]
    message: JSONObject = {"role": "assistant", "content": None, "tool_calls": entries}
    others = len(calls) - len(own)
    notes = (f"Left out: {counted(others, 'call')} of other turns.",) if others else ()
    words = f"{counted(len(own), 'tool call')} that AutoGen printed"
    return Evidence(Form.LOG, words, chat=ChatResult(message, None), notes=notes)


def _entry(call: _Call) -> JSONObject:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


READER = Reader(Form.LOG, _finds, _read)
