"""The parser returned a complete call where the model had not finished one.

What it finds:
    A tool call that breaks off in the raw output, and a returned call for it whose
    arguments are an object anyway: `{}` or the values so far, as if there were no more to
    come; or whose name is only the beginning of a name.

Why it matters:
    Nothing shows the client that the call is incomplete: it runs with arguments that
    the model never meant, such as a deletion without its filter.

Bad:
    Raw `…get_weather:0<|tool_call_argument_begin|>{"ci`, returned `get_weather` with `{}`

Good:
    No call, or the broken text as it is, with finish_reason `length`.

Source:
    derived: vLLM 0.32, every parser run on outputs cut at every character.
    tracker: vllm-project/vllm#48343, vllm-project/vllm#53269.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_text, decode_json, same_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import CallStatus, JSONObject, Severity, Stage, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, comparison, in_message, in_raw, matched_calls, quote

_MORE_BEGUN = re.compile(r"\s*<(?:｜DSML｜)?(?:p|arg)[^<>]*\Z")  # half the tag that opens a further parameter


def find(trace: Trace) -> Iterator[Report]:
    """Report every cut call that came back looking whole."""
    certainty = comparison(trace)
    if certainty is None or trace.parse is None or trace.chat is None:
        return
    for _, call, got in matched_calls(trace):
        if call.status is not CallStatus.TRUNCATED:
            continue
        value = decode_json(as_text(got.arguments) or "")
        if not isinstance(value, dict) or not _is_half(trace.parse.raw, call, value):
            continue
        yield Report(
            title=(
                f"The output was cut inside the call to `{call.name or got.name}`, but the server returned a "
                "complete one."
            ),
            detail=f"Written {quote(call.arguments)!r}, returned {quote(str(got.arguments))!r} for `{got.name}`. "
            f"finish_reason is `{trace.chat.finish_reason}`.",
            evidence=(in_raw(trace, call.char_span), in_message(f"{got.field}.function.arguments", str(got.arguments))),
            fix="Do not execute it: rely on the raw output, or on finish_reason `length` where the server keeps it.",
            certainty=certainty,
        )


def _is_half(raw: str, call: ToolCallAttempt, returned: JSONObject) -> bool:
    """Return whether the model had not yet written what was returned as all of it."""
    has_begun_more = _MORE_BEGUN.match(raw, call.char_span.stop) is not None
    return has_begun_more or call.arguments_json is None or not same_json(call.arguments_json, returned)


RULE: Rule = TraceRule(
    code="PD425",
    name="phantom-call",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.COMPARISON,
    threads=("vllm-project/vllm#48343", "vllm-project/vllm#53269"),
)
