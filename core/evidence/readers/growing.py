"""An answer that a client printed again and again while it grew, as Qwen-Agent and Gradio's clients do.

    [{'role': 'assistant', 'content': 'The wea'}]
    [{'role': 'assistant', 'content': 'The weather in'}]

Each line repeats the one above and goes on: only the last is the answer, as far as it was copied.
"""

from __future__ import annotations

from itertools import pairwise

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.answers.read import read_answer
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import add_answer, as_part, forget_end
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.evidence.values.python_repr import read_printed

_MIN_LINES = 3
_MAX_LINES = 2_000
_MAX_CHARS = 400_000
_STARTS = ("[{'role'", '[{"role"', "{'role'", '{"role"')


def _messages(text: str) -> list[JSONObject]:
    """Return the messages of the assistant, one per line, where each continues with the text of the one before."""
    lines = [line.strip() for line in text.split("\n")] if len(text) <= _MAX_CHARS else []
    printed = [line for line in lines if line.startswith(_STARTS)][:_MAX_LINES]
    if len(printed) < _MIN_LINES:
        return []
    found = [_assistants(_value_of(line)) for line in printed]
    texts = [_text_of(one) for one in found]
    grows = all(after.startswith(before) for before, after in pairwise(texts))
    return [one for one in found if one is not None] if None not in found and grows and texts[0] != texts[-1] else []


def _value_of(line: str) -> JSON:
    value = json_of(line)
    if value is not None:
        return value
    read = read_printed(line)
    return None if read is None or read.is_cut else read.value


def _assistants(value: JSON) -> JSONObject | None:
    """Return the only message of a line, if it is the assistant's."""
    one = as_object(value[0]) if isinstance(value, list) and len(value) == 1 else as_object(value)
    is_its = one.get("role") == "assistant" and isinstance(one.get("content"), str)
    return one if is_its and not one.get("tool_calls") else None


def _text_of(message: JSONObject | None) -> str:
    called = as_object(as_object(message).get("function_call"))
    parts = (as_object(message).get("content"), called.get("name"), called.get("arguments"))
    return "\0".join(str(part or "") for part in parts).rstrip("\0")


def _finds(paste: Paste) -> float:
    return 0.92 if paste.value is None and _messages(paste.text) else 0.0


def _read(paste: Paste) -> Evidence:
    messages = _messages(paste.text)
    if not messages:
        raise RequestError("The lines do not show one answer that grows.", "Paste the answer as it came.")
    words = f"{len(messages):,} prints of an answer while it grew"
    notes = ("Each print repeats the one before; the last one was read, and it may go on.",)
    answer = as_part(read_answer({"choices": [{"message": messages[-1]}]}))
    return forget_end(add_answer(Evidence(Form.OBJECT, words, notes=notes), answer))


READER = Reader(Form.OBJECT, _finds, _read)
