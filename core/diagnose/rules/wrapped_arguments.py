r"""The JSON of a call's arguments is inside a code fence or among other words.

What it finds:
    Arguments of the answer that contain one JSON object with something around it:
    a code fence, or words before or after it; or a piece of it that comes twice in the stream.
    Or arguments that are a whole call again, `{"name": …, "arguments": {…}}`, of the same tool
    or of another of the request, where no parameters are called so.

Why it matters:
    A client decodes the field unchanged and fails at the first character that is not JSON,
    although the object is there and complete.

Bad:
    `"arguments": "Here you are: {\"city\": \"Paris\"}"`

Good:
    `"arguments": "{\"city\": \"Paris\"}"`

Source:
    tracker: vllm-project/vllm#41739, ollama/ollama#11805, microsoft/autogen#2548.
    derived: streams of llama-cpp-python 0.3.36.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_list, as_object, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step, strict_tools
from prompt_debugger.core.diagnose.calls.broken_arguments import Break, broken_calls
from prompt_debugger.core.diagnose.calls.schema_as_arguments import SchemaShaped, schema_shaped
from prompt_debugger.core.diagnose.fields import request_tools, returned_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message
from prompt_debugger.core.diagnose.words import listed

_HOLDERS = ("arguments", "parameters", "args")
_LIKE_A_TOOL = re.compile(r"[A-Za-z]\w{0,80}_\w{1,80}")
_MAX_TRIES = 8  # pieces that are left out in turn
_FIX_TWICE = (
    Step("Ask without streaming, and compare: if the arguments are right then, what writes the stream is to blame."),
    Step("Update it, or report it to its authors."),
)


def find(trace: Trace) -> Iterator[Report]:
    """Report returned arguments with something around the object."""
    for call, text, fault in broken_calls(trace, Break.WRAPPED):
        field = f"{call.field}.function.arguments"
        twice = _sent_twice(trace, call.field, text)
        if twice is not None:
            piece, event = twice
            yield Report(
                title=f"A piece of the arguments of the call to `{call.name}` comes twice in the stream.",
                detail=f"`{field}` is {text[:160]!r}: events {event - 1} and {event} both bring {piece!r}, and without "
                "one of them the arguments are a whole JSON object.",
                evidence=(in_message(field, text[slice(*fault.span)], fault.span),),
                fix=_FIX_TWICE,
            )
            continue
        yield Report(
            title=f"The arguments of the call to `{call.name}` contain more than their JSON object.",
            detail=f"`{field}` is {text[:160]!r}: {fault.words}.",
            evidence=(in_message(field, text[slice(*fault.span)], fault.span),),
            fix=(
                Step("Extract the object from the text around it; the values are complete."),
                *strict_tools(trace),
            ),
        )
    yield from _report_nested(trace)
    yield from _report_schemas(trace)


def _report_schemas(trace: Trace) -> Iterator[Report]:
    """Report arguments that have the form of the tool's schema."""
    declared = {
        tool.name: as_object(as_object(tool.parameters).get("properties")) for tool in request_tools(trace.request)
    }
    for call in returned_calls(trace):
        given = decode_json(call.arguments) if isinstance(call.arguments, str) else call.arguments
        found = schema_shaped(given, declared.get(call.name or "", {}))
        if found is None:
            continue
        field = f"{call.field}.function.arguments"
        text = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        inside, first = _words_of_schema(found)
        here = f"of {listed(found.names[:4])}" if found.names else "none"
        yield Report(
            title=f"The arguments of the call to `{call.name}` have the form of a schema: {inside}.",
            detail=f"`{field}` is {text[:160]!r}: the model copied the declaration of the tool from its prompt; "
            f"arguments are values alone, here {here}.",
            evidence=(in_message(field, text),),
            fix=(
                Step(first),
                *strict_tools(trace),
            ),
            stage=Stage.COMPLETE,
            certainty=Certainty.OBSERVED if call.name in declared else Certainty.INFERRED,
            severity=None if call.name in declared else Severity.WARNING,
        )


def _words_of_schema(found: SchemaShaped) -> tuple[str, str]:
    """Return what is inside arguments in the form of a schema, and what to do with the call first."""
    if found.has_values:
        return "the values are under `properties`", "Take the object under `properties` for the arguments."
    if not found.names:
        return "that of a tool without parameters", "Call the tool without arguments (`{}`)."
    again = "Do not run this call; ask again. Show in the tool's description what a call looks like."
    return "types are in place of the values", again


def _report_nested(trace: Trace) -> Iterator[Report]:
    """Report arguments that are the whole call again, with its name."""
    tools = {
        tool.name: as_object(as_object(tool.parameters).get("properties")) for tool in request_tools(trace.request)
    }
    for call in returned_calls(trace):
        given = as_object(decode_json(call.arguments) if isinstance(call.arguments, str) else call.arguments)
        key = next((key for key in _HOLDERS if isinstance(given.get(key), dict)), None)
        name = given.get("name")
        if key is None or not isinstance(name, str) or given.keys() - {"name", key, "type", "id"}:
            continue
        is_tools = name in (call.name, *tools) or (not tools and _LIKE_A_TOOL.fullmatch(name) is not None)
        if not is_tools or key in tools.get(call.name or "", {}):
            continue
        field = f"{call.field}.function.arguments"
        text = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        other = "" if name == call.name else f", that to `{name}`"
        yield Report(
            title=f"The arguments of the call to `{call.name}` are a whole call again{other}.",
            detail=f"`{field}` is {text[:160]!r}: the arguments are only the value of `{key}`. Either the model "
            "wrote a call inside its call, or the parser took all of the JSON for the arguments.",
            evidence=(in_message(field, text),),
            fix=(
                Step(f"Take the object under `{key}` for the arguments; its values are complete."),
                Step("Have the server parse this model's calls itself, with the model's own template."),
            ),
        )


def _sent_twice(trace: Trace, field: str, text: str) -> tuple[str, int] | None:
    """Return a piece that comes twice in a row, and the event of the second, if arguments are complete without it."""
    is_written = trace.raw is not None and text in trace.raw.text  # by the model itself
    deltas = () if trace.chat_stream is None or is_written else trace.chat_stream.deltas
    pieces: list[tuple[int, str]] = []
    for event, delta in enumerate(deltas):
        for entry in map(as_object, as_list(delta.delta.get("tool_calls"))):
            arguments = as_object(entry.get("function")).get("arguments")
            if field == f"tool_calls[{entry.get('index')}]" and isinstance(arguments, str) and arguments:
                pieces.append((event, arguments))
    texts = [piece for _, piece in pieces]
    if "".join(texts) != text:
        return None
    again = [
        at for at in range(1, len(pieces)) if texts[at] == texts[at - 1] and pieces[at][0] == pieces[at - 1][0] + 1
    ]
    for at in again[:_MAX_TRIES]:
        if isinstance(decode_json("".join((*texts[:at], *texts[at + 1 :]))), dict):
            return texts[at], pieces[at][0]
    return None


RULE: Rule = TraceRule(
    code="PD453",
    name="wrapped-arguments",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.ANSWER,
    threads=("vllm-project/vllm#41739", "ollama/ollama#11805", "microsoft/autogen#2548"),
    explains=("PD402", "PD445", "PD502"),
)
