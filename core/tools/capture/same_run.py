"""Asks a server for the ids of a run on the client's behalf, and takes them out of what the client sees.

    {"model": …}           ──►  {"return_token_ids":true,"model": …}
    "token_ids":[3, 14]    ◄──  "token_ids":null, which is what vLLM sends to anyone who does not ask

By Responses the field is `enable_response_messages`, and `input_messages` and `output_messages` become null. vLLM's
Messages gives no ids, whatever it is asked.

Every other byte stays as it is. Events that vLLM sends only to anyone who asks for ids (an empty delta that carries
nothing else) are left out. Who asks for ids, or for the prompt to be echoed, gets what they asked for.

Source: vLLM 0.32.0, `vllm/entrypoints/openai/chat_completion/serving.py`, `completion/serving.py` and
`responses/protocol.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator

from prompt_debugger.core.base.json_values import objects_in
from prompt_debugger.core.complete.shapes import parse_json
from prompt_debugger.core.tools.capture.exchange import Api
from prompt_debugger.core.tools.capture.limits import MAX_ANSWER_BYTES

REFUSALS = (400, 422)  # of a server that does not know the field

_IDS_FIELD = b'{"return_token_ids":true,'
_FIELDS = {
    Api.CHAT: _IDS_FIELD,
    Api.COMPLETIONS: _IDS_FIELD,
    Api.RESPONSES: b'{"enable_response_messages":true,',
}
# As a key: within a JSON string its quotes would be escaped.
_IDS = re.compile(rb'"((?:prompt_)?token_ids)":\s?\[[0-9, ]*\]')
_MESSAGES = re.compile(r'"(?:in|out)put_messages":\s?(?=\[)')
_NAMED = (b'"return_token_ids"', b'"echo"', b'"enable_response_messages"')
_DECODER = json.JSONDecoder()
_END = re.compile(rb"\r?\n\r?\n")


def asking_for_ids(api: Api | None, body: bytes, packing: str) -> bytes | None:
    """Return a request that asks for ids, too; `None` if it is passed on as it is.

    >>> asking_for_ids(Api.CHAT, b'{"model": "m"}', "")
    b'{"return_token_ids":true,"model": "m"}'
    >>> asking_for_ids(Api.CHAT, b'{"return_token_ids": false}', "") is None
    True
    """
    start = body.lstrip()
    if api not in _FIELDS or packing or not start.startswith(b"{"):
        return None
    rest = start[1:].lstrip()
    if not rest.startswith(b'"') or any(name in body for name in _NAMED):
        return None
    return _FIELDS[api] + rest


def strip_ids(data: bytes) -> bytes:
    """Return an answer as it would be if no one had asked for ids.

    >>> strip_ids(b'{"choices":[{"text":"a","token_ids":[1, 2]}],"prompt_token_ids":null}')
    b'{"choices":[{"text":"a","token_ids":null}],"prompt_token_ids":null}'
    """
    data = _IDS.sub(rb'"\1":null', data)
    return _strip_messages(data) if b'put_messages":' in data else data


def _strip_messages(data: bytes) -> bytes:
    """Return an answer of Responses without the prompt and the raw output in it."""
    text, kept, end = data.decode("utf-8", "surrogateescape"), "", 0
    while (key := _MESSAGES.search(text, end)) is not None:
        try:
            _, after = _DECODER.raw_decode(text, key.end())
        except (ValueError, RecursionError):
            break
        kept, end = f"{kept}{text[end : key.end()]}null", after
    return (kept + text[end:]).encode("utf-8", "surrogateescape")


async def events_without_ids(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the events of a stream, each as soon as it is complete; what ends within an event is passed on as it is."""
    rest = b""
    async for piece in pieces:
        rest += piece
        whole = bytearray()
        while (end := _END.search(rest)) is not None:
            whole += _event_without_ids(rest[: end.end()])
            rest = rest[end.end() :]
        if whole:
            yield bytes(whole)
        if len(rest) > MAX_ANSWER_BYTES:
            yield rest
            rest = b""
    if rest:
        yield strip_ids(rest)


def _event_without_ids(event: bytes) -> bytes:
    cleaned = strip_ids(event)
    return b"" if cleaned != event and _is_empty(cleaned) else cleaned


def _is_empty(event: bytes) -> bool:
    """Return whether an event of a chat carries nothing but ids."""
    if b'"delta":{}' not in event:
        return False
    try:
        chunk = parse_json(event.decode("utf-8", "replace").strip().removeprefix("data:"))
    except ValueError:
        return False
    choices = objects_in(chunk.get("choices")) if isinstance(chunk, dict) else []
    nothing = ("delta", "finish_reason", "logprobs")
    return bool(choices) and not any(choice.get(name) for choice in choices for name in nothing)
