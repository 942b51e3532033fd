"""One event of a chat stream: what it says, read without regard to those before it."""

from __future__ import annotations

from typing import NamedTuple

from prompt_debugger.core.base.errors import shorten
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSONObject, TokenLogprob, Usage
from prompt_debugger.core.complete import run_facts
from prompt_debugger.core.complete.answers import (
    bound_message,
    chat_logprobs_of,
    finish_reason_of,
    problem_of_error,
    stop_reason_of,
    usage_of,
)
from prompt_debugger.core.complete.backends.limits import MAX_CHOICES, MAX_VALUES
from prompt_debugger.core.complete.problem import Problem
from prompt_debugger.core.complete.reading import READING
from prompt_debugger.core.complete.shapes import integer_of, objects_of, parse_json
from prompt_debugger.core.sandbox import job
from prompt_debugger.core.sandbox.values import admit


@admit
class ChatChoice(NamedTuple):
    """What an event says of a choice.

    Attributes:
        delta: What is new.
        token_ids: The ids it was made of, where they are told.
        finish_reason: Set at the end.
        stop_reason: Stop id or string, where it is told.
        logprobs: One per token, where they are told.
        value_count: How many values the delta is made of.
        number: Which choice it is.
    """

    delta: JSONObject
    token_ids: tuple[int, ...] | None = None
    finish_reason: str | None = None
    stop_reason: str | int | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    value_count: int = 1
    number: int = 0


@admit
class ChatChunk(NamedTuple):
    """What an event says.

    Attributes:
        choices: Of the first choice; usually one. Where it says nothing of that, what it says of another.
        prompt_token_ids: Ids of the prompt, where they are told.
        prompt_text: Its text, where it is told.
        usage: The server's accounting.
        problem: What is wrong with it.
    """

    choices: tuple[ChatChoice, ...] = ()
    prompt_token_ids: tuple[int, ...] | None = None
    prompt_text: str | None = None
    usage: Usage | None = None
    problem: Problem | None = None


@job("reading an event of the stream", READING)
def read_chat_chunk(data: str, number: int, *, is_complete: bool = True) -> ChatChunk:
    """Read one event.

    Args:
        data: What it holds.
        number: Which of the stream it is, from 1.
        is_complete: False if the end of the stream cut it off.
    """
    name = f"event {number} of the stream"
    try:
        chunk = parse_json(data)
    except ValueError:
        cut = "" if is_complete else ", which the end of the stream cut off,"
        return ChatChunk(problem=Problem(f"{name}{cut} is not JSON: {shorten(data)}"))
    if not isinstance(chunk, dict):
        return ChatChunk(problem=Problem(f"{name} is not an object: {shorten(chunk)}"))
    error = problem_of_error(chunk)
    problem = None if error is None else Problem(error)
    choices = objects_of(chunk.get("choices"))
    if len(choices) > MAX_CHOICES:
        words = f"{name} contains {len(choices):,} choices, of which {MAX_CHOICES:,} are read"
        problem = problem or Problem(words, "too-much")
    read, left = [], MAX_VALUES
    choices = choices[:MAX_CHOICES]
    for choice in [choice for choice in choices if not integer_of(choice.get("index"))] or choices[:1]:
        delta, too_much, count = bound_message(as_object(choice.get("delta")), name, left)
        problem, left = problem or too_much, max(0, left - count)
        read.append(_choice_of(chunk, choice, delta, count))
    usage = usage_of(chunk.get("usage"))
    if "prompt" not in data:  # as in most; looking into all the places where it may be takes longer
        return ChatChunk(tuple(read), None, None, usage, problem)
    return ChatChunk(tuple(read), run_facts.prompt_ids(chunk), run_facts.prompt_text(chunk), usage, problem)


def _choice_of(chunk: JSONObject, choice: JSONObject, delta: JSONObject, count: int) -> ChatChoice:
    return ChatChoice(
        delta,
        run_facts.output_ids(chunk, choice),
        finish_reason_of(choice.get("finish_reason")),
        stop_reason_of(choice.get("stop_reason")),
        chat_logprobs_of(choice.get("logprobs")),
        count,
        integer_of(choice.get("index")) or 0,
    )
