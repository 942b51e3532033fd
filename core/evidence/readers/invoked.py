"""The pieces of Bedrock's InvokeModelWithResponseStream: each holds an event of the model's own API as bytes.

    {'chunk': {'bytes': b'{"type":"content_block_delta","index":0,"delta":{…}}'}}
    {"chunk": {"bytes": "eyJ0eXBlIjoi…"}}

Python prints the bytes as they are; the command line of AWS and programs in JSON write them in base64.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_PayloadPart.html, as of 2026-11.
"""

from __future__ import annotations

import ast
import base64
import binascii
import re
from functools import lru_cache

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.evidence.answers.read import is_event_list, lines_of_events, read_stream
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import add_answer, of_deltas_alone
from prompt_debugger.core.evidence.values.json_of import json_of

_MAX_CHARS = 1_000_000
_BEGINS = re.compile(r"\s*+\{ ?[\"']chunk[\"']: ?\{ ?[\"']bytes[\"']: ?")
_BYTES = re.compile(r"b'(?:[^'\\\n]|\\.)*+'|b\"(?:[^\"\\\n]|\\.)*+\"|[\"'](?P<coded>[A-Za-z0-9+/]*+={0,2})[\"']")
_ENDS = re.compile(r" ?\} ?\},?\s*+\Z")
_NO_BEGINNING = "without its beginning"


@lru_cache(maxsize=4)
def _events(text: str) -> tuple[JSONObject, ...]:
    """Return the events of a text that is such pieces, one a line; none if a line is anything else."""
    found: list[JSONObject] = []
    for line in text.splitlines() if len(text) <= _MAX_CHARS else ():
        if not line.strip():
            continue
        event = _event(line)
        if event is None:
            return ()
        found.append(event)
    return tuple(found)


def _event(line: str) -> JSONObject | None:
    begun = _BEGINS.match(line)
    held = None if begun is None else _BYTES.match(line, begun.end())
    if held is None or _ENDS.match(line, held.end()) is None:
        return None
    try:
        data = ast.literal_eval(held[0]) if held["coded"] is None else base64.b64decode(held["coded"], validate=True)
    except (ValueError, SyntaxError, MemoryError, binascii.Error):
        return None
    value = json_of(data.decode("utf-8", "replace")) if isinstance(data, bytes) else None
    return value if isinstance(value, dict) else None


def _finds(paste: Paste) -> float:
    if _BEGINS.match(paste.text[:200]) is None:
        return 0.0
    events = _events(paste.text)
    return 0.97 if events and is_event_list(events) else 0.0


def _read(paste: Paste) -> Evidence:
    answer = read_stream(lines_of_events(_events(paste.text)))
    evidence = add_answer(Evidence(Form.STREAM, "a streamed response"), answer)
    return of_deltas_alone(evidence) if any(_NO_BEGINNING in note for note in evidence.notes) else evidence


READER = Reader(Form.STREAM, _finds, _read)
