# ruff: noqa: ANN401 - the objects of vLLM are untyped
"""Where a release of vLLM keeps what the parsers need, and what it tells them; probed, not derived from a version."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterable
from typing import Any

from prompt_debugger.core.tools.plugin.inside.deltas import CallDelta, Delta

_LOG = logging.getLogger("vllm.prompt_debugger")


def first_module(*names: str) -> Any:
    """Import the first module there is.

    Raises:
        ImportError: There is none of them.
    """
    for name in names:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
    raise ImportError(f"this vLLM has none of {', '.join(names)}")


TOOLS = first_module(
    "vllm.tool_parsers.abstract_tool_parser", "vllm.entrypoints.openai.tool_parsers.abstract_tool_parser"
)
REASONING = first_module("vllm.reasoning.abs_reasoning_parsers", "vllm.reasoning")
TYPES = first_module(
    "vllm.entrypoints.generate.base.protocol",
    "vllm.entrypoints.openai.engine.protocol",
    "vllm.entrypoints.openai.protocol",
)
KNOWS_THE_END = hasattr(TOOLS.ToolParser, "engine_based_streaming")
REASONING_FIELD = "reasoning" if "reasoning" in TYPES.DeltaMessage.model_fields else "reasoning_content"


def safely(otherwise: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give what `otherwise` gives where the wrapped method fails; the log tells why."""

    def wrap(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return method(*args, **kwargs)
            except Exception:  # noqa: BLE001 - whatever it is, the answer must reach the client
                _LOG.exception("prompt_debugger: %s failed; the text is passed on unchanged", method.__name__)
                return otherwise(*args, **kwargs)

        return call

    return wrap


def special_texts(tokenizer: Any) -> frozenset[str]:
    """Return the texts of a tokenizer's special tokens."""
    try:
        return frozenset(str(text) for text in tokenizer.all_special_tokens)
    except Exception:  # noqa: BLE001 - tokenizers of all makes
        return frozenset()


def template_tail(tokenizer: Any, kwargs: dict[str, Any] | None) -> str:
    """Return how the tokenizer's own template ends a prompt; "" if it cannot be determined."""
    try:
        text = tokenizer.apply_chat_template(
            [{"role": "user", "content": "."}], add_generation_prompt=True, tokenize=False, **(kwargs or {})
        )
    except Exception:  # noqa: BLE001 - templates raise what they like
        return ""
    return text[-200:] if isinstance(text, str) else ""


def message_of(delta: Delta) -> Any:
    """Return a delta as vLLM has it, `None` for an empty one.

    Where vLLM does not tell a parser of the end, its server tries to complete the last arguments itself, and wrongly
    for arguments that are passed on as written; a piece without arguments in front keeps it from that.
    """
    if not delta:
        return None
    calls = [_call_piece(piece) for piece in delta.calls]
    if calls and not KNOWS_THE_END:
        calls.insert(0, TYPES.DeltaToolCall(index=delta.calls[0].index, function=TYPES.DeltaFunctionCall()))
    fields: dict[str, Any] = {"content": delta.content or None, "tool_calls": calls}
    if delta.reasoning:
        fields[REASONING_FIELD] = delta.reasoning
    return TYPES.DeltaMessage(**fields)


def add_reasoning(message: Any, reasoning: str) -> Any:
    """Return a message, or none, with reasoning put into it."""
    if not reasoning:
        return message
    message = TYPES.DeltaMessage() if message is None else message
    setattr(message, REASONING_FIELD, reasoning)
    return message


def _call_piece(piece: CallDelta) -> Any:
    function = TYPES.DeltaFunctionCall(name=piece.name, arguments=piece.arguments)
    if piece.name is None:
        return TYPES.DeltaToolCall(index=piece.index, function=function)
    return TYPES.DeltaToolCall(index=piece.index, id=piece.id, type="function", function=function)


def tools_of(request: Any) -> tuple[dict[str, Any], ...]:
    """Return the request's tools as plain values."""
    return tuple(tool.model_dump() for tool in getattr(request, "tools", None) or ())


def wants_calls(request: Any) -> bool:
    """Return whether calls may come back at all."""
    return bool(getattr(request, "tools", None)) and getattr(request, "tool_choice", None) != "none"


def calls_in_history(request: Any) -> int:
    """Return how many calls the conversation holds."""
    count = 0
    for message in getattr(request, "messages", None) or ():
        calls = message.get("tool_calls") if isinstance(message, dict) else getattr(message, "tool_calls", None)
        count += len(list(calls)) if isinstance(calls, Iterable) else 0
    return count
