"""The request promises a JSON schema but has it where servers do not look for it.

What it finds:
    `response_format` of the type `json_schema` without `json_schema.schema`:
    the schema is in `response_format.schema`, or is `json_schema` itself.
    Likewise a `json_schema` at the top of a request whose `response_format` is
    `json_object`, or one in a `response_format` of the type `text` or `json_object`.
    Or a schema that was sent as a text that contains it.

Why it matters:
    OpenAI and vLLM refuse such a request; others accept it and silently constrain the
    answer with an empty schema, or with none.

Bad:
    `{"type": "json_schema", "schema": {"type": "object", …}}`

Good:
    `{"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object", …}}}`

Source:
    publisher: `response_format` of chat completions.
    tracker: ggml-org/llama.cpp#28697, ggml-org/llama.cpp#10732, ggml-org/llama.cpp#7149.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_object, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, JSONObject, Severity, Stage, Trace
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request

_OF_SCHEMAS = frozenset({"type", "properties", "items", "anyOf", "oneOf", "allOf", "$ref", "enum", "$defs"})
_FIX = 'Write `"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": …}}`.'


def find(trace: Trace) -> Iterator[Report]:
    """Report the schema that is elsewhere."""
    body = trace.request.body
    chosen = as_object(body.get("response_format"))
    if _is_text(as_object(chosen.get("json_schema")).get("schema")):
        yield Report(
            title="The schema of the answer is a text that contains JSON, not an object.",
            detail="Servers expect the schema as an object. OpenAI, vLLM and Ollama refuse a text in its place; others "
            "answer without a schema.",
            evidence=(in_request("response_format.json_schema.schema"),),
            fix="Send the object itself: leave out the `json.dumps` or `JSON.stringify` around the schema.",
        )
        return
    if chosen.get("type") in ("text", "json_object") and _is_schema(as_object(chosen.get("json_schema")).get("schema")):
        yield Report(
            title=f"The schema of the answer is not read: `response_format.type` is `{chosen['type']}`.",
            detail="Servers read `response_format.json_schema` only where the type is `json_schema`; with another type "
            "they ignore it or refuse the request.",
            evidence=(in_request("response_format.type"), in_request("response_format.json_schema")),
            fix='Write `"type": "json_schema"` in `response_format`.',
        )
        return
    found = _place(body, chosen)
    if found is None:
        return
    place, why = found
    yield Report(
        title=f"The schema of the answer is in `{place}`, where most servers do not look for it.",
        detail=why,
        evidence=(in_request(place),),
        fix=_FIX,
    )


def _place(body: JSONObject, chosen: JSONObject) -> tuple[str, str] | None:
    """Return where the schema is, and what is expected; `None` if it is in its place, or none is promised."""
    wrapper = chosen.get("json_schema")
    if chosen.get("type") == "json_schema":
        if isinstance(wrapper, dict) and "schema" in wrapper:
            return None
        if _is_schema(wrapper) and "name" not in as_object(wrapper):
            return "response_format.json_schema", (
                "`json_schema` is the schema itself. OpenAI and vLLM expect `name` and `schema` in it, and refuse the "
                "request; llama.cpp reads only `schema`, which is absent."
            )
        if wrapper is None and _is_schema(chosen.get("schema")):
            return "response_format.schema", (
                "`response_format` has no `json_schema`: vLLM refuses the request, and releases of llama.cpp use "
                "an empty schema."
            )
    if chosen.get("type") == "json_object" and _is_schema(body.get("json_schema")):
        return "json_schema", (
            "`response_format` is `json_object`, which has no schema; vLLM ignores the `json_schema` next to it, "
            "and llama.cpp applies JSON mode without a schema."
        )
    return None


def _is_text(value: JSON) -> bool:
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return False
    return _is_schema(decode_json(value))


def _is_schema(value: JSON) -> bool:
    return isinstance(value, dict) and bool(_OF_SCHEMAS & value.keys())


RULE: Rule = TraceRule(
    code="PD135",
    name="misplaced-schema",
    severity=Severity.WARNING,
    stage=Stage.REQUEST,
    find=find,
    threads=("ggml-org/llama.cpp#28697", "ggml-org/llama.cpp#10732", "ggml-org/llama.cpp#7149"),
    asks_request_alone=True,
)
