"""A call that a limit cut inside its name, and that came back as if it were whole."""

from __future__ import annotations

from typing import NamedTuple

from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.diagnose.fields import CallField, request_tools, returned_calls
from prompt_debugger.core.diagnose.trace_queries import why_cut


class CutName(NamedTuple):
    """The last call of an answer, the offered tools whose names begin as it does, and what shows the cut."""

    call: CallField
    begun: tuple[str, ...]
    reason: str


def cut_name(trace: Trace) -> CutName | None:
    """Return the call of an answer that was cut inside its name; `None` if there is none.

    vLLM returns one with the arguments `{}` and the finish reason `tool_calls`: then only the counts show the cut.
    """
    call = next(iter(returned_calls(trace)[-1:]), None)
    if call is None or not call.name or call.arguments not in (None, "", "{}", {}):
        return None
    bare, names = call.name.rpartition(".")[2], [tool.name for tool in request_tools(trace.request)]
    begun = tuple(name for name in names if name != bare and name.startswith(bare))
    if call.name in names or bare in names or not begun:
        return None
    reason = why_cut(trace)
    return None if reason is None else CutName(call, begun, reason)
