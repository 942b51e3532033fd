"""The console of AutoGen's AgentChat: a headed section for each event.

    ---------- TextMessage (user) ----------
    What is the weather in Oslo?
    ---------- ToolCallRequestEvent (helper) ----------
    [FunctionCall(id='call_1', arguments='{"city": "Oslo"}', name='get_weather')]
    ---------- ToolCallExecutionEvent (helper) ----------
    [FunctionExecutionResult(content='3 °C', name='get_weather', call_id='call_1', is_error=False)]

The last section that a model wrote is the answer, if no result of a tool follows it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.readers.framework import of_messages
from prompt_debugger.core.evidence.values.framework_messages import autogens_event
from prompt_debugger.core.evidence.values.python_repr import plain, read_printed

_SECTION = re.compile(r"(?m)^-{6,16} (?P<kind>[A-Z]\w{3,40})(?: \((?P<source>[^)\n]{1,80})\))? -{6,16}[ \t]*$\n?")
_COUNTS = re.compile(r"(?m)^\[Prompt tokens: \d{1,9}, Completion tokens: \d{1,9}\][ \t]*$")
_KNOWN = frozenset({"TextMessage", "ToolCallRequestEvent", "ToolCallExecutionEvent", "ToolCallSummaryMessage"})
_MAX_SECTIONS = 2_000


def _messages(text: str) -> list[JSONObject]:
    heads = list(islice(_SECTION.finditer(text), _MAX_SECTIONS))
    stops = [head.start() for head in heads[1:]] + [len(text)]
    found: list[JSONObject] = []
    for head, stop in zip(heads, stops, strict=True):
        content = _content(_COUNTS.sub("", text[head.end() : stop]).strip())
        found += autogens_event({"type": head["kind"], "source": head["source"], "content": content})
    return found


def _content(text: str) -> JSON:
    """Return what a section holds: a list as Python prints it, else a text."""
    read = read_printed(text) if text.startswith("[") else None
    is_list = read is not None and not read.is_cut and not text[read.stop :].strip()
    return plain(read.value) if read is not None and is_list else text


def _finds(paste: Paste) -> float:
    if paste.value is not None or "---------- " not in paste.text:
        return 0.0
    kinds = {head["kind"] for head in islice(_SECTION.finditer(paste.text), _MAX_SECTIONS)}
    return 0.95 if not _KNOWN.isdisjoint(kinds) else 0.0


def _read(paste: Paste) -> Evidence:
    messages = _messages(paste.text)
    if not messages:
        raise RequestError("No section of the console could be read.", "Paste the console from its first section on.")
    return replace(of_messages(messages), words="a console of AutoGen")


READER = Reader(Form.OBJECT, _finds, _read)
