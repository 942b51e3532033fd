"""A tool schema breaks JSON Schema in a way other than an unknown type.

What it finds:
    Parameters that the meta-schema of JSON Schema 2020-12 refuses: `required: true` on a
    property, `enum` that is not a list, `properties` that is a list. Unknown type names
    have a separate rule.

Why it matters:
    A backend that turns schemas into a grammar refuses the whole request, or
    drops the constraint silently; a client that checks arguments fails
    on every call.

Bad:
    `{"properties": {"city": {"type": "string", "required": true}}}`

Good:
    `{"properties": {"city": {"type": "string"}}, "required": ["city"]}`

Source:
    publisher: JSON Schema 2020-12, meta-schema.
    tracker: ggml-org/llama.cpp#25923, mlc-ai/xgrammar#192.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import request_tools
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.schemas import schema_faults
from prompt_debugger.core.diagnose.trace_queries import in_request


def find(trace: Trace) -> Iterator[Report]:
    """Report each tool whose parameters the meta-schema refuses."""
    for tool in request_tools(trace.request):
        if tool.parameters is None:
            continue
        faults = [fault for fault in schema_faults(tool.parameters) if not _is_type(fault.path)]
        if faults:
            field = f"{tool.field}.parameters"
            places = [field + fault.path.removeprefix("$") for fault in faults]
            yield Report(
                title=f"The schema of tool `{tool.name}` is not valid JSON Schema.",
                detail="; ".join(
                    f"{place}: {fault.message}" for place, fault in zip(places[:3], faults[:3], strict=True)
                ),
                evidence=tuple(in_request(place) for place in places),
                fix=f"Correct {places[0]}.",
            )


def _is_type(path: str) -> bool:
    return path.endswith(".type") or ".type[" in path


RULE: Rule = TraceRule(
    code="PD108",
    name="invalid-tool-schema",
    severity=Severity.WARNING,
    stage=Stage.REQUEST,
    find=find,
    threads=("ggml-org/llama.cpp#25923", "mlc-ai/xgrammar#192"),
    explains=("PD502",),
    asks_request_alone=True,
)
