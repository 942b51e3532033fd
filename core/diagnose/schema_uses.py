"""Which values of a run are checked against which schemas, so that each check can be made, and ended, on its own.

A schema is a stranger's program. The rules that need its verdict find it among
what was checked before; what had to be left out is a note, and no rule waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prompt_debugger.core.base.json_values import as_text, decode_json
from prompt_debugger.core.base.text import capitalized, first_of
from prompt_debugger.core.base.types import JSON, JSONObject, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.fields import CallField, request_tools, returned_calls
from prompt_debugger.core.diagnose.promised import promised_json, promised_text
from prompt_debugger.core.diagnose.schemas import walk_schema
from prompt_debugger.core.diagnose.trace_queries import body_calls, written_as

_MAX_NAMED = 3
_MAX_PATTERN_CHARS = 80


@dataclass(frozen=True, slots=True)
class SchemaUse:
    """A schema of a request, and the values that it promises something about.

    Attributes:
        field: Where the schema is.
        subject: What is checked against it, as in "the arguments of the call to `f`".
        schema: The schema.
        values: What is checked against it.
    """

    field: str
    subject: str
    schema: JSONObject
    values: tuple[JSON, ...]


def schema_uses(trace: Trace) -> Iterator[SchemaUse]:
    """Yield every schema that some value of a run is checked against: those of called tools, or the answer's."""
    calls = returned_calls(trace)
    held: dict[str | None, list[JSON]] = {}
    origins = written_as(trace)
    for index, call in enumerate(calls):
        held.setdefault(call.name, []).extend(_arguments(call, origins.get(index)))
    if trace.chat is None:  # then what the model wrote is all that there is
        for _, written in body_calls(trace):
            held.setdefault(written.name, []).append(written.arguments_json)
    tools = {tool.name: tool for tool in request_tools(trace.request)}
    for name, tool in tools.items():
        if name in held and isinstance(tool.parameters, dict):
            values = tuple(value for value in held[name] if value is not None)
            yield SchemaUse(
                f"{tool.field}.parameters", f"the arguments of the call to `{name}`", tool.parameters, values
            )
    promise = promised_json(trace)
    if promise is not None and isinstance(promise.schema, dict) and trace.chat is not None and not calls:
        yield SchemaUse(promise.schema_field, "the answer", promise.schema, (decode_json(promised_text(trace)),))


def _arguments(call: CallField, written: ToolCallAttempt | None) -> Iterator[JSON]:
    """Yield the arguments of a returned call: as they arrived, and as the model wrote them."""
    yield decode_json(as_text(call.arguments) or "")
    if written is not None:
        yield written.arguments_json


def left_out_note(use: SchemaUse, reason: str) -> str:
    """Return the note about a check that was not made to its end.

    Args:
        use: The check.
        reason: As in "that took more than 1 s of processor time".
    """
    patterns = [
        f"`{shown}` at {inner.path[2:] or 'its top'}"
        for inner in walk_schema(use.schema, "$")
        for pattern in _patterns_of(inner.schema)
        for shown in [pattern[:_MAX_PATTERN_CHARS] + ("…" if len(pattern) > _MAX_PATTERN_CHARS else "")]
    ]
    look = f"its patterns: {first_of(patterns, _MAX_NAMED)}" if patterns else "references in it that multiply"
    return (
        f"{capitalized(use.subject)} could not be checked against the schema at "
        f"{use.field}: {reason}. Whether it matches the schema is unknown; everything else was checked. See "
        f"{look}."
    )


def _patterns_of(schema: JSONObject) -> Iterator[str]:
    """Yield the patterns that a schema itself has, of values and of names."""
    pattern, by_name = schema.get("pattern"), schema.get("patternProperties")
    if isinstance(pattern, str):
        yield pattern
    if isinstance(by_name, dict):
        yield from by_name
