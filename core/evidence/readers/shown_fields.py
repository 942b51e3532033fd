r"""Fields of a message that someone looked at one by one in an interactive session of Python.

    >>> r.choices[0].message.tool_calls
    >>> r.choices[0].message.content
    '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'

What is printed below an expression is its value, and nothing is `None`. The fields must be of one message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.answers.read import read_answer
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import add_answer, forget_end
from prompt_debugger.core.evidence.values.printed_objects import answer_of
from prompt_debugger.core.evidence.values.python_repr import read_printed

_TYPED = re.compile(
    r"(?m)^>>> (?P<of>[A-Za-z_][\w.\[\]]{0,100})(?:\.|\[['\"])"
    r"(?P<name>content|reasoning(?:_content)?|tool_calls)(?:['\"]\])?[ \t]*$"
)
_PROMPT = "\n>>>"
_TEXTS = ("content", "reasoning", "reasoning_content")
_MAX_FIELDS = 40


def _finds(paste: Paste) -> float:
    return 0.91 if ">>> " in paste.text and _message(paste.text) is not None else 0.0


def _read(paste: Paste) -> Evidence:
    message = _message(paste.text)
    if message is None:
        raise RequestError("No field of a message is shown whole.", "Paste all that was printed.")
    evidence = Evidence(Form.OBJECT, "fields of a message that a session of Python shows")
    return forget_end(add_answer(evidence, read_answer(message)))


def _message(text: str) -> JSONObject | None:
    """Return the message whose fields a session shows; `None` without a text of it, or with fields of several."""
    typed = list(_TYPED.finditer(text))[:_MAX_FIELDS]
    if not typed or len({one["of"] for one in typed}) > 1:
        return None
    message: JSONObject = {"role": "assistant", "content": None}
    for one in typed:
        end = text.find(_PROMPT, one.end())
        shown = text[one.end() : end if end >= 0 else len(text)].strip()
        read = _value(one["name"], shown)
        if read is None:
            return None
        message |= read
    return message if any(isinstance(message.get(name), str) for name in _TEXTS) else None


def _value(name: str, shown: str) -> Mapping[str, JSON] | None:
    """Return a field with what is printed below it; `None` where that is no whole value of its kind."""
    read = read_printed(shown) if shown else None
    if shown and (read is None or read.is_cut or shown[read.stop :].strip()):
        return None
    value = None if read is None else read.value
    if name in _TEXTS:
        return {name: value} if value is None or isinstance(value, str) else None
    calls = as_object(answer_of(value)).get("tool_calls") if value else []
    return {"tool_calls": calls} if isinstance(calls, list) and (calls or not value) else None


READER = Reader(Form.OBJECT, _finds, _read)
