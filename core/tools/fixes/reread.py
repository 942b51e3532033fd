"""Try a client's change of an answer: the run is read again with the changed message, and no server is asked."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import cast

from prompt_debugger.core.base.types import JSONObject, Trace
from prompt_debugger.core.pipeline.diagnosis import read_trace


async def reread(first: Trace, client: str) -> Trace:
    """Return a run with its message changed as a client would change it; the server is not asked.

    Args:
        first: The run.
        client: Source of the function `fix` (`core/diagnose/fixes.py`: `ClientFix`).
    """
    if first.chat is None:
        return first
    chat = replace(first.chat, message=fixed_message(client, first.chat.message))
    special = frozenset() if first.vocabulary is None else frozenset(first.vocabulary.special.values())
    trace = replace(first, chat=chat, chat_stream=None, chat_whole=None, parse=None, findings=(), verdict=None)
    return await read_trace(trace, special)


def fixed_message(source: str, message: JSONObject) -> JSONObject:
    """Return a message as a client would change it; as it is where the change cannot be made.

    Args:
        source: Of the function, which a rule declares.
        message: An answer's message.
    """
    names: dict[str, object] = {}
    exec(source, names)
    fix = cast("Callable[[JSONObject], JSONObject]", names["fix"])
    try:
        return fix(copy.deepcopy(message))
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return message
