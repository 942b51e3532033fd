r"""Markup of calls is in the arguments or in the id of a returned call.

What it finds:
    A structural marker in the id of a returned call; in arguments that are not JSON because
    of it; or in a value of arguments that are JSON, where the first marker is a closing
    one, or one between name and arguments, which never happens in text that quotes whole
    calls; or that ends with half of a closing tag. Silent if the raw output shows that this
    is the value that was written, or if the request contains the same text.

Why it matters:
    The parser missed the end of a value and read on: the value is wrong, and
    the call that came next is inside it, so it is never executed.

Bad:
    `{"path": "a.md</parameter>\n</function>\n</tool_call>\n<tool_call>…b.md"}`

Good:
    Two calls, `{"path": "a.md"}` and `{"path": "b.md"}`.

Source:
    tracker: ggml-org/llama.cpp#26763, vllm-project/vllm#24478.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_text, decode_json
from prompt_debugger.core.base.protocols import ReadContext, Rule
from prompt_debugger.core.base.types import Certainty, JSONObject, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.calls.broken_arguments import Break, broken_calls
from prompt_debugger.core.diagnose.fields import CallField, body_of, returned_calls, texts_inside
from prompt_debugger.core.diagnose.markers import find_markers, has_marker
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message, written_as
from prompt_debugger.core.diagnose.words import listed
from prompt_debugger.core.formats import pick_format

# What ends a call, or comes after its name: neither is the first marker of a text that quotes whole calls.
_CLOSES = re.compile(r"</|<[|｜]/|[_▁](?:end|END)|:end_|_argument_begin|▁sep")
# At the end of a key; and a key that is a tag itself, without its brackets.
_TAG = re.compile(r"</?(?:parameter|function|tool_call|invoke|arg_key|arg_value|think)\b>?\s{0,4}\Z")
# What a value ends with that has taken in the beginning of a closing tag, without its bracket.
_BEGUN_CLOSER = re.compile(
    r"(?:\n|(?<=[\w.)\]}!?]))(</(?:parameter|function|tool_call|invoke|arg_key|arg_value)) {0,2}\Z"
)
_OWN_TAG = re.compile(r"<?(?:parameter|invoke|function)(?: name)?=[\"'\w]")
_FIX = (
    "Read the calls from the raw output: what follows the marker is another call, or the end of this one. "
    "Report the value to the authors of the server's parser, which missed its end; a template or parser of "
    "another release may expect other whitespace around the marker."
)

_SEPARATES = re.compile(r"\[ARGS\]|<\|tool_call_argument_begin\|>|<\uff5ctool\u2581sep\uff5c>")
_FIX_SEPARATOR = (
    "The marker comes between the name of a call and its arguments, and the parser took it for their beginning. Ask "
    "without streaming, and compare: a whole answer is parsed at once. Report the difference to the authors of the "
    "server's parser."
)
_FIX_HALF_TAG = (
    "Cut the tag off the value before you run the call, and report it to the authors of the server's parser with the "
    "raw output."
)
_FIX_FORCED = (
    "Ask with `tool_choice` as `auto`, so that the model's own notation is read; or run a release of the server that "
    "constrains forced calls to that notation. Cut the tag off the value before you run the call."
)
_FIX_TAG = (
    "Take the name from within the tag, and read the calls from the raw output. This parser does not fit what the "
    "model wrote: choose the parser of the model's family, or update the server or client that reads the calls."
)


def find(trace: Trace) -> Iterator[Report]:
    """Look at ids, then at arguments."""
    origins = written_as(trace)
    for index, call in enumerate(returned_calls(trace)):
        yield from _report_in_id(trace, call)
        arguments = decode_json(as_text(call.arguments) or "")
        written = origins.get(index)
        if isinstance(arguments, dict) and (written is None or written.arguments_json != arguments):
            texts = list(texts_inside(arguments))
            values = [text for text in texts if has_marker(text)]
            if tag := next(filter(None, (_begun_closer(trace, text) for text in texts)), ""):
                yield _report_begun_closer(trace, call, tag)
                return
            yield from (
                _report_in_values(trace, call, values)
                if not (key := _tagged_key(arguments))
                else _report_in_key(call, key)
            )
    for call, text, fault in broken_calls(trace, Break.MARKUP):
        field = f"{call.field}.function.arguments"
        yield Report(
            title=f"The marker `{text[slice(*fault.span)]}` is in the arguments of the call to `{call.name}`.",
            detail=f"`{field}` is {text[:160]!r}: {fault.words}, so they are not JSON.",
            evidence=(in_message(field, text, fault.span),),
            fix=_FIX_SEPARATOR if _SEPARATES.match(text, fault.span[0]) and not text[: fault.span[0]].strip() else _FIX,
        )


def _begun_closer(trace: Trace, text: str) -> str:
    """Return the half of a closing tag that a value ends with; "" for none, or one that the request or text shows."""
    found = _BEGUN_CLOSER.search(text[-40:])
    if found is None or found[1].replace("/", "") in text:
        return ""
    return "" if any(found[1] in one for one in texts_inside(body_of(trace).get("messages"))) else found[1]


def _report_begun_closer(trace: Trace, call: CallField, tag: str) -> Report:
    """Report a value that ends in half of a closing tag: the JSON around it is whole, so no limit cut it there."""
    forced = body_of(trace).get("tool_choice") not in (None, "auto", "none")
    why = (
        "`tool_choice` forces a call here: a server that then holds the output to JSON has the model write its tags "
        "into the strings."
        if forced
        else "The model or the parser took the tag that ends the value for a part of it."
    )
    field = f"{call.field}.function.arguments"
    arguments = as_text(call.arguments) or ""
    return Report(
        title=f"A value in the arguments of the call to `{call.name}` ends with `{tag}`, half of a closing tag.",
        detail=f"In `{field}`: {arguments[:160]!r}. {why}",
        evidence=(in_message(field, arguments),),
        fix=_FIX_FORCED if forced else _FIX_HALF_TAG,
        certainty=Certainty.INFERRED,
    )


def _swallowed(trace: Trace, text: str, own: str | None) -> str:
    """Return a sentence that names the calls inside a value or an id; "" if there are none."""
    context = ReadContext(tools=trace.request.tools)
    calls = pick_format(text, context).read(text, context).calls
    names = list(dict.fromkeys(call.name for call in calls if call.name and (len(calls) == 1 or call.name != own)))
    return f" It swallowed the call to {listed(names)}." if names else ""


def _report_in_id(trace: Trace, call: CallField) -> Iterator[Report]:
    marker = next(find_markers(call.id or ""), None)
    if marker is not None and call.id is not None:
        begins = not call.id[: marker.start].strip()
        if begins and (call.name or "").startswith(call.id[: marker.stop]):
            return  # PD406 reports it in the name
        field = f"{call.field}.id"
        what = (
            "The parser took the marker before the id for a part of it."
            if begins
            else f"The parser read past the end of the id.{_swallowed(trace, call.id, call.name)}"
        )
        yield Report(
            title=f"The marker `{call.id[slice(*marker)]}` is in the id of the call to `{call.name}`.",
            detail=f"`{field}` is {call.id[:200]!r}. {what}",
            evidence=(in_message(field, call.id, marker),),
            fix=_FIX,
        )


def _tagged_key(arguments: JSONObject) -> str:
    return next((key for key in arguments if _TAG.search(key) or _OWN_TAG.match(key)), "")


def _report_in_key(call: CallField, key: str) -> Iterator[Report]:
    """Report a key that continues into the markup after it, or is markup itself."""
    is_tag = _OWN_TAG.match(key) is not None
    field = f"{call.field}.function.arguments"
    yield Report(
        title=f"A key in the arguments of the call to `{call.name}` "
        + ("is markup of a call." if is_tag else "runs into the markup of a call."),
        detail=f"In `{field}`, a key is {key[:160]!r}. "
        + ("The parser took a tag for a name." if is_tag else "The parser took the end of a value for a name."),
        evidence=(in_message(field, as_text(call.arguments)),),
        fix=_FIX_TAG if is_tag else _FIX,
    )


def _report_in_values(trace: Trace, call: CallField, values: list[str]) -> Iterator[Report]:
    """Report the first value that continues into the markup around it."""
    for value in values:
        markers = list(find_markers(value))
        first = value[slice(*markers[0])]
        if not _CLOSES.search(first) or any(first in text for text in texts_inside(body_of(trace).get("messages"))):
            continue
        opens = [span for span in markers if not _CLOSES.search(value[slice(*span)])]
        arguments = as_text(call.arguments) or ""
        at = arguments.find(first)
        field = f"{call.field}.function.arguments"
        yield Report(
            title=f"A value in the arguments of the call to `{call.name}` continues into `{first}`"
            + (" and the next call." if opens else "."),
            detail=f"In `{field}`: {value[max(0, markers[0].start - 30) : markers[0].stop + 120]!r}. "
            f"The parser missed the end of the value.{_swallowed(trace, value[markers[0].start :], call.name)}",
            evidence=(in_message(field, arguments[at:], Span(at, at + len(first)) if at >= 0 else None),),
            fix=_FIX,
            certainty=Certainty.INFERRED,
            severity=None if opens else Severity.WARNING,
        )
        return


RULE: Rule = TraceRule(
    code="PD452",
    name="markup-in-arguments",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    stands_in_part=True,
    needs=TracePart.ANSWER,
    threads=("ggml-org/llama.cpp#26763", "vllm-project/vllm#24478"),
    explains=("PD401", "PD402", "PD445", "PD502"),
)
