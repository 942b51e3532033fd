"""How a cut output gets more room: by the request's own limit, the server's default, or a longer context."""

from __future__ import annotations

from core.diagnose.advice import Step
from core.diagnose.fields import as_count, body_of
from core.diagnose.sight import completion_tokens, max_tokens_of
from core.types import Trace


def more_room(trace: Trace) -> Step:
    """Return the step that lets the model write more."""
    limit = max_tokens_of(trace)
    if _is_context_full(trace):
        return Step(
            "Shorten the conversation or the tools, or serve the model with a longer context (`--max-model-len`): "
            "the context is full."
        )
    if limit is None:
        return Step("Send a `max_tokens` of your own: the request sets none, so the server's default cut the output.")
    names = ("max_completion_tokens", "max_tokens")
    name = next(name for name in names if as_count(body_of(trace).get(name)) is not None)
    return Step(f"Raise `{name}` ({limit} now).")


def _is_context_full(trace: Trace) -> bool:
    length = None if trace.server is None else trace.server.max_model_len
    tokens = None if trace.prompt is None else trace.prompt.token_ids
    prompt = None if tokens is None else len(tokens)
    if prompt is None and trace.chat is not None and trace.chat.usage is not None:
        prompt = trace.chat.usage.prompt_tokens
    written = completion_tokens(trace)
    return length is not None and prompt is not None and written is not None and prompt + written >= length
