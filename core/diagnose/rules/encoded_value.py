r"""A value in a call's arguments is itself the JSON text of an object or a list.

What it finds:
    In an answer whose request is not available, a string in the arguments that decodes to
    an object or a list and is not spread over several lines, as a file's content would be.
    With the request, the tool's schema decides (PD502).

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

_MAX_CHARS = 4_000  # characters of a value
_FIX = (
    "Compare it with the tool's schema: paste the request, too. A parser that finds no plain `type` for a parameter (a "
    "union, `anyOf`, `$ref`) treats it as text; until that is fixed, decode the value once more."
)


def find(trace: Trace) -> Iterator[Report]:
    """Look at the values of the returned calls."""
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
