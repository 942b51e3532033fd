"""What llama.cpp's server offers besides the OpenAI endpoints: its prompt, without running the model.

| endpoint | answers |
|---|---|
| `GET /props` | settings; the model's `chat_template` among them |
| `POST /apply-template` | `prompt`: the text that a chat request renders to |
| `POST /tokenize` | `tokens`: ids, with `with_pieces` also the text or the bytes of each |

The chat tokenizes its prompt with BOS where the vocabulary asks for one, and takes the template's own
BOS away before; `/apply-template` shows the text without it. So the ids come from `/tokenize` with
`add_special`, and the text from the ids.
"""

from __future__ import annotations

from dataclasses import dataclass

from prompt_debugger.core.base.errors import BackendError, shorten
from prompt_debugger.core.base.json_values import as_object, as_text
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete.backends.http import HttpConnection
from prompt_debugger.core.complete.shapes import parse_look

_NOT_SENT = ("stream", "stream_options")


@dataclass(frozen=True, slots=True)
class TemplateAnswer:
    """The prompt that llama.cpp would run for a chat request.

    Attributes:
        text: The prompt; with BOS if the ids are known, without one that only the vocabulary adds if not.
        token_ids: Its ids; `None` if the server does not tokenize.
        pieces: The bytes of each id; `None` where the server does not report them.
    """

    text: str
    token_ids: tuple[int, ...] | None = None
    pieces: tuple[bytes, ...] | None = None


async def request_template(connection: HttpConnection, body: JSONObject) -> TemplateAnswer:
    """Have a chat request rendered and tokenized by the server, without generating.

    Raises:
        BackendError: The server does not render, or not this request.
    """
    sent: JSONObject = {key: value for key, value in body.items() if key not in _NOT_SENT}
    fields = as_object(await connection.post_for_json("/apply-template", sent))
    text = as_text(fields.get("prompt"))
    if text is None:
        raise BackendError(f"`/apply-template` answered in an unexpected shape: {shorten(fields)}.", kind="odd-answer")
    try:
        return await _tokenized(connection, text)
    except BackendError:
        return TemplateAnswer(text)  # the text alone is worth having


async def request_props(connection: HttpConnection) -> JSONObject:
    """Return the server's settings, its chat template among them.

    Raises:
        BackendError: The server does not show them.
    """
    return parse_look((await connection.get("/props")).text)


async def request_pieces(connection: HttpConnection, text: str) -> dict[int, bytes]:
    """Return the bytes of the ids that a text is made of; those for which the server reports none are left out.

    Raises:
        BackendError: The server does not tokenize.
    """
    entries = [_entry(token) for token in await _token_entries(connection, text, adds_special=False)]
    return {token_id: piece for token_id, piece in entries if token_id is not None and piece is not None}


async def _token_entries(connection: HttpConnection, text: str, *, adds_special: bool) -> list[JSON]:
    sent: JSONObject = {"content": text, "add_special": adds_special, "parse_special": True, "with_pieces": True}
    tokens = as_object(await connection.post_for_json("/tokenize", sent)).get("tokens")
    return tokens if isinstance(tokens, list) else []


async def _tokenized(connection: HttpConnection, text: str) -> TemplateAnswer:
    entries = [_entry(token) for token in await _token_entries(connection, text, adds_special=True)]
    ids = tuple(token_id for token_id, _ in entries if token_id is not None)
    if not entries or len(ids) < len(entries):
        return TemplateAnswer(text)
    pieces = tuple(piece for _, piece in entries if piece is not None)
    if len(pieces) < len(entries):
        return TemplateAnswer(text, ids)
    return TemplateAnswer(b"".join(pieces).decode("utf-8", "replace"), ids, pieces)


def _entry(token: JSON) -> tuple[int | None, bytes | None]:
    """Return id and bytes of one token; a piece that is not UTF-8 comes as a list of numbers."""
    if isinstance(token, dict):
        token_id, piece = token.get("id"), token.get("piece")
        if isinstance(piece, str):
            data: bytes | None = piece.encode("utf-8", "replace")
        else:
            numbers = piece if isinstance(piece, list) else [None]
            data = bytes(one for one in numbers if _is_byte(one) and isinstance(one, int))
            data = data if len(data) == len(numbers) else None
        return (token_id if _is_id(token_id) and isinstance(token_id, int) else None), data
    return (token if _is_id(token) and isinstance(token, int) else None), None


def _is_id(value: JSON) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_byte(value: JSON) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 256
