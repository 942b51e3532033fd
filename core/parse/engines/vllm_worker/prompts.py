# ruff: noqa: ANN401 - the objects of vLLM and transformers are untyped
"""One order → what vLLM's own renderer makes of some requests: text, ids, or why it refuses.

The release's own `HfRenderer` is created without an engine and without a model's configuration; its input is
what the chat server would pass it, built by the server's own request class.
"""

from __future__ import annotations

import copy
import functools
import importlib
from types import SimpleNamespace
from typing import Any

from prompt_debugger.core.parse.engines.vllm_worker import release
from prompt_debugger.core.parse.engines.vllm_worker.errors import plain_error
from prompt_debugger.core.parse.engines.vllm_worker.judging import TimeUp, time_limit
from prompt_debugger.core.parse.engines.vllm_worker.vocabulary import byte_tokenizer, load_tokenizer

_NAMED = ("bos_token", "eos_token", "pad_token", "unk_token", "sep_token", "cls_token", "mask_token")


class _Configuration:
    """A model configuration in which nothing is set."""

    model = tokenizer = ""
    hf_config = SimpleNamespace(model_type="")
    max_model_len = 1 << 20

    def __getattr__(self, name: str) -> None:
        """Return that nothing is set."""


def render_all(order: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what each body of an order becomes: `text`, `token_ids`, `refusal`.

    Raises:
        ImportError: This release has no renderer that can be asked without an engine.
    """
    try:
        renderers = importlib.import_module("vllm.renderers.hf")
        renderer = renderers.HfRenderer.__new__(renderers.HfRenderer)
    except (ImportError, AttributeError):
        raise ImportError(f"vLLM {release.version()} has no renderer that runs without its engine") from None
    renderer.model_config = _Configuration()
    renderer.tokenizer = _tokenizer(order.get("tokenizer"), tuple(sorted(order.get("special_tokens", {}).items())))
    renderer.use_unified_vision_chunk = False
    has_own = bool(order.get("tokenizer"))
    return [_render(renderer, body, order, has_own=has_own) for body in order["bodies"]]


def _render(renderer: Any, body: dict[str, Any], order: dict[str, Any], *, has_own: bool) -> dict[str, Any]:
    try:
        with time_limit(order["limit_s"]):
            # A copy: the server gets a fresh body with every request, and changes it.
            request = release.chat_protocol().ChatCompletionRequest.model_validate(
                {"model": "m", **copy.deepcopy(body)}
            )
            tools = None if request.tools is None else [tool.model_dump() for tool in request.tools]
            params = request.build_chat_params(order["template"], "auto")
            params = params.with_defaults({"tools": tools, "tokenize": False})
            _, prompt = renderer.render_messages(request.messages, params)
            text = prompt["prompt"]
            tokens = request.build_tok_params(renderer.model_config)
            ids = renderer.tokenizer.encode(text, **tokens.get_encode_kwargs()) if has_own else None
    except TimeUp:
        return {"refusal": f"took longer than {order['limit_s']:g} s and was stopped"}
    except _refusals() as error:  # anything else is a bug of this module
        return {"refusal": _reason(error)}
    return {"text": text, "token_ids": ids}


@functools.cache
def _refusals() -> tuple[type[Exception], ...]:
    """Return the errors with which this release refuses requests: `ValueError`, in newer ones also vLLM's own."""
    try:
        own = importlib.import_module("vllm.exceptions").VLLMValidationError
    except (ImportError, AttributeError):
        return (ValueError,)
    return (ValueError, own)


def _reason(error: Exception) -> str:
    """Return why a request is refused: the first problem that validation found, or the error."""
    if not hasattr(error, "errors"):
        return plain_error(error).partition(": ")[2]
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


@functools.lru_cache(maxsize=4)
def _tokenizer(folder: str | None, special_tokens: tuple[tuple[str, str], ...]) -> Any:
    """Return the model's tokenizer, or one of single bytes that knows the names of its special tokens."""
    if folder:
        return load_tokenizer(folder)
    tokenizer = copy.deepcopy(byte_tokenizer())
    tokenizer.add_special_tokens({name: text for name, text in special_tokens if name in _NAMED})
    return tokenizer
