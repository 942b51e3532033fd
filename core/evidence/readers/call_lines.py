"""Tool calls, or pieces of them, one per line.

    {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}      calls of a message
    {"name": "f", "arguments": {}}                                                     calls as a model writes them
    {"id": "a", "function": {"name": "f", "arguments": ""}}                            pieces of a stream, which go on
    {"function": {"arguments": "{}"}}                                                  with the call before them

Other lines of JSON are a log: one line is read.
"""

from __future__ import annotations

from functools import lru_cache

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.evidence.answers.read import lines_of_events, read_answer, read_stream
from prompt_debugger.core.evidence.answers.shapes import chunk_of_call, is_called_function
from prompt_debugger.core.evidence.evidence import Evidence, output_alone
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import add_answer, as_part, of_deltas_alone
from prompt_debugger.core.evidence.values.json_of import json_lines, json_of

_MAX_LINES = 2_000
_OF_PIECE = frozenset({"id", "type", "function"})
_OF_BARE = ({"name", "arguments"}, {"name", "parameters"})
_NOTE = "The pieces have no `index`; each was read as continuing the call before it."


def _finds(paste: Paste) -> float:
    return 0.72 if paste.value is None and _lines(paste.text) else 0.0


def _read(paste: Paste) -> Evidence:
    lines = list(_lines(paste.text))
    if all(_is_bare(line) for line in lines):
        return output_alone(paste.text.strip())
    if all(_has_name(line) for line in lines):
        return add_answer(Evidence(Form.ANSWER, "tool calls of a message"), as_part(read_answer([*lines])))
    answer = as_part(read_stream(lines_of_events(_chunks(lines))))
    stream = Evidence(Form.STREAM, "a streamed response", notes=(_NOTE,))
    return of_deltas_alone(add_answer(stream, answer))


@lru_cache(maxsize=4)
def _lines(text: str) -> tuple[JSONObject, ...]:
    """Return the lines of a text that is calls, or pieces of them, and nothing else; none of any other text."""
    values = [as_object(json_of(line)) for line in json_lines(text)[: _MAX_LINES + 1]]
    if not 1 < len(values) <= _MAX_LINES:
        return ()
    if all(_is_bare(value) for value in values) or all(_is_whole(value) for value in values):
        return tuple(values)
    are_pieces = all(_is_piece(value) for value in values) and _has_name(values[0])
    return tuple(values) if are_pieces and not all(_has_name(value) for value in values) else ()


def _is_bare(value: JSONObject) -> bool:
    named = value.get("arguments", value.get("parameters"))
    return value.keys() in _OF_BARE and isinstance(value["name"], str) and isinstance(named, dict)


def _is_whole(value: JSONObject) -> bool:
    return is_called_function(value) or (_is_piece(value) and _has_name(value))


def _is_piece(value: JSONObject) -> bool:
    return not value.keys() - _OF_PIECE and isinstance(as_object(value.get("function")).get("arguments"), str)


def _has_name(value: JSONObject) -> bool:
    return bool(value.get("name") or as_object(value.get("function")).get("name"))


def _chunks(pieces: list[JSONObject]) -> list[JSONObject]:
    index = -1
    chunks: list[JSONObject | None] = []
    for piece in pieces:
        index += _has_name(piece)
        chunks.append(chunk_of_call({**piece, "index": index}))
    return [chunk for chunk in chunks if chunk is not None]


READER = Reader(Form.STREAM, _finds, _read)
