"""A stream of status 200 that ended before it contained anything: what is known to cause that.

A server that has begun its stream can no longer refuse the request by a status. llama-cpp-python 0.3.36 reads the
prompt only then, and closes the stream where it is longer than the context. vLLM, SGLang and llama.cpp compare the
lengths first and refuse; Ollama cuts the prompt and answers.
"""

from __future__ import annotations

from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object, decode_json
from prompt_debugger.core.base.types import ChatResult, JSONObject, Trace
from prompt_debugger.core.diagnose.own_settings import longer_context
from prompt_debugger.core.diagnose.trace_queries import prompt_of

_ASK_WHOLE = (
    "Send the same request without `stream`: a server that fails after its stream has begun cannot say why, and then "
    "it can (llama-cpp-python closes the stream where the prompt is longer than its context). If that is answered, "
    "check the logs of the server and of any proxy in front of it."
)
_MAX_ALONE = 2  # events


class Emptiness(NamedTuple):
    """What is said of an empty stream: the end of its title, what to do, and whether the request caused it."""

    cause: str
    fix: str
    is_of_request: bool


def explain_emptiness(trace: Trace) -> Emptiness:
    """Return the cause of an empty stream where both lengths are known and show it; else how to learn it."""
    length = _prompt_length(trace)
    context = None if trace.server is None else trace.server.max_model_len
    if length is None or not context or length < context:
        return Emptiness("", _ASK_WHOLE, is_of_request=False)
    cause = f": the prompt has {length:,} tokens, and the context holds {context:,}"
    fix = f"Shorten the messages or the tools, or {longer_context(trace)}."
    return Emptiness(cause, fix, is_of_request=True)


def has_no_choice_by_its_place(result: ChatResult) -> bool:
    """Return whether a body is nothing but events that have no choice where all is well: a stream's first or last.

    The token counts of the last one say whether anything was generated before it.
    """
    lines = [line.partition(":")[2] if line.startswith("data:") else line for line in result.body.split("\n")]
    events = [decode_json(result.body)] if result.body.lstrip().startswith("{") else [decode_json(one) for one in lines]
    found = [as_object(one) for one in events if isinstance(one, dict)]
    return 0 < len(found) <= _MAX_ALONE and all(map(_is_beside_choices, found))


def _is_beside_choices(event: JSONObject) -> bool:
    counts = as_object(event.get("usage"))
    return (
        event.get("choices") == []
        and not event.get("error")
        and event.get("object") != "chat.completion"
        and ("usage" not in event or event["usage"] is None or bool(counts.get("completion_tokens")))
    )


def _prompt_length(trace: Trace) -> int | None:
    """Return how many tokens the prompt has, by the server's or by our own render."""
    prompt = prompt_of(trace)
    return None if prompt is None or prompt.tokens is None else len(prompt.tokens)
