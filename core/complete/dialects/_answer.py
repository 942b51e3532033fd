"""What was read of an answer, whichever API gave it."""

from __future__ import annotations

from typing import NamedTuple

from prompt_debugger.core.base.types import ChatResult, Refusal


class Answer(NamedTuple):
    """What was read: a message or a raw output, and what was left out on the way.

    Attributes:
        chat: The answer that was not streamed.
        stream: The answer assembled from a stream.
        finish_reason: The server's word on the raw output.
        notes: What was left out or supposed, a sentence each.
        error: What was answered in place of a message.
        prompt: The prompt that the answer shows.
        token_ids: Ids of the raw output.
        prompt_ids: Ids of that prompt.
        words: What it is, for a person: `an answer of Ollama's /api/chat`; "" for one of chat completions.
        may_repeat_prompt: Whether the server may have put the prompt before the raw output.
    """

    chat: ChatResult | None = None
    stream: ChatResult | None = None
    raw: str | None = None
    finish_reason: str | None = None
    notes: tuple[str, ...] = ()
    error: Refusal | None = None
    prompt: str | None = None
    token_ids: tuple[int, ...] | None = None
    prompt_ids: tuple[int, ...] | None = None
    words: str = ""
    may_repeat_prompt: bool = False
