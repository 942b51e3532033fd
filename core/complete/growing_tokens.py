"""Ids and log-probabilities that come in pieces, no more of them than any answer has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from prompt_debugger.core.base.types import TokenLogprob
from prompt_debugger.core.complete.backends.limits import MAX_ALTERNATIVES, MAX_IDS, MAX_LOGPROBS


class GrowingIds:
    """Ids of one output."""

    def __init__(self) -> None:
        self._ids: list[int] | None = None
        self._are_too_many = False

    @property
    def reported(self) -> tuple[int, ...] | None:
        """All of them; `None` if none were reported, or more than any answer has."""
        return None if self._ids is None or self._are_too_many else tuple(self._ids)

    def add(self, ids: Sequence[int] | None) -> tuple[int, ...] | None:
        """Take some and return them; `None` where there are too many by now."""
        if ids is None or self._are_too_many:
            return None
        self._ids = self._ids or []
        self._are_too_many = len(self._ids) + len(ids) > MAX_IDS
        if self._are_too_many:
            self._ids = []
            return None
        self._ids += ids
        return tuple(ids)


class GrowingLogprobs:
    """Log-probabilities of one output; the alternatives to its later tokens are left out where there are too many."""

    def __init__(self) -> None:
        self._tokens: list[TokenLogprob] | None = None
        self._are_too_many = False
        self._alternatives = 0

    @property
    def reported(self) -> tuple[TokenLogprob, ...] | None:
        """All of them; `None` if none were reported, or more than any answer has."""
        return None if self._tokens is None or self._are_too_many else tuple(self._tokens)

    def add(self, tokens: Sequence[TokenLogprob] | None) -> None:
        """Take some."""
        if tokens is None or self._are_too_many:
            return
        self._tokens = self._tokens or []
        self._are_too_many = len(self._tokens) + len(tokens) > MAX_LOGPROBS
        if self._are_too_many:
            self._tokens = []
            return
        for token in tokens:
            self._alternatives += len(token.top)
            self._tokens.append(token if self._alternatives <= MAX_ALTERNATIVES else replace(token, top=()))
