"""Calls that a server reads in a whole answer and not in the stream that was asked for: its parser runs.

A run that asks for a stream asks the same without one besides. Where that answer has calls and the stream has none, no
flag is missing: the parser fails on streams (vllm-mlx 0.6.0 does so with Kimi K2's notation).
"""

from __future__ import annotations

from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fields import calls_of_message, returned_calls

READ_WHOLE = (
    "Without streaming, the same request was answered with its calls: the parser runs, and fails on the stream."
)
_ASK_WHOLE = Step(
    "Send requests without streaming (`stream: false`): this server then returns the calls. Update it, and report the "
    "stream with the saved run to its authors.",
    {"stream": False},
)


def are_read_whole(trace: Trace) -> bool:
    """Return whether the stream that was asked for returned no call, and the whole answer beside it did."""
    whole = trace.chat_whole
    if whole is None or whole.error or trace.chat is None or not trace.chat.deltas or returned_calls(trace):
        return False
    return any(call.name for call in calls_of_message(whole.message))


def steps_of_stream(trace: Trace) -> tuple[Step, ...]:
    """Return what helps where only the stream fails; nothing where that is not seen."""
    return (_ASK_WHOLE,) if are_read_whole(trace) else ()
