"""JSON of an answer that ends before its end: its complete parts are read, and nothing that was still open.

    {"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "c1", …
    "tool_calls": [{"id": "0", "function": {"name": "f", "argum…

Half a text would look like half an answer, and `tool_calls` without a call like a fault, although copying cut the
text, and not a server.
"""

from __future__ import annotations

import json
import re

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.evidence.answers.read import read_answer
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import CUT_NOTE, add_answer, forget_end, has_cut_end, is_cut
from prompt_debugger.core.evidence.values.printed_objects import answer_of, has_cut_answer
from prompt_debugger.core.evidence.values.python_repr import read_printed

_LEAD = re.compile(r"[^\n{}\[\]\"':]{1,80}[:\uff1a][ \t]*\n\s{0,20}(?=\{)")  # `Result:` above it
# What a logger writes before what a program prints: `INFO:httpx:`, `2026-01-02 03:04:05 INFO (Main) [client] Answer `.
_LOGGED = re.compile(r"(?=[^\n{}]{0,80}?\b(?:DEBUG|INFO|WARN(?:ING)?|ERROR|TRACE)\b)[^\n{}\"']{1,200}(?=\{)")
_LEFT_OUT = re.compile(r"(?:[\s,]|\.\.\.|…)*+")
_FIELD = re.compile(r"\"(?:choices|message|tool_calls)\"\s*+:")
_ANSWER = re.compile(r"\"(?:choices|message|tool_calls)\"\s*+:|\"role\"\s*+:\s*+\"assistant\"")
_HALF_KEY = re.compile(r"[A-Za-z_][\w.-]{0,60}\"\s*+:")
_REQUEST = re.compile(r"\"(?:messages|input|contents)\"\s*+:")
_OPEN = re.compile(
    r"\"(content|reasoning(?:_content)?|thinking)\"\s*+:\s*+\"(?:[^\"\\]|\\.)*+\\?\Z", re.DOTALL
)  # open where the text ends
_CLOSED = "Unclosed brackets in the pasted text were closed."
_BEGINS = "The JSON begins in the middle; what came before is unknown."


def _finds(paste: Paste) -> float:
    return 0.0 if paste.value is not None or _value(paste.text) is None else 0.7


def _value(text: str) -> JSONObject | None:
    """Return an answer that is open where the text ends; `None` of anything else, as of JSON with a slip in it."""
    inner, is_begun_inside = _inner(text)
    if inner is None or _REQUEST.search(inner[:4_000]) or not _ANSWER.search(inner[:20_000]):
        return None
    if is_begun_inside and (closed := read_printed("{" + inner.rstrip().rstrip(",") + "}")) and not closed.is_cut:
        return None  # nothing but the bracket is missing whose opening was not copied
    read = read_printed("{" + inner if is_begun_inside else inner)
    if read is None or not read.is_cut or read.stop < len(inner.rstrip()) - 1 or not isinstance(read.value, dict):
        return None
    return None if _has_lost_quote("{" + inner if is_begun_inside else inner) else read.value


def _has_lost_quote(text: str) -> bool:
    """Return whether the first fault of a text is a key without its first quotation mark, so that all later turn."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return _HALF_KEY.match(text, error.pos) is not None
    except (ValueError, RecursionError):
        pass
    return False


def _inner(text: str) -> tuple[str | None, bool]:
    start = text.lstrip("\ufeff \t\r\n")
    lead = _LEAD.match(start) or _LOGGED.match(start)
    start = start if lead is None else start[lead.end() :]
    if start.startswith("{"):
        return start, False
    found = _LEFT_OUT.match(start)
    start = start if found is None else start[found.end() :]
    return (start, True) if _FIELD.match(start) else (None, False)


def _read(paste: Paste) -> Evidence:
    value = _value(paste.text)
    answer = None if value is None else answer_of(value)
    if answer is None:
        within = _OPEN.search(paste.text)
        place = "before any readable part of an answer" if within is None else f"inside `{within[1]}`, before any call"
        raise RequestError(f"The JSON ends {place}.", "Paste all of it.")
    notes = [_CLOSED]
    if _inner(paste.text)[1]:
        notes.append(_BEGINS)
    if "..." in paste.text or "…" in paste.text:
        notes.append("Something was left out at `...`; what it was is unknown.")
    if has_cut_answer(value):
        notes.append(CUT_NOTE)
    evidence = Evidence(Form.FRAGMENT, "a fragment of an answer", notes=tuple(notes))
    evidence = add_answer(evidence, read_answer(answer))
    return forget_end(evidence) if is_cut(evidence) or has_cut_end(value, evidence) else evidence


READER = Reader(Form.FRAGMENT, _finds, _read)
