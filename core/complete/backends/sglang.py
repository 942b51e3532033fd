"""SGLang's own endpoints: its parsers run on a given text, without generating.

    POST /parse_function_call   text, tools, tool_call_parser   →  normal_text, calls
    POST /separate_reasoning    text, reasoning_parser          →  reasoning_text, text

A call has `tool_index`, `name`, and `parameters` as JSON text.

Source: SGLang, `srt/entrypoints/http_server.py` and `srt/function_call/core_types.py`, read 2026-11; both endpoints
are documented under "Tool Parser" and "Reasoning Parser" of its manual.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from prompt_debugger.core.complete.backends.http import HttpConnection
from prompt_debugger.core.complete.shapes import object_of, objects_of, text_of
from prompt_debugger.core.errors import BackendError, shorten
from prompt_debugger.core.types import JSON, JSONObject


class FunctionCalls(NamedTuple):
    """What a tool parser of SGLang made of a text: the text beside the calls, and the calls as a message has them."""

    text: str
    calls: tuple[JSONObject, ...]


class SeparatedReasoning(NamedTuple):
    """What a reasoning parser of SGLang made of a text; `None` where it gave none."""

    reasoning: str | None
    text: str


async def request_function_calls(
    connection: HttpConnection, text: str, parser: str, tools: Sequence[JSONObject]
) -> FunctionCalls:
    """Run a tool parser of the server on a text.

    Raises:
        BackendError: The server does not do that, knows no such parser, or answers in another shape.
    """
    body: JSONObject = {"text": text, "tool_call_parser": parser, "tools": list(tools)}
    path = "/parse_function_call"
    answer = await connection.post_for_json(path, body)
    fields = object_of(answer)
    normal_text = fields.get("normal_text")
    if "calls" not in fields or not isinstance(normal_text, str | None):
        raise _odd(path, answer)
    return FunctionCalls(normal_text or "", tuple(_call(call) for call in objects_of(fields["calls"])))


async def request_separate_reasoning(connection: HttpConnection, text: str, parser: str) -> SeparatedReasoning:
    """Run a reasoning parser of the server on a text.

    Raises:
        BackendError: As for `request_function_calls`.
    """
    path = "/separate_reasoning"
    answer = await connection.post_for_json(path, {"text": text, "reasoning_parser": parser})
    fields = object_of(answer)
    if "reasoning_text" not in fields or not isinstance(fields.get("text"), str | None):
        raise _odd(path, answer)
    return SeparatedReasoning(text_of(fields["reasoning_text"]) or None, text_of(fields.get("text")) or "")


def _call(call: JSONObject) -> JSONObject:
    """Return a call in the shape of a message; SGLang's chat adds an id of its own to it."""
    return {
        "type": "function",
        "function": {"name": call.get("name"), "arguments": text_of(call.get("parameters")) or ""},
    }


def _odd(path: str, answer: JSON) -> BackendError:
    return BackendError(f"`{path}` answered in a shape that is not SGLang's: {shorten(answer)}", kind="odd-answer")
