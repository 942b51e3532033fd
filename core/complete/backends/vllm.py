"""What vLLM offers besides the OpenAI endpoints: tokenizing, rendering, and its parsers on given ids.

| endpoint | there when |
|---|---|
| `POST /tokenize`, `POST /detokenize` | always |
| `POST /v1/chat/completions/render`, `…/derender` | `--enable-scale-out` (0.30 and later), or the GPU-less renderer |
| `POST /v1/responses/render`, `/v1/messages/render` | the same (0.32 and later) |
| `GET /tokenizer_info` | `--enable-tokenizer-info-endpoint` |

`/tokenize` ignores `reasoning_effort`, `documents` and `tool_choice` silently, so its ids can differ from
those of the chat; `render` takes the same way as the chat.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from prompt_debugger.core.base.errors import BackendError, shorten
from prompt_debugger.core.base.json_values import as_count, as_object, as_text
from prompt_debugger.core.base.types import JSON, JSONObject, ServerGrammar
from prompt_debugger.core.complete.backends.http import HttpConnection
from prompt_debugger.core.complete.shapes import ids_of, parse_look

_TOKENIZE_FIELDS = (
    "model", "messages", "tools", "chat_template", "chat_template_kwargs", "add_generation_prompt",
    "continue_final_message", "add_special_tokens", "mm_processor_kwargs",
)  # fmt: skip
_UNSET: tuple[JSON, ...] = (None, False, [], {})


@dataclass(frozen=True, slots=True)
class RenderAnswer:
    """What vLLM would run for a chat request.

    Attributes:
        sampling: Sampling parameters after defaults and the parser's adjustments.
        constraint: Grammar that chat puts on the output, in the shape of `structured_outputs`; `None` for none.
        template_kwargs: Effective template kwargs; `None` unless a reasoning parser is configured.
        body: The answer as received.
        waits_for_reasoning: Whether a reasoning parser is configured; `None` where an older release does not say.
        reasoning_ended: Whether reasoning is over with the prompt; `None` if that is left to the engine.
    """

    token_ids: tuple[int, ...]
    sampling: JSONObject
    constraint: JSONObject | None = None
    template_kwargs: JSONObject | None = None
    body: str = ""
    waits_for_reasoning: bool | None = None
    reasoning_ended: bool | None = None

    @property
    def grammar(self) -> ServerGrammar:
        """What it says of the grammar."""
        text = None if self.constraint is None else json.dumps(self.constraint, ensure_ascii=False)
        return ServerGrammar(text, self.waits_for_reasoning, self.reasoning_ended)

    @property
    def max_tokens(self) -> int | None:
        """How many tokens the chat may generate."""
        return as_count(self.sampling.get("max_tokens"))


async def request_render(
    connection: HttpConnection, body: JSONObject, path: str = "/v1/chat/completions/render"
) -> RenderAnswer:
    """Have a request rendered by the server, without generating.

    Raises:
        BackendError: The server does not render, or not this request.
    """
    sent: JSONObject = {key: value for key, value in body.items() if key not in ("stream", "stream_options")}
    answer = await connection.post(path, sent)
    fields = as_object(await connection.read_json("POST", path, answer))
    ids = ids_of(fields.get("token_ids"))
    if ids is None:
        raise _odd(path, fields)
    sampling = as_object(fields.get("sampling_params"))
    kwargs = as_object(fields.get("reasoning_parser_kwargs")).get("chat_template_kwargs")
    reported, ended = "reasoning_parser_kwargs" in fields, fields.get("reasoning_ended")
    return RenderAnswer(
        token_ids=ids,
        sampling=sampling,
        constraint=_constraint_of(sampling.get("structured_outputs")),
        template_kwargs=kwargs if isinstance(kwargs, dict) else None,
        body=answer.text,
        waits_for_reasoning=fields["reasoning_parser_kwargs"] is not None if reported else None,
        reasoning_ended=ended if isinstance(ended, bool) else None,
    )


async def request_derender(connection: HttpConnection, body: JSONObject) -> JSONObject:
    """Run the server's own parsers on given output ids, without generating.

    Args:
        connection: Where to.
        body: `model`, `generate_response`, `chat_request` and `prompt_token_ids`.

    Returns:
        The chat answer it makes of them. Unlike serving, its ids are random and `finish_reason` stays as given.

    Raises:
        BackendError: The server does not do that.
    """
    return as_object(await connection.post_for_json("/v1/chat/completions/derender", body))


async def request_chat_token_ids(connection: HttpConnection, body: JSONObject) -> tuple[int, ...]:
    """Return the prompt ids of a chat request by `/tokenize`; they can differ from the chat's.

    Raises:
        BackendError: The server does not tokenize, or not this request.
    """
    sent: JSONObject = {key: body[key] for key in _TOKENIZE_FIELDS if body.get(key) is not None}
    fields = as_object(await connection.post_for_json("/tokenize", sent))
    ids = ids_of(fields.get("tokens"))
    if not ids:  # llama.cpp's endpoint of the same name knows no messages and gives no ids for them
        raise _odd("/tokenize", fields)
    return ids


async def request_text(connection: HttpConnection, model: str | None, token_ids: Sequence[int]) -> str:
    """Return the text of ids by `/detokenize`, special tokens kept; llama.cpp's server has it too.

    Raises:
        BackendError: The server does not detokenize, or not these ids.
    """
    sent: JSONObject = {"tokens": list(token_ids)}
    if model is not None:
        sent["model"] = model
    fields = as_object(await connection.post_for_json("/detokenize", sent))
    text = as_text(fields.get("prompt")) if "prompt" in fields else as_text(fields.get("content"))
    if text is None:
        raise _odd("/detokenize", fields)
    return text


async def request_token_entries(connection: HttpConnection, model: str | None, text: str) -> dict[int, str]:
    """Return the vocabulary entries of the ids that a text is made of, as the tokenizer spells them.

    Raises:
        BackendError: The server does not tokenize, or does not report entries (it does from 0.10 on).
    """
    sent: JSONObject = {"prompt": text, "add_special_tokens": False, "return_token_strs": True}
    if model is not None:
        sent["model"] = model
    fields = as_object(await connection.post_for_json("/tokenize", sent))
    ids, entries = ids_of(fields.get("tokens")), fields.get("token_strs")
    texts = [entry for entry in entries if isinstance(entry, str)] if isinstance(entries, list) else []
    if ids is None or len(texts) != len(ids):
        raise _odd("/tokenize", fields)
    return dict(zip(ids, texts, strict=True))


async def request_tokenizer_info(connection: HttpConnection) -> JSONObject:
    """Return the server's tokenizer settings, its chat template among them.

    Raises:
        BackendError: The server does not show them.
    """
    return parse_look((await connection.get("/tokenizer_info")).text)


def _constraint_of(value: JSON) -> JSONObject | None:
    """Return the parts of `structured_outputs` that are set, without vLLM's private ones."""
    fields = as_object(value)
    constraint: JSONObject = {
        key: item for key, item in fields.items() if item not in _UNSET and not key.startswith("_")
    }
    return constraint or None


def _odd(path: str, fields: JSONObject) -> BackendError:
    return BackendError(f"`{path}` answered in a shape that is not vLLM's: {shorten(fields)}.", kind="odd-answer")
