r"""A tool call in a Messages stream arrives without its arguments.

What it finds:
    In a stream of Anthropic's Messages API a `tool_use` block that begins with an empty
    `input` and ends without any `input_json_delta`. Silent if the request's tool takes no
    arguments. An error if it requires some; otherwise a warning, because the call may have
    none.

Why it matters:
    Clients take the arguments from the deltas. Without them every call runs
    with `{}`, or fails for a missing field.

Bad:
    `content_block_start` with `"input": {}`, then at once `content_block_stop`

Good:
    `content_block_delta` with `{"type": "input_json_delta", "partial_json": "{\"a\""}`
    between them; an empty `partial_json` where the tool takes nothing

Source:
    tracker: BerriAI/litellm#25561.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_count, as_list, as_object, as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import request_tools, returned_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message, why_cut
from prompt_debugger.core.diagnose.wire_events import wire_events
from prompt_debugger.core.diagnose.words import listed


def find(trace: Trace) -> Iterator[Report]:
    """Report the calls that came without any delta."""
    tools = {tool.name: as_object(tool.parameters) for tool in request_tools(trace.request)}
    bare, calls = _bare_calls(trace), returned_calls(trace)
    if bare and calls and bare[-1] == calls[-1].name and why_cut(trace) is not None:
        bare.pop()  # a limit ended the output before its arguments
    names = [name for name in bare if name not in tools or tools[name].get("properties")]
    if not names:
        return
    required = [name for name in names if as_list(tools.get(name, {}).get("required"))]
    yield Report(
        title=f"The stream contains no arguments for the call{'s' if len(names) > 1 else ''} to {listed(names)}.",
        detail="The `tool_use` block begins with an empty `input` and ends without any `input_json_delta`. "
        + (f"The schema of `{required[0]}` requires arguments." if required else "Whether it takes any is unknown."),
        evidence=(in_message("tool_calls"),),
        fix=(
            "Ask without streaming: the arguments are in `input` there. Report it to the authors of the gateway: when "
            "it translates another API, it has to send every call's arguments as `input_json_delta`."
        ),
        certainty=Certainty.OBSERVED if required else Certainty.INFERRED,
        severity=Severity.ERROR if required else Severity.WARNING,
    )


def _bare_calls(trace: Trace) -> list[str]:
    """Return the names of the calls whose blocks ended without a delta."""
    open_calls: dict[int, str] = {}
    bare: list[str] = []
    for _, event in wire_events(trace, "content_block_start"):
        index = as_count(event.get("index"))
        block = as_object(event.get("content_block"))
        match event.get("type"):
            case "content_block_start" if index is not None and block.get("type") == "tool_use":
                if not as_object(block.get("input")):
                    open_calls[index] = as_text(block.get("name")) or "?"
            case "content_block_delta" if index is not None:
                open_calls.pop(index, None)
            case "content_block_stop" if index in open_calls:
                bare.append(open_calls.pop(index))
            case _:
                pass
    return bare


RULE: Rule = TraceRule(
    code="PD480",
    name="arguments-not-streamed",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    stands_in_part=True,
    needs=TracePart.STREAM,
    threads=("BerriAI/litellm#25561",),
    explains=("PD416", "PD502"),
)
