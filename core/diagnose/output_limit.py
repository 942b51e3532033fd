"""Which limit ended an output that was cut (`max_tokens`, the context, another), and how to get more room."""

from __future__ import annotations

import json
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_count
from prompt_debugger.core.base.types import Api, Finding, JSONObject, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.endings import is_context_word
from prompt_debugger.core.diagnose.fields import body_of, held_at
from prompt_debugger.core.diagnose.fixes import RequestFix
from prompt_debugger.core.diagnose.trace_queries import completion_tokens, max_tokens_of

# Servers differ in whether they count the last token.
_TOLERANCE = 2
_CAPS = ("max_completion_tokens", "max_tokens")
_OF_OTHER_APIS = ("max_output_tokens", "max_tokens", "generationConfig.maxOutputTokens", "inferenceConfig.maxTokens")
_MAX_TOKENS = 1024


_LONGER_CONTEXT = Step(
    "Shorten the conversation or the tools, or serve the model with a longer context (`--max-model-len` of vLLM, `-c` "
    "of llama.cpp): the context is full."
)


class OutputLimit(NamedTuple):
    """What ended a cut output, as far as the counts show it.

    Attributes:
        name: In a sentence: "cut by …".
        step: How the model gets more room.
        is_requested: Whether the request set it.
    """

    name: str
    step: Step
    is_requested: bool = False


def more_output(trace: Trace) -> Step:
    """Return the step that lets the model write more."""
    return output_limit(trace).step


def output_limit(trace: Trace) -> OutputLimit:
    """Return the limit that ended a cut output."""
    cap, written = max_tokens_of(trace), completion_tokens(trace)
    context = trace.max_model_len
    prompt = prompt_tokens(trace)
    is_sure = trace.request.api is Api.GEMINI  # whose `MAX_TOKENS` is that of the request, whatever it counts as output
    reaches_cap = cap is not None and (written is None or is_sure or written >= cap - _TOLERANCE)
    if trace.chat is not None and is_context_word(trace.chat.finish_reason):
        return OutputLimit("the model's context, as the server reports", _LONGER_CONTEXT)
    if not reaches_cap and context and prompt and written and prompt + written >= context - _TOLERANCE:
        return OutputLimit(
            f"the context of {context} tokens, which {prompt} of prompt and {written} of output fill", _LONGER_CONTEXT
        )
    if cap is None and not trace.request.body.keys() - {"messages"}:  # copied without the rest
        text = "Raise `max_tokens` of the request; if it sets none, a default of the server cut the output: set one."
        return OutputLimit("a limit on its tokens", Step(text))
    if cap is None:
        text = "Send your own `max_tokens`: the request sets none, so the server's default cut the output."
        return OutputLimit("a limit that the request does not set", Step(text))
    if reaches_cap and written is None and not is_sure and _is_shorter(trace, cap or 0):
        text = (
            f"Check the token counts of the server: raise `{_name_of_cap(trace)}` ({cap} now) if output that is not "
            "shown used it up; else the context is full, or the server has a limit."
        )
        return OutputLimit("a limit on its tokens", Step(text))
    if reaches_cap:
        return OutputLimit("max_tokens", Step(f"Raise `{_name_of_cap(trace)}` ({cap} now)."), is_requested=True)
    return OutputLimit(
        f"a limit other than max_tokens, after {written} of {cap} tokens",
        Step("Check the server for an additional limit on output or context: `max_tokens` did not end the output."),
    )


def _is_shorter(trace: Trace, cap: int) -> bool:
    """Return whether an answer shows less than a limit of so many tokens allows: no token is shorter than a byte."""
    chat = trace.chat
    return chat is not None and len(json.dumps(chat.message, ensure_ascii=False).encode("utf-8", "replace")) < cap


def prompt_tokens(trace: Trace) -> int | None:
    """Return how many tokens the prompt has, by its ids or by the server's accounting."""
    if trace.prompt is not None and trace.prompt.tokens is not None:
        return len(trace.prompt.tokens)
    if trace.prompt is not None and trace.prompt.token_ids is not None:
        return len(trace.prompt.token_ids)
    usage = None if trace.chat is None else trace.chat.usage
    return None if usage is None else usage.prompt_tokens


def _name_of_cap(trace: Trace) -> str:
    """Return the field that sets the limit, as it is written in the request: another API has a word of its own."""
    native = trace.request.native
    if native is not None and (own := next((name for name in _OF_OTHER_APIS if as_count(held_at(native, name))), None)):
        return own.rpartition(".")[2]
    bodies = (trace.request.body, body_of(trace))
    return next(name for body in bodies for name in _CAPS if as_count(body.get(name)) is not None)


def _raised(trace: Trace) -> JSONObject:
    """Return the request's own limit, raised; empty where it has none."""
    for name in _CAPS:
        before = trace.request.body.get(name)
        if isinstance(before, int):
            length = trace.max_model_len
            limit = length // 4 if length else _MAX_TOKENS
            return {name: min(max(8 * before, 128), max(limit, 2 * before))}
    return {}


def _raised_name(trace: Trace, _: Finding) -> str:
    return ", ".join(f"{name}: {value}" for name, value in _raised(trace).items())


MORE_OUTPUT = RequestFix(_raised_name, lambda trace, _: {**trace.request.body, **_raised(trace)})
"""The fix of what a limit of the request cut."""
