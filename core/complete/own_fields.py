"""What is added to a request so that a server tells more of the run, and what to do when it refuses that.

Which fields a server is known to take stands in its record; any other gets vLLM's, and `logprobs` for the text of each
token.

A stream gets fewer: llama.cpp puts its ids into whole answers, and refuses `logprobs` with tools in a stream;
llama-cpp-python 0.3.36 repeats and loses pieces of a stream that has them. What was asked for must stay as it is. A
field of ours that a server refuses is a note about evidence; the request without it is what counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete.engines import ENGINES, Engine

REFUSED = frozenset({400, 422})
_LOGPROBS = ("logprobs", "top_logprobs")


def chat_fields(engine: Engine, body: JSONObject) -> JSONObject:
    """Return what is added to a chat request that is not streamed; of log-probabilities, what it does not settle."""
    settled = _LOGPROBS if body.get("logprobs") is False else [name for name in _LOGPROBS if name in body]
    return {key: value for key, value in engine.own_fields.chat.items() if key not in settled}


def fields_to_drop(error: BackendError, added: Iterable[str], *, may_be_unnamed: bool) -> tuple[str, ...]:
    """Return the fields of ours for whose sake a server may have refused a request.

    Args:
        error: The refusal.
        added: The fields that were added.
        may_be_unnamed: Whether the server may refuse a field without naming it; then all are dropped.

    Returns:
        Nothing if it was no refusal, or one that has to do with something else.
    """
    names = tuple(added)
    if error.status not in REFUSED:
        return ()
    said = f"{error.message} {error.body}"
    named = {name for name in names if name in said}
    for group in _groups():  # who does not know one does not know the other
        named |= group if named & group else set()
    return tuple(name for name in names if name in named) or (names if may_be_unnamed else ())


def _groups() -> Iterator[frozenset[str]]:
    """Yield the fields that belong to one software; those of log-probabilities are of the OpenAI endpoints."""
    return (frozenset(engine.own_fields.chat) - set(_LOGPROBS) for engine in ENGINES.values())
