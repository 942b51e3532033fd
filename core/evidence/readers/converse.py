"""Answers of Bedrock's Converse API and the events of ConverseStream, as JSON or as Python prints them.

    {"output": {"message": {"role": "assistant", "content": [{"toolUse": {…}}]}}, "stopReason": "tool_use"}
    {"contentBlockStart": {"start": {"toolUse": {"toolUseId": "a", "name": "f"}}, "contentBlockIndex": 0}}
    {"contentBlockDelta": {"delta": {"toolUse": {"input": "{"}}, "contentBlockIndex": 0}}

Source: Amazon Bedrock's API reference, Converse and ConverseStream, as of 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete.dialects.bedrock import DIALECT
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import add_answer, of_deltas_alone
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.evidence.values.python_repr import plain, read_printed

_MAX_CHARS = 1_000_000
_EVENTS = ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata")
_BEGINS = re.compile(rf"\s*+(?:\[\s*+)?\{{\s*+[\"'](?:{'|'.join(_EVENTS)}|output|ResponseMetadata)[\"']\s*+:")
_BETWEEN = re.compile(r"[\s,]*+(?=\{)")
_API = "an answer of Bedrock's Converse API"
_STREAM = "a stream of Bedrock's ConverseStream"


def _finds(paste: Paste) -> float:
    if _BEGINS.match(paste.text[:4_000]) is None or len(paste.text) > _MAX_CHARS:
        return 0.0
    values = _values(paste.text)
    return 0.96 if _message(values) or _is_stream(values) else 0.0


@lru_cache(maxsize=4)
def _values(text: str) -> list[JSONObject]:
    """Return the objects that a text consists of, in a list or one after the other; none if it holds anything else."""
    value = json_of(text)
    if value is None:
        value = list(_printed(text))
    return [as_object(one) for one in (value if isinstance(value, list) else [value])]


def _printed(text: str) -> Iterator[JSON]:
    at = len(text) - len(text.lstrip("\ufeff \t\r\n["))
    while (read := read_printed(text, at)) is not None and read.stop > at:
        yield plain(read.value)
        found = _BETWEEN.match(text, read.stop)
        if found is None:
            return
        at = found.end()


def _message(values: list[JSONObject]) -> JSONObject:
    """Return the message of a whole answer; an empty object where a text is none."""
    if len(values) != 1 or "stopReason" not in values[0]:
        return {}
    return as_object(as_object(values[0].get("output")).get("message"))


def _is_stream(values: list[JSONObject]) -> bool:
    """Return whether values are events of a stream, an object with one name each."""
    names = [next(iter(value), "") for value in values if len(value) == 1]
    return bool(names) and len(names) == len(values) and {*names} <= {*_EVENTS} and {*names} != {"metadata"}


def _begins_in_call(values: list[JSONObject]) -> bool:
    """Return whether the first piece of a call comes before any call was begun."""
    for value in values:
        if "toolUse" in as_object(as_object(value.get("contentBlockStart")).get("start")):
            return False
        if "toolUse" in as_object(as_object(value.get("contentBlockDelta")).get("delta")):
            return True
    return False


def _read(paste: Paste) -> Evidence:
    values = _values(paste.text)
    if _message(values):
        return replace(add_answer(Evidence(Form.ANSWER, _API), DIALECT.read_answer(values[0])), words=_API)
    if _begins_in_call(values):
        raise RequestError("The stream begins in the middle of a call.", "Copy it from the first event on.")
    stream = DIALECT.read_events(values, paste.text)
    evidence = replace(add_answer(Evidence(Form.STREAM, _STREAM), stream), words=_STREAM)
    return evidence if "messageStart" in values[0] else of_deltas_alone(evidence)


READER = Reader(Form.STREAM, _finds, _read)
