"""A tool schema declares a type that JSON Schema does not know.

What it finds:
    A `type` in a tool's parameters, at any depth, that is not one of JSON Schema's seven:
    string, number, integer, boolean, object, array, null. Typical are the names of Python
    types: `int`, `str`, `float`, `dict`.

Why it matters:
    The server prints the schema into the prompt unchanged, so an unconstrained run often
    looks right. Once arguments are constrained by it (`strict`, a forced `tool_choice`) or
    checked by a client, the schema is rejected: one bad tool can take the grammar of all
    tools with it.

Bad:
    `{"type": "object", "properties": {"city": {"type": "str"}}}`

Good:
    `{"type": "object", "properties": {"city": {"type": "string"}}}`

Source:
    publisher: JSON Schema 2020-12, validation vocabulary, section 6.1.1 `type`.
    tracker: ggml-org/llama.cpp#25923, dottxt-ai/outlines#882.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import request_tools
from prompt_debugger.core.diagnose.fixes import RequestFix, each_field
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.schemas import KNOWN_TYPES, types_of, walk_schema
from prompt_debugger.core.diagnose.trace_queries import in_request

MEANT = {
    "int": "integer",
    "int32": "integer",
    "int64": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "str": "string",
    "text": "string",
    "bool": "boolean",
    "dict": "object",
    "map": "object",
    "struct": "object",
    "list": "array",
    "tuple": "array",
    "set": "array",
    "none": "null",
    "nonetype": "null",
}


def find(trace: Trace) -> Iterator[Report]:
    """Report every unknown type of the request's tools, in one report."""
    places: list[tuple[str, str]] = []
    tools: list[str] = []
    for tool in request_tools(trace.request):
        for inner in walk_schema(tool.parameters, f"{tool.field}.parameters"):
            unknown = [name for name in types_of(inner.schema) if name not in KNOWN_TYPES]
            places += [(f"{inner.path}.type", name) for name in unknown]
            if unknown and tool.name not in tools:
                tools.append(tool.name)
    if not places:
        return
    names = list(dict.fromkeys(name for _, name in places))
    listed = ", ".join(f"`{name}`" for name in names)
    yield Report(
        title=f"The tools declare types that JSON Schema does not define: {listed}.",
        detail=f"{len(places)} declarations in {', '.join(f'`{tool}`' for tool in tools)}: "
        + "; ".join(f"{path} is {name!r}" for path, name in places[:8])
        + ("; …" if len(places) > 8 else ""),
        evidence=tuple(in_request(path, name) for path, name in places),
        fix="; ".join(_fix_for(name) for name in names) + ".",
    )


def _fix_for(name: str) -> str:
    """Say what to write instead of one type name."""
    if name.lower() in ("any", "object | null"):
        return f"leave `type` out instead of `{name}`: no type allows any value"
    meant = name.lower() if name.lower() in KNOWN_TYPES else MEANT.get(name.lower())
    return (
        f"write `{meant}` instead of `{name}`" if meant else f"replace `{name}` with one of JSON Schema's seven types"
    )


def _known_type(name: JSON) -> JSON:
    return MEANT.get(name.lower(), name.lower()) if isinstance(name, str) else name


RULE: Rule = TraceRule(
    code="PD101",
    name="unknown-schema-type",
    severity=Severity.ERROR,
    stage=Stage.REQUEST,
    find=find,
    threads=("ggml-org/llama.cpp#25923", "dottxt-ai/outlines#882"),
    explains=("PD108", "PD502"),
    asks_request_alone=True,
    fixes=(RequestFix("types that JSON Schema defines", each_field(_known_type)),),
)
