r"""A value in a call's arguments is itself the JSON text of an object or a list.

What it finds:
    In an answer whose request is not available, a string in the arguments that decodes to
    an object or a list and is not spread over several lines, as a file's content would be.
    With the request, the tool's schema decides (PD502). Where no raw output is there, also a key in
    quotation marks of its own, or a list of texts that all have them (a warning).

Why it matters:
    A parser that finds no plain `type` for a parameter (a union, `anyOf`, `$ref`) passes
    its value on as text: the tool gets a string instead of an object. A tool may also take
    JSON as text, so this is a note.

Bad:
    `{"location": "{\"city\": \"Paris\"}"}` for a parameter that is an object

Good:
    `{"location": {"city": "Paris"}}`

Source:
    tracker: vllm-project/vllm#36032.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_text, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, Certainty, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import body_of, returned_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message

_MAX_DEPTH = 40
_MAX_CHARS = 4_000  # characters of a value
_FIX = (
    "Compare it with the tool's schema: paste the request, too. A parser that finds no plain `type` for a parameter (a "
    "union, `anyOf`, `$ref`) treats it as text; until that is fixed, decode the value once more."
)


def find(trace: Trace) -> Iterator[Report]:
    """Look at the values of the returned calls."""
    yield from _quoted(trace)
    if body_of(trace) or trace.raw is not None:
        return
    for call in returned_calls(trace):
        arguments = decode_json(as_text(call.arguments) or "")
        for name, value in arguments.items() if isinstance(arguments, dict) else ():
            content = _inside(value)
            if content is None:
                continue
            yield Report(
                title=f"`{name}` of the call to `{call.name}` is the JSON text of {content}.",
                detail=f"It is {str(value)[:80]!r}. If the tool expects {content} there, the server's parser encoded "
                "it once more; the tool's schema, which is not available, would show it.",
                evidence=(in_message(f"{call.field}.function.arguments", as_text(call.arguments)),),
                fix=_FIX,
                certainty=Certainty.INFERRED,
            )


def _quoted(trace: Trace) -> Iterator[Report]:
    """Report keys and lists of texts whose quotation marks a parser took for a part of them."""
    for call in returned_calls(trace) if trace.raw is None else ():
        arguments = decode_json(as_text(call.arguments) or "")
        found = _first_quoted(arguments) if isinstance(arguments, dict) else None
        if found is None:
            continue
        yield Report(
            title=f"Texts in the arguments of the call to `{call.name}` have quotation marks as part of them.",
            detail=f"{found!r} is one of them. A parser took plain quotation marks for text: the model wrote JSON or "
            "Python where its notation has other marks around texts, such as Gemma 4's within lists and objects.",
            evidence=(in_message(f"{call.field}.function.arguments", as_text(call.arguments)),),
            fix="Take the marks off in the client, and update the server; report it to the authors of its parser "
            "with the raw output.",
            certainty=Certainty.INFERRED,
            severity=Severity.WARNING,
        )


def _first_quoted(value: JSON, depth: int = 0) -> str | None:
    """Return a key in quotation marks, or the first of a list of texts that all are; a single text may be a quote."""
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, dict):
        own = next((key for key in value if _is_quoted(key)), None)
        return own or next(filter(None, (_first_quoted(inner, depth + 1) for inner in value.values())), None)
    if not isinstance(value, list):
        return None
    if value and all(isinstance(item, str) and _is_quoted(item) for item in value):
        return str(value[0])
    return next(filter(None, (_first_quoted(inner, depth + 1) for inner in value)), None)


def _is_quoted(text: str) -> bool:
    return len(text) > len('""') and text[0] == text[-1] and text[0] in "\"'" and text[0] not in text[1:-1]


def _inside(value: JSON) -> str | None:
    if not isinstance(value, str) or len(value) > _MAX_CHARS or "\n" in value or value[:1] not in ("{", "["):
        return None
    inside = decode_json(value)
    if not inside or not isinstance(inside, dict | list):
        return None
    return "an object" if isinstance(inside, dict) else "a list"


RULE: Rule = TraceRule(
    code="PD460",
    name="encoded-value",
    severity=Severity.NOTE,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.ANSWER,
    threads=("vllm-project/vllm#36032",),
)
