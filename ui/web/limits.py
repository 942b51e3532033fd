"""What one visitor may use of a page that many share: how often, how long, how much. Values and checks only."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from prompt_debugger.core.base.errors import DebuggerError, RequestError, shorten
from prompt_debugger.core.base.types import JSON, JSONObject, Notice, Request
from prompt_debugger.core.report import redact_body
from prompt_debugger.core.request import body_text


@dataclass(frozen=True, slots=True)
class Limits:
    """What a visitor may use; `None` means as much as they like.

    Attributes:
        runs_at_once: Runs of all visitors that proceed at the same time; further ones wait for their turn.
        quick_at_once: Runs that proceed at the same time, slow ones left out, where `most_at_once` is set; of a visitor
            as many as stay free.
        most_at_once: Runs that proceed at the same time, slow ones included; `None` if `runs_at_once` alone counts.
        runs_per_session: Runs of one session that are running or waiting at the same time.
        runs_per_minute: Runs that one session may start in a minute.
        total_per_minute: Runs that all sessions together may start in a minute; one visitor as many as stay free.
        request_chars: Length of the pasted text.
        max_tokens: Tokens that a request may ask for, per answer.
        max_lab_tokens: Tokens per answer of the miniature model, whose answers are short; more is lowered to it.
        max_logprobs: Log probabilities that a request may ask for, of all tokens of its answers together.
        max_choices: Answers that a request may ask for (`n`).
        max_listed: Entries of lists that a server goes through for each token, such as `stop`.
        run_s: Seconds that a run may take once it is its turn.
        is_text_only: Whether messages may contain nothing but text.
    """

    runs_at_once: int = 4
    quick_at_once: int = 4
    most_at_once: int | None = None
    runs_per_session: int | None = None
    runs_per_minute: int | None = None
    total_per_minute: int | None = None
    request_chars: int | None = None
    max_tokens: int | None = None
    max_lab_tokens: int | None = None
    max_logprobs: int | None = None
    max_choices: int | None = None
    max_listed: int | None = None
    run_s: float | None = None
    is_text_only: bool = False


PUBLIC_LIMITS = Limits(
    quick_at_once=12,
    most_at_once=48,
    runs_per_session=1,
    runs_per_minute=10,
    total_per_minute=240,
    request_chars=200_000,
    max_tokens=2_048,
    max_lab_tokens=512,
    max_logprobs=10_240,
    max_choices=2,
    max_listed=64,
    run_s=180.0,
    is_text_only=True,
)


class LimitError(DebuggerError):
    """A visitor asked for more than this page gives to one."""


def check_length(text: str, limits: Limits) -> None:
    """Refuse a pasted text that is too long, before it is read.

    Raises:
        LimitError: It is.
    """
    if limits.request_chars is not None and len(text) > limits.request_chars:
        raise LimitError(
            f"The pasted text has {len(text):,} characters; this public page reads up to {limits.request_chars:,}.",
            "Shorten it, or run the program on your own machine.",
        )


def check_request_limits(request: Request, limits: Limits) -> None:
    """Refuse a request that asks a shared model for too much, or a server to fetch something.

    Raises:
        RequestError: It does; the field is named.
    """
    for field in ("max_tokens", "max_completion_tokens", "min_tokens"):
        _check_number(request.body, field, limits.max_tokens)
    for field in ("n", "best_of"):
        _check_number(request.body, field, limits.max_choices)
    for field in _LISTED:
        _check_length(request.body, field, limits.max_listed)
    _check_logprobs(request.body, limits)
    if limits.is_text_only:
        _refuse_media(request)


def mask_keys(request: Request) -> Request:
    """Return a request with everything masked that looks like a key; a page for anyone keeps and sends none."""
    body = redact_body(request.body)
    if body == request.body:
        return request
    notice = Notice("", "What looks like a key was masked: a public page neither keeps nor sends keys.")
    return replace(request, body=body, text=body_text(body), notices=(*request.notices, notice))


def bounded_request(request: Request, limits: Limits) -> Request:
    """Return a request that says how many tokens it wants at most; without that a server may generate for long."""
    if limits.max_tokens is None or any(request.body.get(name) is not None for name in _MAX_TOKENS):
        return request
    notice = Notice("max_tokens", f"Set to {limits.max_tokens:,}, the limit on this public page.")
    body: JSONObject = {**request.body, "max_tokens": limits.max_tokens}
    return replace(request, body=body, notices=(*request.notices, notice))


def lab_request(request: Request, limits: Limits) -> Request:
    """Return a request to the miniature model that asks for no more tokens than its answers have."""
    most = limits.max_lab_tokens
    if most is None:
        return request
    if request.body.get("use_beam_search"):
        most //= _BEAM_TIMES
    numbers = {name: _number(request.body.get(name)) for name in (*_MAX_TOKENS, "min_tokens")}
    changes: JSONObject = {name: most for name, value in numbers.items() if value is not None and value > most}
    if all(numbers[name] is None for name in _MAX_TOKENS):
        changes["max_tokens"] = most
    sentence = f"Set to {most:,}, the limit for the lab model on this public page."
    notices = [Notice(name, sentence) for name in changes]
    body: JSONObject = {**request.body, **changes}
    return replace(request, body=body, notices=(*request.notices, *notices)) if changes else request


_MAX_TOKENS = ("max_tokens", "max_completion_tokens")
_BEAM_TIMES = 8  # vLLM asks its engine anew for each token of a beam: that often what a token costs otherwise
_PROMPT_TOKENS = 2_048  # taken for the length of a prompt, which is not known before it is rendered
# What vLLM goes through for each token, in the process that serves everyone.
_LISTED = ("stop", "stop_token_ids", "bad_words", "logit_bias", "logprob_token_ids")
_TEXT_PARTS = ("text", "input_text", "output_text", "refusal", "thinking", "tool_reference")
# vLLM takes a part with a `uuid`, or without a `type`, for whatever other key it finds in it.
_MEDIA_KEY = re.compile("image|audio|video|embeds|file|url|uuid|source")


def _check_number(body: JSONObject, field: str, most: int | None) -> None:
    value = _number(body.get(field))
    if most is None or value is None or value <= most:
        return
    raise RequestError(
        f"The request asks for {value:,g}; the limit of this public page is {most:,}.",
        "Ask for less, or run the program on your own machine.",
        field=field,
    )


def _check_length(body: JSONObject, field: str, most: int | None) -> None:
    value = body.get(field)
    if most is None or not isinstance(value, list | dict) or len(value) <= most:
        return
    raise RequestError(
        f"The request lists {len(value):,} entries; the limit of this public page is {most:,}.",
        "List fewer, or run the program on your own machine.",
        field=field,
    )


def _check_logprobs(body: JSONObject, limits: Limits) -> None:
    """Each is looked up, put into words and sent for each token: twenty of them double what an answer costs."""
    if limits.max_logprobs is None or limits.max_tokens is None:
        return
    listed = body.get("logprob_token_ids")
    by_field = {
        "prompt_logprobs": (_number(body.get("prompt_logprobs")) or 0.0) * _PROMPT_TOKENS,
        "top_logprobs": (_number(body.get("top_logprobs")) or 0.0) * _tokens_of(body, limits.max_tokens),
        "logprob_token_ids": (len(listed) if isinstance(listed, list) else 0) * _tokens_of(body, limits.max_tokens),
    }
    for field, wanted in by_field.items():
        if wanted < 0 or wanted > limits.max_logprobs:
            asked = "all there are" if wanted < 0 else f"up to {wanted:,g}"
            raise RequestError(
                f"Log probabilities: the request asks for {asked}, and this public page allows "
                f"{limits.max_logprobs:,} for all tokens together.",
                "Ask for fewer of them, lower `max_tokens`, or run the program on your own machine.",
                field=field,
            )


def _tokens_of(body: JSONObject, most: int) -> float:
    """Return how many tokens the answers to a request may have together."""
    numbers = [_number(body.get(name)) for name in _MAX_TOKENS]
    tokens = max((number for number in numbers if number is not None), default=float(most))
    return tokens * max(1.0, _number(body.get("n")) or 1.0)


def _number(value: JSON) -> float | None:
    """Return a value as a server reads it: text that contains a number counts."""
    if not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None if isinstance(value, str) else math.inf


def _refuse_media(request: Request) -> None:
    """A server fetches the images, sounds and films that a message links to, and would do so for any stranger."""
    for index, message in enumerate(request.messages):
        content = message.get("content")
        for part_index, part in enumerate(content if isinstance(content, list) else []):
            if isinstance(part, dict) and not _is_text_part(part):
                raise RequestError(
                    f"This public page sends text only, not content parts such as {shorten(part, 60)}.",
                    "A server would download what they link to. Run the program on your own machine to use them.",
                    field=f"messages[{index}].content[{part_index}]",
                )


def _is_text_part(part: JSONObject) -> bool:
    return part.get("type", "text") in _TEXT_PARTS and not any(_MEDIA_KEY.search(key.lower()) for key in part)
