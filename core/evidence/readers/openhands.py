"""Events of OpenHands, one, one a line or in a list: each keeps the answer from which its action was read.

    {"id": 5, "source": "agent", "action": "run", "tool_call_metadata": {"tool_call_id": "c", "model_response": {…}}}

An answer with several calls is in several events, and again in the observation that follows each.

Source: https://github.com/OpenHands/OpenHands, events/serialization and events/tool.py, as of 2026-11.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.evidence.answers.read import read_answer
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader, read_newest
from prompt_debugger.core.evidence.taking import add_answer
from prompt_debugger.core.evidence.values.json_of import json_lines, json_of

_SIGNS = ('"tool_call_metadata"', '"model_response"')


def _answers(paste: Paste) -> list[JSONObject]:
    """Return the answers in the order in which they came, each once."""
    value = paste.value
    if value is None:
        value = [json_of(line) for line in json_lines(paste.text)]
    found: dict[str, JSONObject] = {}
    for event in value if isinstance(value, list) else [value]:
        held = as_object(as_object(as_object(event).get("tool_call_metadata")).get("model_response"))
        if isinstance(held.get("choices"), list) and held["choices"]:
            found.setdefault(json.dumps([held.get("id"), held["choices"]]), held)
    return list(found.values())


def _finds(paste: Paste) -> float:
    if not all(sign in paste.text for sign in _SIGNS):
        return 0.0
    return 0.96 if _answers(paste) else 0.0


def _read(paste: Paste) -> Evidence:
    answers = _answers(paste)[::-1]
    if not answers:
        raise RequestError("No event has the answer of a model.", "Paste the events with their `tool_call_metadata`.")
    return read_newest(paste, len(answers), lambda row: _read_one(answers, row))


def _read_one(answers: Sequence[JSONObject], row: int) -> Evidence:
    """Read an answer by its number, counted from the last one."""
    words = f"an event of OpenHands, answer {len(answers) - row + 1} of {len(answers):,}"
    evidence = add_answer(Evidence(Form.LINES, words), read_answer(answers[row - 1]))
    return replace(evidence, row=row, rows=len(answers))


READER = Reader(Form.LINES, _finds, _read)
