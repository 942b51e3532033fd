"""Sampling parameters of a chat request, carried over to a raw completion of the same prompt.

Chat and raw completion default differently in vLLM: raw generates 16 tokens
where chat fills the context, and strips special tokens, which are what we
want to see. What chat adds on its own (a grammar for tool calls, the token
limit) comes from the server's own render, where it has one.
"""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.json_values import as_count
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete.backends.vllm import RenderAnswer

CARRIED_FIELDS = (
    "model", "temperature", "top_p", "top_k", "min_p", "seed", "presence_penalty", "frequency_penalty",
    "repetition_penalty", "length_penalty", "logit_bias", "stop", "stop_token_ids", "include_stop_str_in_output",
    "ignore_eos", "min_tokens", "allowed_token_ids", "bad_words", "use_beam_search", "thinking_token_budget",
    "repetition_detection", "logprob_token_ids", "vllm_xargs", "priority", "cache_salt", "user",
)  # fmt: skip
# Fields that a server of the original interface knows; the rest is vLLM's.
_OPENAI_FIELDS = frozenset({
    "model", "prompt", "temperature", "top_p", "seed", "presence_penalty", "frequency_penalty", "logit_bias", "stop",
    "max_tokens", "logprobs", "stream", "user",
})  # fmt: skip
_UNKNOWN_CONTEXT_MAX_TOKENS = 1024


def sampling_of_chat(
    body: JSONObject, *, prompt_length: int | None, max_model_len: int | None, rendered: RenderAnswer | None = None
) -> JSONObject:
    """Return the sampling fields of a raw completion that generates as the chat does.

    Args:
        body: The chat request.
        prompt_length: Prompt length in tokens, where known.
        max_model_len: Context length in tokens, where known.
        rendered: The server's own render of the request, where it has one.

    Returns:
        Fields for `ServerClient.complete`.
    """
    sampling: JSONObject = {key: body[key] for key in CARRIED_FIELDS if body.get(key) is not None}
    max_tokens = max_tokens_of_chat(body, prompt_length=prompt_length, max_model_len=max_model_len, rendered=rendered)
    sampling["max_tokens"] = _UNKNOWN_CONTEXT_MAX_TOKENS if max_tokens is None else max_tokens
    if body.get("logprobs") is True:
        sampling["logprobs"] = as_count(body.get("top_logprobs")) or 0
    if rendered is not None:
        if rendered.constraint is not None:
            sampling["structured_outputs"] = rendered.constraint
    else:
        sampling |= {key: body[key] for key in ("structured_outputs", "response_format") if body.get(key) is not None}
    return sampling


def max_tokens_of_chat(
    body: JSONObject, *, prompt_length: int | None, max_model_len: int | None, rendered: RenderAnswer | None = None
) -> int | None:
    """Return how many tokens the chat may generate; `None` if that cannot be known. Arguments as above."""
    if rendered is not None and rendered.max_tokens is not None:
        return rendered.max_tokens
    for key in ("max_completion_tokens", "max_tokens"):
        wanted = as_count(body.get(key))
        if wanted is not None:
            return wanted
    if prompt_length is not None and max_model_len is not None and max_model_len > prompt_length:
        return max_model_len - prompt_length
    return None


def raw_body(prompt: Sequence[int] | str, sampling: JSONObject) -> JSONObject:
    """Return the body of a raw completion that keeps special tokens and reports its ids."""
    body: JSONObject = {
        **sampling,
        "prompt": prompt if isinstance(prompt, str) else list(prompt),
        "skip_special_tokens": False,
        "spaces_between_special_tokens": False,
        "return_token_ids": True,
    }
    if isinstance(prompt, str):
        body["add_special_tokens"] = False  # the text contains all that the template wants
    return body


def plain_body(body: JSONObject) -> JSONObject:
    """Return a raw completion's body without the fields that only vLLM knows."""
    return {key: value for key, value in body.items() if key in _OPENAI_FIELDS}
