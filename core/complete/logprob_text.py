"""The raw output of the chat's own run from its log-probabilities: the text of every token, one after the other.

Servers that tell no ids may still list the tokens they sampled. Some list those of the visible content alone; then
there are fewer than the server counted, and they are no raw output. Some give a control token an empty text.
"""

from __future__ import annotations

from prompt_debugger.core.base.types import Basis, ChatResult, Completeness, Completion, TokenLogprob

_END_REASONS = frozenset({"stop", "tool_calls", "function_call"})


def ids_of_logprobs(chat: ChatResult) -> tuple[int, ...] | None:
    """Return the ids of the chat's run, if every token that the server counted is listed with its id."""
    tokens = _all_tokens(chat)
    if tokens is None:
        return None
    ids = tuple(token.token_id for token in tokens if token.token_id is not None)
    return ids if len(ids) == len(tokens) else None


def completion_of_logprobs(chat: ChatResult, finish_reason: str | None, constraint: str | None) -> Completion | None:
    """Return the raw output of the chat's own run; `None` unless the tokens that are listed are those counted."""
    tokens = _all_tokens(chat)
    if tokens is None:
        return None
    completeness, reason = _judge(tokens)
    return Completion(
        text=b"".join(piece_of(token) for token in tokens).decode("utf-8", "replace"),
        token_ids=None,
        finish_reason=finish_reason,
        stop_reason=chat.stop_reason,
        evidence=Basis.SAME_RUN,
        usage=chat.usage,
        logprobs=tokens,
        constraint=constraint,
        body=chat.body,
        elapsed_s=chat.elapsed_s,
        completeness=completeness,
        completeness_reason=reason,
    )


def piece_of(token: TokenLogprob) -> bytes:
    """Return the bytes of a token: as the server gave them, else those of its text."""
    return token.piece if token.piece is not None else token.text.encode("utf-8", "replace")


def _all_tokens(chat: ChatResult) -> tuple[TokenLogprob, ...] | None:
    """Return the tokens that are listed if they are all: as many as the server counted, or the end token fewer."""
    tokens = chat.logprobs
    counted = None if chat.usage is None else chat.usage.completion_tokens
    if not tokens or counted is None:
        return None
    missing = counted - len(tokens)
    may_lack_end = chat.finish_reason in _END_REASONS
    return tokens if missing == 0 or (missing == 1 and may_lack_end) else None


def _judge(tokens: tuple[TokenLogprob, ...]) -> tuple[Completeness, str]:
    empty = [index for index, token in enumerate(tokens) if not piece_of(token)]
    if any(index < len(tokens) - 1 for index in empty):
        what = f"The log-probabilities list {len(tokens)} tokens, {len(empty)} of them without a text"
        return Completeness.STRIPPED, f"{what}: the server does not show its control tokens."
    reason = f"The log-probabilities give the text of each of the {len(tokens)} tokens that the server counted."
    return Completeness.WHOLE, reason
