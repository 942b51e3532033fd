"""A list of calls has lost the marker before it.

What it finds:
    A raw output or, without one, content that is only a JSON list of calls, from a model,
    or for a parser, whose family writes a special token before a list of calls. The answer
    has no call. That the token was stripped is an inference.

Why it matters:
    The list is what is left of `[TOOL_CALLS][{…}]` where special tokens are removed before
    the tool parser runs. The parser looks for the token, finds none, and the call is
    returned as text. Another family's parser, which reads bare lists, hides the fault.

Bad:
    `[{"name": "get_weather", "arguments": {"city": "Paris"}}]` of a Mistral model

Good:
    `[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris"}}]`

Source:
    tracker: vllm-project/vllm#16190.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import KEEP_SPECIAL_TOKENS, Step
from prompt_debugger.core.diagnose.calls.bare_lists import bare_list
from prompt_debugger.core.diagnose.fields import content_of, returned_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_message, in_raw
from prompt_debugger.core.diagnose.words import listed


def find(trace: Trace) -> Iterator[Report]:
    """Report the list, unless its calls were returned."""
    found = None if returned_calls(trace) else bare_list(trace)
    if found is None:
        return
    names = listed(list(dict.fromkeys(call.name or "" for call in found.calls)))
    content = "" if trace.chat is None else content_of(trace.chat.message) or ""
    shown = in_message("content", content[slice(*found.span)], found.span)
    yield Report(
        title=f"A list of calls to {names} lacks the marker `{found.marker}`.",
        detail=(
            f"It is complete, and {found.why}: the family `{found.family}` writes `{found.marker}` before such "
            "a list. It is a special token, so it was probably removed before the tool parser saw the text."
        ),
        evidence=(shown if trace.parse is None else in_raw(trace, found.span),),
        fix=(
            KEEP_SPECIAL_TOKENS,
            Step("Update the server: current releases keep special tokens in requests with tools."),
            Step("Use the chat template of the model, which teaches the marker."),
        ),
        certainty=Certainty.INFERRED,
    )


RULE: Rule = TraceRule(
    code="PD436",
    name="list-marker-stripped",
    severity=Severity.WARNING,
    stage=Stage.PARSE,
    find=find,
    threads=("vllm-project/vllm#16190",),
    explains=("PD401", "PD426"),
)
