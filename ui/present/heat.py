"""Log probabilities next to a token table: how likely the model found each token, and what it might have written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from prompt_debugger.core.base.types import JSON, Token, TokenLogprob, Trace

MAX_ALTERNATIVES = 20_000  # tokens that keep theirs; the values themselves are kept for all
NEVER_NATS = -9999.0  # what vLLM says for minus infinity, which JSON cannot
_MAX_SHOWN = 20  # alternatives of one token
_BY_ID = re.compile(r"token_id:([0-9]{1,18})")

Alternative = tuple[str, int | None, float]


class Heat(NamedTuple):
    """Log probabilities of a token table.

    Attributes:
        logprobs: One per token, in nats; `None` where the server gave none.
        alternatives: What the model might have written there, likeliest first: text, id where known, nats.
    """

    logprobs: tuple[float | None, ...]
    alternatives: tuple[tuple[Alternative, ...], ...]


def raw_heat(trace: Trace) -> Heat | None:
    """Return the log probabilities of the raw output; `None` unless they belong to its tokens beyond doubt."""
    raw = trace.raw
    if raw is None or raw.tokens is None or not raw.logprobs or len(raw.logprobs) > len(raw.tokens):
        return None
    if not all(_is_of(token, logprob) for token, logprob in zip(raw.tokens, raw.logprobs, strict=False)):
        return None
    ids, spellings = _vocabulary(trace)
    # The end token may be in the ids and not among the log probabilities.
    missing = len(raw.tokens) - len(raw.logprobs)
    return Heat(
        (*(item.logprob for item in raw.logprobs), *[None] * missing),
        (*(_alternatives(item.top, ids, spellings) for item in raw.logprobs), *[()] * missing),
    )


def prompt_heat(trace: Trace) -> Heat | None:
    """Return the log probabilities of the prompt; `None` unless the server gave them for these very tokens."""
    prompt = trace.prompt or trace.local_prompt
    given = None if trace.chat is None else trace.chat.prompt_logprobs
    if prompt is None or prompt.tokens is None or given is None or len(given) != len(prompt.tokens):
        return None
    own = [_own(token, candidates) for token, candidates in zip(prompt.tokens, given, strict=True)]
    # The first token has nothing before it. Any other without a value: these are other tokens.
    if any(item is None for item in own[1:]):
        return None
    ids, spellings = _vocabulary(trace)
    tops = (tuple((item.text, item.logprob) for item in candidates) for candidates in given)
    known = {item.text: item.token_id for candidates in given for item in candidates if item.token_id is not None}
    return Heat(
        tuple(None if item is None else item.logprob for item in own),
        tuple(_alternatives(top, {**ids, **known}, spellings) for top in tops),
    )


def alternatives_to_json(alternatives: Sequence[Alternative]) -> list[JSON]:
    """Return alternatives as the view takes them."""
    return [
        [text, token_id, round(max(logprob, NEVER_NATS), 6)] for text, token_id, logprob in alternatives[:_MAX_SHOWN]
    ]


def _is_of(token: Token, logprob: TokenLogprob) -> bool:
    """Return whether a log probability can be that of a token: its id where given, else its text."""
    if logprob.token_id is not None:
        return logprob.token_id == token.id
    # A special token may come as "", half a character as anything.
    return not logprob.text or not token.text or logprob.text == token.text or "\ufffd" in logprob.text + token.text


def _own(token: Token, candidates: Sequence[TokenLogprob]) -> TokenLogprob | None:
    return next((item for item in candidates if item.token_id == token.id), None)


def _vocabulary(trace: Trace) -> tuple[dict[str, int], dict[int, str]]:
    """Return ids by text and texts by id, as far as this run shows them."""
    spellings = dict(trace.vocabulary.special) if trace.vocabulary is not None else {}
    tables = (trace.prompt, trace.local_prompt, trace.raw)
    for table in tables:
        for token in (table.tokens if table is not None else None) or ():
            if token.text:
                spellings[token.id] = token.text
    return {text: token_id for token_id, text in spellings.items()}, spellings


def _alternatives(
    top: Sequence[tuple[str, float]], ids: dict[str, int], spellings: dict[int, str]
) -> tuple[Alternative, ...]:
    likeliest_first = sorted(top, key=lambda item: -item[1])
    return tuple(_alternative(text, logprob, ids, spellings) for text, logprob in likeliest_first)


def _alternative(text: str, logprob: float, ids: dict[str, int], spellings: dict[int, str]) -> Alternative:
    found = _BY_ID.fullmatch(text)
    if found is None:
        return text, ids.get(text), logprob
    token_id = int(found[1])
    return spellings.get(token_id, ""), token_id, logprob
