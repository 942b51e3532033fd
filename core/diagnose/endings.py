"""Words of `finish_reason`, the protocol's and those that providers let through, and what they mean."""

from __future__ import annotations

import re

from prompt_debugger.core.base.types import ChatResult

_NATIVE = re.compile(r"(?<!\\)\"native_finish_reason\"\s*:\s*\"([^\"\\]{1,80})\"")
_WORD = re.compile(r"[a-z_]+")
_FILTER = frozenset(
    {
        "content_filter",
        "safety",
        "recitation",
        "prohibited_content",
        "blocklist",
        "spii",
        "image_safety",
        "sensitive",
        "model_armor",
    }
)
_MALFORMED = frozenset({"malformed_function_call", "unexpected_tool_call"})
_CONTEXT = frozenset({"model_length", "model_context_window_exceeded"})  # Mistral; Zhipu and Anthropic
_LIMIT = _CONTEXT | {"length", "max_tokens", "max_output_tokens"}
_NORMAL = frozenset({"stop", "eos", "eos_token", "end_turn"})


def words_of_end(chat: ChatResult) -> tuple[str, ...]:
    """Return finish_reason and, where a router gives it in addition to its own word, the provider's."""
    native = _NATIVE.findall(chat.body) if "native_finish_reason" in chat.body else []
    return tuple(word for word in (chat.finish_reason, *native[-1:]) if word)


def is_malformed_call(finish_reason: str | None) -> bool:
    """Return whether a provider says that it threw the model's call away.

    >>> is_malformed_call("function_call_filter: MALFORMED_FUNCTION_CALL"), is_malformed_call("function_call")
    (True, False)
    """
    return not _MALFORMED.isdisjoint(_words(finish_reason))


def is_unexpected_call(finish_reason: str | None) -> bool:
    """Return whether a provider says that the model called a tool that was not enabled.

    >>> is_unexpected_call("UNEXPECTED_TOOL_CALL"), is_unexpected_call("MALFORMED_FUNCTION_CALL")
    (True, False)
    """
    return "unexpected_tool_call" in _words(finish_reason)


def is_filter_word(finish_reason: str | None) -> bool:
    """Return whether a content filter ended the answer.

    >>> is_filter_word("SAFETY"), is_filter_word("content_filter: RECITATION"), is_filter_word("stop")
    (True, True, False)
    """
    return not _FILTER.isdisjoint(_words(finish_reason)) and not is_malformed_call(finish_reason)


def has_no_message(chat: ChatResult) -> bool:
    """Return whether a filter left nothing of the answer, not even a message, as Azure's does."""
    return not chat.message and not chat.deltas and is_filter_word(chat.finish_reason)


def is_normal_end(finish_reason: str | None) -> bool:
    """Return whether a word says that the model itself ended its answer."""
    return (finish_reason or "").lower() in _NORMAL


def is_limit_word(finish_reason: str | None) -> bool:
    """Return whether a word says that a limit ended the answer.

    >>> is_limit_word("MAX_TOKENS"), is_limit_word("stop")
    (True, False)
    """
    return (finish_reason or "").lower() in _LIMIT


def is_context_word(finish_reason: str | None) -> bool:
    """Return whether a word says that the model's context was full."""
    return (finish_reason or "").lower() in _CONTEXT


def _words(finish_reason: str | None) -> list[str]:
    return _WORD.findall((finish_reason or "").lower())
