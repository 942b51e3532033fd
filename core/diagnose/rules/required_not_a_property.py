"""A tool schema requires a key that it does not declare.

What it finds:
    A name in `required` that is not a key of `properties` in the same schema, in
    a tool's parameters at any depth. Schemas with `patternProperties`, a
    reference or a combination (`allOf`, …) are left alone: the key may be
    declared there.

Why it matters:
    The model sees a key that it must give without a description of it; it is often a typo.
    With `additionalProperties: false` no arguments at all can satisfy the schema.

Bad:
    `{"properties": {"city": {…}}, "required": ["cty"]}`

Good:
    `{"properties": {"city": {…}}, "required": ["city"]}`

Source:
    publisher: JSON Schema 2020-12, validation vocabulary, section 6.5.3 `required`.
    tracker: ggml-org/llama.cpp#25923.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_list, as_object
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import request_tools
from prompt_debugger.core.diagnose.near_names import MAX_ASKED, closest
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.schemas import Subschema, walk_schema
from prompt_debugger.core.diagnose.trace_queries import in_request
from prompt_debugger.core.diagnose.words import listed

_ELSEWHERE = ("$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties", "dependentSchemas")


def find(trace: Trace) -> Iterator[Report]:
    """Report each schema that requires undeclared keys."""
    for tool in request_tools(trace.request):
        for inner in walk_schema(tool.parameters, f"{tool.field}.parameters"):
            missing = _undeclared(inner)
            if missing:
                yield _report(tool.name, inner, missing)


def _undeclared(inner: Subschema) -> list[str]:
    schema = inner.schema
    properties = schema.get("properties")
    if not isinstance(properties, dict) or any(key in schema for key in _ELSEWHERE):
        return []
    required = as_list(schema.get("required"))
    return [key for key in required if isinstance(key, str) and key not in properties]


def _report(tool: str, inner: Subschema, missing: list[str]) -> Report:
    known = list(as_object(inner.schema.get("properties")))
    closed = inner.schema.get("additionalProperties") is False
    likeness = ((key, closest(key, known)) for key in missing[:MAX_ASKED])
    hints = [f"`{key}` looks like `{near}`" for key, near in likeness if near is not None]
    return Report(
        title=f"Tool `{tool}` requires {listed(missing, MAX_ASKED)}, which it does not declare.",
        detail=f"{inner.path} declares {listed(known, MAX_ASKED) or 'no properties'}"
        + (" and allows no others, so no arguments can satisfy it" if closed else "")
        + ".",
        evidence=(in_request(f"{inner.path}.required", ", ".join(missing[:MAX_ASKED])),),
        fix="Declare the key under `properties`, or take it out of `required`"
        + (f": {'; '.join(hints)}." if hints else "."),
        severity=Severity.ERROR if closed else None,
    )


RULE: Rule = TraceRule(
    code="PD102",
    name="required-not-a-property",
    severity=Severity.WARNING,
    stage=Stage.REQUEST,
    find=find,
    threads=("ggml-org/llama.cpp#25923",),
    explains=("PD502",),
    asks_request_alone=True,
)
