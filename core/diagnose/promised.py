"""What a request promises of the answer's text (JSON, JSON of a schema, a choice), and how the promise was broken."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_list, as_object, as_text, decode_json, decoded, is_json
from prompt_debugger.core.base.types import JSON, JSONObject, Trace
from prompt_debugger.core.diagnose.calls.broken_arguments import Break, break_of, stops_early
from prompt_debugger.core.diagnose.fields import body_of, content_of, reasoning_of, returned_calls
from prompt_debugger.core.diagnose.leftovers import ends_at_tail
from prompt_debugger.core.diagnose.schemas import violations
from prompt_debugger.core.diagnose.trace_queries import opens_with_thought, why_cut
from prompt_debugger.core.formats import TABLES


class Promise(NamedTuple):
    """JSON that a request promises: the field that says so, its kind, and the schema, `None` for any JSON."""

    field: str
    kind: str
    schema_field: str
    schema: JSON


_OF_OTHER_APIS = (
    *("text.format", "output_config.format", "output_format"),
    *("generationConfig.responseJsonSchema", "generationConfig.responseSchema", "generationConfig.responseMimeType"),
)


class Breach(StrEnum):
    """How an answer without a call breaks a promise of JSON."""

    CUT = "cut"
    REASONING = "reasoning"
    UNCLOSED = "unclosed"
    REPEATED = "repeated"
    IGNORED = "ignored"
    SCHEMA = "schema"


def promised_json(trace: Trace) -> Promise | None:
    """Return the JSON that the request promises; `None` if it promises none."""
    body = body_of(trace)
    found = _promise_of(body) or _promise_of(as_object(body.get("extra_body")), "extra_body.")
    return None if found is None else found._replace(field=_named(trace, found.field))


def _named(trace: Trace, field: str) -> str:
    """Return the field by the name that it has in the API that was asked."""
    if field != "response_format":
        return field
    if any(notice.field == "format" for notice in trace.request.notices):
        return "format"
    native = trace.request.native or {}
    return next((path for path in _OF_OTHER_APIS if _holds(native, path)), field)


def _holds(body: JSONObject, path: str) -> bool:
    head, _, name = path.rpartition(".")
    return name in (as_object(body.get(head)) if head else body)


def _promise_of(fields: JSONObject, prefix: str = "") -> Promise | None:
    wanted = as_object(fields.get("response_format"))
    kind = as_text(wanted.get("type"))
    if kind in ("json_object", "json_schema"):
        schema = as_object(wanted.get("json_schema")).get("schema")
        return Promise(f"{prefix}response_format", kind, f"{prefix}response_format.json_schema.schema", schema)
    outputs = as_object(fields.get("structured_outputs"))
    if outputs.get("json") or outputs.get("json_object") is True:
        name = f"{prefix}structured_outputs"
        return Promise(name, "json", f"{name}.json", _schema_of(outputs.get("json")))
    if fields.get("guided_json"):
        return Promise(f"{prefix}guided_json", "json", f"{prefix}guided_json", _schema_of(fields["guided_json"]))
    return None


def _schema_of(given: JSON) -> JSON:
    """Return a schema that may be given as a text of JSON; `None` where the text is not JSON."""
    schema = decoded(given)
    return None if isinstance(schema, str) else schema


def promised_choices(trace: Trace) -> tuple[str, tuple[str, ...]]:
    """Return the field that gives choices, also one in a place where servers do not look, and the choices."""
    body = body_of(trace)
    for prefix, fields in (("", body), ("extra_body.", as_object(body.get("extra_body")))):
        outputs = as_object(fields.get("structured_outputs")).get("choice")
        for field, choices in (("structured_outputs.choice", outputs), ("guided_choice", fields.get("guided_choice"))):
            if texts := tuple(choice for choice in as_list(choices) if isinstance(choice, str)):
                return f"{prefix}{field}", texts
    return "", ()


def promised_text(trace: Trace) -> str:
    """Return the content without the end tokens that a server left at its end."""
    content = "" if trace.chat is None else content_of(trace.chat.message) or ""
    ends = ends_at_tail(content)
    return content[: ends[0].span.start] if ends else content


def breach_of(trace: Trace, promise: Promise) -> tuple[Breach, str] | None:
    """Return how the answer breaks a promise of JSON, and in which words; `None` if it keeps it, or if it calls."""
    if trace.chat is None or trace.chat.error or returned_calls(trace):
        return None
    if trace.chat.message.get("refusal"):
        return None  # a refusal takes the place of the JSON
    text = promised_text(trace)
    problem = _problem(text, promise.schema)
    cut = why_cut(trace)
    if problem is None or (cut is not None and _problem(text, None) is None):
        return None
    if cut is not None:
        return Breach.CUT, cut
    reasoning = reasoning_of(trace.chat.message)
    if not text.strip() and reasoning is not None and reasoning.text.strip():
        is_json = reasoning.text.strip()[:1] in ("{", "[")
        return Breach.REASONING, f"content is empty, and {'the JSON is' if is_json else 'all text is'} in reasoning"
    thought = opens_with_thought(text) or next((pair for pair in TABLES.reasoning_pairs if pair.closer in text), None)
    if thought is not None:
        return (
            Breach.REASONING,
            f"content contains reasoning (`{thought.closer.strip()}`) next to the JSON or instead of it",
        )
    if text.strip()[:1] in ("{", "[") and stops_early(text):
        return Breach.UNCLOSED, problem
    if problem == _NO_JSON and (count := _documents(text, promise.schema)) > 1:
        return Breach.REPEATED, f"{count} JSON documents follow each other"
    return (Breach.IGNORED if problem == _NO_JSON else Breach.SCHEMA), problem


def _documents(text: str, schema: JSON) -> int:
    """Return how many documents end to end a text is; 0 if it is anything else, or if one breaks the schema."""
    fault = break_of(text)
    if fault is None or fault.kind is not Break.JOINED:
        return 0
    parts = [text[part.start : part.stop] for part in fault.parts]
    return len(parts) if all(_problem(part, schema) is None for part in parts) else 0


_NO_JSON = "it is not JSON"


def _problem(content: str, schema: JSON) -> str | None:
    if not is_json(content):
        return _NO_JSON
    broken = violations(decode_json(content), schema)
    return f"{broken[0].path}: {broken[0].message[:120]}" if broken else None
