"""Try a client's change of an answer: the run is read again with the changed message, and no server is asked."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from prompt_debugger.core.base.types import JSONObject, Parse, Trace
from prompt_debugger.core.pipeline.diagnosis import checked_steps
from prompt_debugger.core.pipeline.reading import read_run
from prompt_debugger.core.sandbox import sandbox_of


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
    steps = sandbox_of().stream(read_run, trace, special)
    async with aclosing(checked_steps(steps, lambda: trace)) as checked:
        async for step in checked:
            if isinstance(step, Parse):
                trace = replace(trace, parse=step)
            else:
                trace = replace(trace, findings=step.findings, verdict=step.verdict)
    return trace


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
