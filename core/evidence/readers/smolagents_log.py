"""What an agent of smolagents that calls tools prints of its steps: the calls of the last step.

    ━━━━━━━━━━━━━━━ Step 1 ━━━━━━━━━━━━━━━
    ╭──────────────────────────────────────────────────────╮
    │ Calling tool: 'depth' with arguments: {'town': 'B'}  │
    ╰──────────────────────────────────────────────────────╯
    Observations: 24 m

Arguments are printed as Python prints a dict, wrapped to the width of the box. An agent that writes code is none of
these, and neither is a log with an error: that is read as one.

Source: smolagents 1.26, `agents.py`: ToolCallingAgent.process_tool_calls.
"""

from __future__ import annotations

import json
import re

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import ChatResult, JSONObject
from prompt_debugger.core.evidence.evidence import UNKNOWN_ID, Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader, read_newest
from prompt_debugger.core.evidence.values.chat_messages import assistant_of, call_of
from prompt_debugger.core.evidence.values.python_repr import plain, read_printed

_SIGN = "Calling tool: '"
_STEP = re.compile(r"(?m)^\u2501{3,} Step \d{1,5} \u2501{3,}[ \t]*$")
_CALL = re.compile(r"Calling tool: '(?P<name>[\w.-]{1,100})' with arguments: ")
_FRAME = re.compile(r"(?<![ \t])[ \t]*+\u2502[ \t]*\n\u2502[ \t]?")  # where the box wraps a line
_ERROR = re.compile(r"(?m)^\W{0,4}Error (?:in|while) ")
_MAX_CALL = 20_000  # characters
_MAX_CALLS = 2_000


def _finds(paste: Paste) -> float:
    text = paste.text
    return 0.9 if _SIGN in text and _STEP.search(text) and _ERROR.search(text) is None and _steps(text) else 0.0


def _read(paste: Paste) -> Evidence:
    steps = _steps(paste.text)
    if not steps:
        raise RequestError("No call in the log of the agent is complete.", "Paste the whole step.")
    return read_newest(paste, len(steps), lambda row: _read_step(steps, row))


def _read_step(steps: list[list[JSONObject]], row: int) -> Evidence:
    words = f"a log of smolagents, step {row} of {len(steps):,} with calls, from the end"
    chat = ChatResult(assistant_of(None, steps[-row]), None)
    return Evidence(Form.LOG, words, chat=chat, row=row, rows=len(steps))


def _steps(text: str) -> list[list[JSONObject]]:
    """Return the calls of each step that has any."""
    starts = [found.start() for found in _STEP.finditer(text)]
    bounds = zip(starts, [*starts[1:], len(text)], strict=True)
    read = [_calls(text[start:stop]) for start, stop in bounds]
    return [calls for calls in read if calls]


def _calls(step: str) -> list[JSONObject]:
    found = list(_CALL.finditer(step))[:_MAX_CALLS]
    calls: list[JSONObject] = []
    for number, one in enumerate(found):
        stop = found[number + 1].start() if number + 1 < len(found) else len(step)
        shown = _FRAME.sub(" ", step[one.end() : min(stop, one.end() + _MAX_CALL)])
        read = read_printed(shown)
        if read is None or read.is_cut:
            return []
        value = plain(read.value)
        arguments = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        calls.append(call_of(one["name"], arguments, UNKNOWN_ID))
    return calls


READER = Reader(Form.LOG, _finds, _read)
