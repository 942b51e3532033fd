"""Which tool parsers read the calls of an output, by trial; never the one that is running already.

A parser that was tried and does not read them is not advised either, whatever family it is made for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prompt_debugger.core.base.types import ParserOutcome, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.own_names import has_own_names
from prompt_debugger.core.formats import TABLES

_PREFIXES = {kind: kind for kind in ("sglang", "mlx-lm", "lmdeploy")}


class Trials(NamedTuple):
    """What trying parsers on an output showed, by the tool parsers' names as the server's command line has them.

    Attributes:
        asked: Those that ran on it.
        reading: Those of them that returned exactly its calls by name.
    """

    asked: tuple[str, ...]
    reading: tuple[str, ...]


def trials_of(trace: Trace, calls: Sequence[ToolCallAttempt]) -> Trials:
    """Return what trying this server software's parsers showed; of another release only the server's own counts."""
    asked: dict[str, None] = {}
    reading: dict[str, None] = {}
    names = sorted(call.name or "" for call in calls)
    for parser, outcome in _readers_of_this_software(trace):
        asked[parser] = None
        if sorted(_names(outcome)) == names:
            reading[parser] = None
    return Trials(tuple(asked), tuple(reading))


def advisable_parsers(trace: Trace, calls: Sequence[ToolCallAttempt]) -> tuple[str, ...]:
    """Return the tool parsers to start the server with instead: by trial, else by the table of the format.

    The one that is running is not among them, nor one that was tried and does not read these calls.
    """
    if trace.parse is None:
        return ()
    own = trace.tool_parser
    trials = trials_of(trace, calls)
    meant = () if has_own_names(trace.server) else TABLES.tool_parsers.get(trace.parse.parsed.format, ())
    named = trials.reading or tuple(name for name in meant if name not in trials.asked)
    return tuple(name for name in named if name != own)


def _readers_of_this_software(trace: Trace) -> Iterator[tuple[str, ParserOutcome]]:
    """Yield the tool parsers by name, with what they made of the output; of several with one name the first."""
    if trace.parse is None:
        return
    server = trace.server
    prefix = _PREFIXES.get("" if server is None else server.kind, "vllm")
    release = None if server is None else server.version
    for name, outcome in trace.parse.parsers.items():
        software, _, parsers = name.partition(":")
        software, _, version = software.partition("@")
        if outcome.error is None and software == prefix and version in ("", release):
            yield parsers.partition("+")[0], outcome


def _names(outcome: ParserOutcome) -> list[str]:
    found = []
    for call in outcome.tool_calls:
        function = call.get("function")
        name = function.get("name") if isinstance(function, dict) else None
        found.append(name if isinstance(name, str) else "")
    return found
