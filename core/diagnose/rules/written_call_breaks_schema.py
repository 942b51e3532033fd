"""A call as the model wrote it breaks the schema of its tool.

What it finds:
    Where there is no message: a finished call of the raw output whose arguments
    decode and fail validation against the tool's parameters: a required one is
    missing, a type differs, a value is outside its enum. With a message, the
    returned arguments are checked (PD502).

Why it matters:
    No parser changes it: the model wrote it this way. The tool will fail, or work on
    wrong values.

Bad:
    Schema `{"required": ["city"]}`, written `{"town": "Paris"}`

Good:
    `{"city": "Paris"}`

Source:
    tracker: vllm-project/vllm#55558.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step, strict_tools
from prompt_debugger.core.diagnose.calls.begun_calls import NOT_CLOSED
from prompt_debugger.core.diagnose.fields import request_tools
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.schemas import Violation, violations
from prompt_debugger.core.diagnose.trace_queries import TracePart, body_calls, in_raw

_MAX_SHOWN = 3


def find(trace: Trace) -> Iterator[Report]:
    """Validate every written call of a known tool."""
    if trace.chat is not None:
        return
    schemas = {tool.name: (tool.field, tool.parameters) for tool in request_tools(trace.request)}
    for _, call in body_calls(trace):
        field, schema = schemas.get(call.name or "", ("", None))
        if NOT_CLOSED in (call.problem or ""):
            continue  # its value includes what came after it
        broken = None if call.arguments_json is None else violations(call.arguments_json, schema)
        if not broken:
            continue
        evidence = in_raw(trace, call.arguments_span or call.char_span)
        yield Report(
            title=f"The call to `{call.name}` that the model wrote {_describe_violation(broken[0])}.",
            detail="; ".join(f"{item.path}: {item.message[:160]}" for item in broken[:_MAX_SHOWN])
            + ". The model wrote it this way, so no parser can change that.",
            evidence=(evidence, FindingEvidence("request", field=f"{field}.parameters")),
            fix=(*strict_tools(trace), Step("Name required properties first, and describe them better.")),
        )


def _describe_violation(violation: Violation) -> str:
    where = violation.path.removeprefix("$").removeprefix(".")
    if violation.message.endswith("is a required property"):
        name = violation.message.rsplit(" is a required", 1)[0].strip("'\"")
        return f"lacks `{name[:60]}`, which the tool requires"
    if " is not one of " in violation.message:
        return f"has a value for `{where[:60]}` that is not in its enum"
    if " is not of type " in violation.message:
        return f"has a value of the wrong type for `{where[:60]}`"
    return "breaks the tool's schema"


RULE: Rule = TraceRule(
    code="PD514",
    name="written-call-breaks-schema",
    severity=Severity.ERROR,
    stage=Stage.CONTRACT,
    find=find,
    needs=TracePart.RAW,
    threads=("vllm-project/vllm#55558",),
    reads_stripped=True,
)
