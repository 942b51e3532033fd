"""Exchanges → sessions: a request goes on from the one before it whose messages it mostly repeats.

Whether two messages are the same is asked without digits, ids, white space and thinking, since those are what changes
between turns and breaks the cache: such a request still belongs to its session.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.complete.shapes import objects_of
from prompt_debugger.core.tools.sessions.gather import Exchange
from prompt_debugger.core.tools.verify.making import folded

_LOOKED_BACK = 400  # sessions, the latest
_SYSTEM = ("system", "developer")


def stitch(exchanges: Iterable[Exchange]) -> list[list[Exchange]]:
    """Return the sessions, each in its order, in that of their first requests."""
    sessions: list[list[Exchange]] = []
    prints: list[tuple[bytes, ...]] = []
    for exchange in exchanges:
        mine = _prints(exchange)
        best, most = None, 0
        for index in range(max(0, len(sessions) - _LOOKED_BACK), len(sessions)):
            if sessions[index][-1].body.get("model") == exchange.body.get("model"):
                score = _shared(prints[index], mine)
                if score and score >= most:
                    best, most = index, score
        if best is None:
            sessions.append([exchange])
            prints.append(mine)
        else:
            sessions[best].append(exchange)
            prints[best] = mine
    return sessions


def _prints(exchange: Exchange) -> tuple[bytes, ...]:
    messages = exchange.body.get("messages")
    return tuple(_print_of(message) for message in (messages if isinstance(messages, list) else []))


def _print_of(message: JSON) -> bytes:
    reported = as_object(message)
    if reported.get("role") in _SYSTEM:
        return b"system"
    calls = [as_object(call.get("function")).get("name") for call in objects_of(reported.get("tool_calls"))]
    kept: list[JSON] = [reported.get("role"), folded(reported.get("content")), calls]
    return sha256(json.dumps(kept, sort_keys=True).encode()).digest()


def _shared(before: Sequence[bytes], now: Sequence[bytes]) -> int:
    """Return how many messages a request repeats; 0 if it does not go on from the one before."""
    if len(now) <= len(before) and now != before:
        return 0  # shorter: begun anew, or summed up
    same = [a == b for a, b in zip(before, now, strict=False)]
    said = [is_same for is_same, one in zip(same, before, strict=True) if one != b"system"]
    return sum(same) if said and said[0] and 2 * sum(said) >= len(said) else 0
