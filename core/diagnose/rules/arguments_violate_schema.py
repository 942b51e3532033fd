"""Returned arguments break the schema that the tool declares.

What it finds:
    Arguments of a returned call that decode to JSON and fail validation against
    the tool's parameters. If what the model wrote fails as well, the model did
    it; if only the returned arguments fail, the parser did. Silent where the
    schema itself cannot be used, and for calls that were cut.

Why it matters:
    The tool fails, or works on wrong values. Which of model and parser is to
    blame decides what to change.

Bad:
    Schema `{"required": ["city"]}`, arguments `{"town": "Paris"}`

Good:
    `{"city": "Paris"}`

Source:
    publisher: Kimi K2 report on the vLLM blog, 2025-10-28 (30 of 248 calls).
    tracker: vllm-project/vllm#55558, vllm-project/vllm#41739.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

from prompt_debugger.core.base.json_values import as_list, as_text, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import (
    JSON,
    CallStatus,
    Finding,
    FindingEvidence,
    JSONObject,
    Severity,
    Stage,
    ToolCallAttempt,
    Trace,
)
from prompt_debugger.core.diagnose.advice import Step, strict_tools
from prompt_debugger.core.diagnose.fields import request_tools, returned_calls
from prompt_debugger.core.diagnose.fixes import RequestFix
from prompt_debugger.core.diagnose.output_limit import more_output
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.schemas import Violation, violations
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message, in_raw, why_cut, written_as

_DECODE = Step(
    "Decode this value once more in the client. A parser that finds no plain `type` for a parameter (a union, `anyOf`, "
    "`$ref`) treats it as text; declare a plain `type`, or use a release that resolves it."
)


def find(trace: Trace) -> Iterator[Report]:
    """Validate every returned call of a known tool."""
    schemas = {tool.name: (tool.field, tool.parameters) for tool in request_tools(trace.request)}
    origins, calls = written_as(trace), returned_calls(trace)
    last = len(calls) - 1
    for index, call in enumerate(calls):
        field, schema = schemas.get(call.name or "", ("", None))
        arguments = decode_json(as_text(call.arguments) or "")
        written = origins.get(index)
        if not isinstance(arguments, dict) or (written is not None and written.status is CallStatus.TRUNCATED):
            continue
        broken = violations(arguments, schema)
        if not broken:
            continue
        path = f"{call.field}.function.arguments"
        cut = _why_closed(trace, broken) if written is None and index == last else None
        evidence = [in_message(path, as_text(call.arguments)), FindingEvidence("request", field=f"{field}.parameters")]
        if written is not None:
            evidence.append(in_raw(trace, written.arguments_span or written.char_span))
        yield Report(
            title=f"The arguments of the call to `{call.name}` violate the tool's schema.",
            detail="; ".join(f"{item.path}: {item.message[:160]}" for item in broken[:3])
            + f". {_blame(written, schema) if cut is None else _closed(cut)}{_encoded(arguments, broken)}",
            evidence=tuple(evidence),
            stage=None if cut is None else Stage.COMPLETE,
            fix=(
                *([] if cut is None else [more_output(trace)]),
                *([_DECODE] if _encoded(arguments, broken) else []),
                *strict_tools(trace),
                Step("Name required properties first, and describe them better."),
            ),
        )


def _encoded(arguments: JSONObject, broken: Sequence[Violation]) -> str:
    """Say which value is an object or a list that was given as JSON text."""
    name = broken[0].path.removeprefix("$.")
    value = as_text(arguments.get(name))
    decoded = None if value is None else decode_json(value)
    if not isinstance(decoded, dict | list):
        return ""
    kind = "an object" if isinstance(decoded, dict) else "a list"
    return f" The value of `{name}` is the JSON text of {kind}: it was encoded once more."


def _why_closed(trace: Trace, broken: Sequence[Violation]) -> str | None:
    """Return what shows that a limit ended the output within the last call; only what is absent can come of that."""
    is_short = all(item.message.endswith("is a required property") for item in broken)
    return why_cut(trace) if is_short else None


def _closed(cut: str) -> str:
    """Say that a limit ended the output within the call, or may have: gateways close what is incomplete."""
    return f"The output was cut: {cut}. A server or gateway may have closed the arguments where it ended."


def _blame(written: ToolCallAttempt | None, schema: JSON) -> str:
    if written is None or written.arguments_json is None:
        return "What the model wrote is unknown."
    if violations(written.arguments_json, schema):
        return "The model wrote them this way."
    return "What the model wrote is valid; the parser changed it."


def _strict_tools(trace: Trace, _: Finding) -> JSONObject:
    body = copy.deepcopy(trace.request.body)
    for tool in as_list(body.get("tools")):
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict):
            function["strict"] = True
    return body


RULE: Rule = TraceRule(
    code="PD502",
    name="arguments-violate-schema",
    severity=Severity.ERROR,
    stage=Stage.CONTRACT,
    find=find,
    needs=TracePart.ANSWER,
    threads=(
        "vllm-project/vllm-project.github.io#110",
        "vllm-project/vllm#55558",
        "vllm-project/vllm#41739",
    ),
    fixes=(RequestFix("strict tools", _strict_tools),),
)
