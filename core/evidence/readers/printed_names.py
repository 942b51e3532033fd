"""Fields of an answer that a script printed by their names, one after the other, without the answer around them.

    tool_calls= [{'name': 'search', 'args': {}, 'id': 'a'}]          print("tool_calls=", message.tool_calls)
    invalid_tool_calls= [{'name': 'search', 'args': '{"q": ', …}]    as LangChain keeps calls that it could not decode
    finish_reason = 'stop'

The whole text must be such fields, with values that Python prints: a program that assigns them calls something.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.json_values import as_list, as_object
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.evidence.answers.read import read_answer
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.no_errors.programs import is_script
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import add_answer, forget_end
from prompt_debugger.core.evidence.values.printed_objects import answer_of
from prompt_debugger.core.evidence.values.python_repr import CLASS, read_fields

_MAX_CHARS = 200_000
_BEGINS = re.compile(
    r"\s{0,40}(?:content|\w{0,20}tool_calls?|tool_call_chunks|finish_reason|reasoning_content)[ \t]{0,4}="
)
_OF_CALLS = ("tool_calls", "invalid_tool_calls")
_KNOWN = frozenset({*_OF_CALLS, "tool_call_chunks", "content", "finish_reason", "reasoning_content", "id", "role"})


def _finds(paste: Paste) -> float:
    return 0.94 if paste.value is None and _fields(paste.text) is not None else 0.0


def _fields(text: str) -> JSONObject | None:
    """Return the fields that a text consists of; `None` of any other text, or where no call is among them."""
    if len(text) > _MAX_CHARS or _BEGINS.match(text) is None or is_script(text):
        return None
    read = read_fields(text)
    if read is None or read.is_cut or text[read.stop :].strip() or not isinstance(read.value, dict):
        return None
    value = read.value
    calls = [call for name in _OF_CALLS for call in as_list(value.get(name))]
    are_calls = bool(calls) and all({"name", "function"} & as_object(call).keys() for call in calls)
    return value if are_calls and value.keys() <= _KNOWN else None


def _read(paste: Paste) -> Evidence:
    value = _fields(paste.text) or {}
    calls = [as_object(call) for name in _OF_CALLS for call in as_list(value.get(name))]
    if any("args" in call for call in calls):  # LangChain's, which gives an empty name to a piece that has none
        value = {**value, CLASS: "AIMessage"}
        for name in _OF_CALLS:
            value[name] = [call for call in as_list(value.get(name)) if as_object(call).get("name")]
    evidence = Evidence(Form.OBJECT, "printed fields of an answer")
    return forget_end(add_answer(evidence, read_answer(answer_of({"content": "", **value}))))


READER = Reader(Form.OBJECT, _finds, _read)
