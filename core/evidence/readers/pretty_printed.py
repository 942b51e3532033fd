"""Messages as LangChain's `pretty_print` shows them, between ruled lines.

    ================================== Ai Message ==================================
    Tool Calls:
      get_weather (call_1)
     Call ID: call_1
      Args:
        city: Oslo
    ================================= Tool Message =================================
    Name: get_weather

    It is sunny.

The values of arguments are printed without their types, so they are read as texts.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.readers.framework import of_messages
from prompt_debugger.core.evidence.values.chat_messages import assistant_of, call_of

_RULE = re.compile(r"(?m)^[ \t>]{0,8}={3,} (?P<who>Human|Ai|AI|System|Tool) Message ={3,}[ \t]*$")
_CALLS = re.compile(r"(?m)^Tool Calls:[ \t]*\n")
_CALL = re.compile(
    r"(?m)^ {1,4}(?P<name>[\w.:/-]{1,100}) \((?P<id>[^()\n]{1,100})\)[ \t]*\n *Call ID: [^\n]*\n *Args:[ \t]*\n?"
)
_ARGUMENT = re.compile(r"(?m)^ {3,8}(?P<key>[\w.-]{1,100}): ?(?P<value>[^\n]*)$")
_MAX_CHARS = 1_000_000


def _finds(paste: Paste) -> float:
    return 0.93 if paste.value is None and len(paste.text) <= _MAX_CHARS and _RULE.search(paste.text) else 0.0


def _read(paste: Paste) -> Evidence:
    rules = list(_RULE.finditer(paste.text))
    ends = [*(rule.start() for rule in rules[1:]), len(paste.text)]
    messages: list[JSONObject] = []
    open_ids: list[str] = []
    for rule, end in zip(rules, ends, strict=True):
        text = paste.text[rule.end() : end].strip("\n")
        if rule["who"] == "Tool":
            result = text.partition("\n\n")[2] if text.startswith("Name: ") else text
            call_id = open_ids.pop(0) if open_ids else None  # it is not printed: results come in the order of the calls
            messages.append({"role": "tool", "tool_call_id": call_id, "content": result.strip()})
        elif rule["who"].lower() == "ai":
            calls = _calls(text)
            open_ids = [str(call["id"]) for call in calls]
            begins = _CALLS.search(text)
            messages.append(assistant_of((text[: begins.start()] if begins else text).strip() or None, calls))
        else:
            messages.append({"role": "user" if rule["who"] == "Human" else "system", "content": text.strip()})
    return of_messages(messages)


def _calls(text: str) -> list[JSONObject]:
    begins = _CALLS.search(text)
    found = [] if begins is None else list(_CALL.finditer(text, begins.end()))
    ends = [*(one.start() for one in found), len(text)][1:]
    return [
        call_of(one["name"], {arg["key"]: arg["value"] for arg in _ARGUMENT.finditer(text, one.end(), end)}, one["id"])
        for one, end in zip(found, ends, strict=True)
    ]


READER = Reader(Form.OBJECT, _finds, _read)
