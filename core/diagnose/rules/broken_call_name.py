r"""The name of a returned call is missing, or is more than a name.

What it finds:
    A call of the message whose name is absent or empty; or whose name contains what no name
    has: a brace, a bracket, a quotation mark, a space or a line feed, unless a tool of the
    request is called so; that is one name several times; that still has the prefix
    `functions.` of the model's own notation; or that is only Gemini's `default_api`. Markers
    in names have their own rule (PD406).

Why it matters:
    No client finds the tool. Where the name is missing, the entry is most often the rest of
    the call before it: a stream gave one call two indexes. Where the name continues, a parser
    took the arguments, or words before the name, for a part of it.

Bad:
    `"name": "get_weather{\"city\": \"Paris\"}", "arguments": "{}"`

Good:
    `"name": "get_weather", "arguments": "{\"city\": \"Paris\"}"`

Source:
    tracker: sgl-project/sglang#23071.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prompt_debugger.core.base.json_values import as_object, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.calls.broken_arguments import NAME_NOT_COPIED
from prompt_debugger.core.diagnose.calls.cut_names import cut_name
from prompt_debugger.core.diagnose.fields import CallField, request_tools, returned_calls
from prompt_debugger.core.diagnose.markers import has_marker
from prompt_debugger.core.diagnose.near_names import repeated_name
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message, quote

_NO_NAME = re.compile(r"[{}()\[\]<>\"'\s]")
_SHORTENED = re.compile(r"\.{3}|…|<snip>|\(truncated\)")  # by whoever copied it
_SPACED = re.compile(r"(?=[^\n]{0,200}(?:_ | _))[A-Za-z_][\w-]{0,60}(?: [\w-]{1,60}){1,6}")  # a declared name, split
# `functions.read:0` is how Kimi K2 writes ids, `functions.read` how OpenAI's models name a tool to themselves.
_PREFIXED = re.compile(r"functions\.(?P<name>[A-Za-z_][\w-]{0,80})(?P<count>:\d{1,4})?")
_OF_GEMINI = "default_api"  # under which its models know all tools
_LETTER = re.compile(r"[^\W_]")
_HEAD = re.compile(r"\s*+([\w.:/-]{1,100})\s*+[({\[]")


def find(trace: Trace) -> Iterator[Report]:
    """Report the first call without a name, and the first whose name is more than a name."""
    calls = returned_calls(trace)
    offered = {tool.name for tool in request_tools(trace.request)}
    nameless = next((at for at, call in enumerate(calls) if not call.name), None)
    if nameless is not None:
        chat = trace.chat
        is_whole = chat is not None and not chat.deltas and '"choices"' in chat.body
        yield _report_missing_name(calls, nameless, is_whole=is_whole)
    cut = cut_name(trace)
    for call in calls if cut is None else calls[:-1]:  # a cut name is another finding
        name = call.name or ""
        is_known = name in offered or name == NAME_NOT_COPIED
        if name == _OF_GEMINI and not is_known:
            yield _report_namespace(call)
            return
        if not is_known and (prefixed := _PREFIXED.fullmatch(name)) is not None:
            yield _report_prefixed(call, prefixed)
            return
        if not is_known and (unit := repeated_name(name)):
            yield _report_repeated(call, unit, len(name) // len(unit))
            return
        if name and not is_known and not _SHORTENED.search(name) and _NO_NAME.search(name) and not has_marker(name):
            yield _report_more_than_name(trace, call, name)
            return


def _report_namespace(call: CallField) -> Report:
    return Report(
        title=f"A returned call is named `{_OF_GEMINI}`, which is not a tool.",
        detail=f"`{call.field}.function.name`: Gemini writes calls as `{_OF_GEMINI}.NAME(…)`, and here the name after "
        "the point is lost: which tool the model meant is unknown.",
        evidence=(in_message(f"{call.field}.function.name", call.name),),
        fix="Answer the call with an error that lists the names of the tools, so that the model corrects itself, or "
        "ask again. Where a prompt of yours shows calls, show the tools by their own names.",
        stage=Stage.COMPLETE,
    )


def _report_prefixed(call: CallField, found: re.Match[str]) -> Report:
    """Report a name with what the model's own notation puts around it: no client finds a tool by it."""
    whose = "of gpt-oss and other models of OpenAI"
    if found["count"]:
        whose = "of Kimi K2, whose header is the id of the call"
    return Report(
        title=f"The name of a returned call is `{found[0]}`, not `{found['name']}`: it is in the model's own notation.",
        detail=f"`{call.field}.function.name` still has the prefix `functions.`, as in the notation {whose}; what "
        "parses the calls has to remove it.",
        evidence=(in_message(f"{call.field}.function.name", call.name),),
        fix=f"Update the server, or start it with the parser of this model's family. Until then take `{found['name']}` "
        "for the name in the client.",
    )


def _report_repeated(call: CallField, unit: str, count: int) -> Report:
    return Report(
        title=f"The name of a returned call is `{unit}`, {count} times.",
        detail=f"`{call.field}.function.name` was assembled from pieces of a stream that each had the whole name. In "
        "the protocol only the first piece has it, so clients join all of them.",
        evidence=(in_message(f"{call.field}.function.name", call.name),),
        fix="Ask without streaming, or run a release of the server that sends the name once. Your client can "
        "take the name from the first piece with an index, and ignore the others.",
    )


def _report_missing_name(calls: Sequence[CallField], at: int, *, is_whole: bool) -> Report:
    call = calls[at]
    if (inner := _name_within(call)) is not None:
        return Report(
            title=f"A returned call has no name: the call to `{inner}` is inside its arguments.",
            detail=f"`{call.field}.function.name` is {'empty' if call.name == '' else 'null'}, and the arguments are "
            "an object with `name` and `arguments`: what built the message took the JSON that the model wrote for the "
            "arguments alone. Gateways do so that ask the model for JSON where its server has no tool calls.",
            evidence=(in_message(f"{call.field}.function.arguments", str(call.arguments)),),
            fix="Update the gateway or client that made this call (LiteLLM's older `ollama_chat` did), or ask a server "
            "that returns `tool_calls` itself. Until then take `name` and `arguments` out of the arguments.",
        )
    before = calls[at - 1] if at else None
    is_rest = before is not None and before.name and not str(before.arguments or "").strip("{} ")
    why = "the model wrote none, or the parser lost it." if is_whole else "the stream or the parser lost it."
    if before is not None and is_rest:
        why = (
            f"the call to `{before.name}` before it has a name and no arguments: both entries are one call, which the "
            "server gave two indexes, or whose name it sent separately."
        )
    return Report(
        title="A returned call has no name.",
        detail=f"`{call.field}.function.name` is {'empty' if call.name == '' else 'null'}; {why}",
        evidence=(in_message(f"{call.field}.function.name", call.name),),
        fix="Do not run the entry by itself. "
        + (
            "Compare it with the raw output, if the server shows that (`logprobs`, its log): where the name is in "
            "there, report both to the authors of the server's parser."
            if is_whole
            else "Ask without streaming, and compare: a whole answer is parsed at once. Report the stream to the "
            "authors of the server's parser."
        ),
    )


def _name_within(call: CallField) -> str | None:
    """Return the tool that the arguments of a call name, where they are a whole call."""
    given = as_object(decode_json(call.arguments) if isinstance(call.arguments, str) else call.arguments)
    is_call = given.keys() == {"name", "arguments"} and isinstance(given["arguments"], dict)
    name = given["name"] if is_call else None
    return name if isinstance(name, str) and name else None


def _report_more_than_name(trace: Trace, call: CallField, name: str) -> Report:
    if _SPACED.fullmatch(name):
        return Report(
            title=f"The name of a returned call contains spaces: `{name}`.",
            detail=f"`{call.field}.function.name` is {name!r}, and no tool's name does: the model did not copy "
            "the name as it was declared, or what it wrote was split into words.",
            evidence=(in_message(f"{call.field}.function.name", name),),
            fix="Compare it with the names of the request's tools. A server that constrains calls by a grammar keeps "
            "to them (`tool_choice` as `required`, or `strict` in the tool); JSON that a prompt asks for need not.",
            stage=Stage.COMPLETE,
        )
    if _LETTER.search(name) is None:
        return Report(
            title=f"The name of a returned call is {quote(name, 40)!r}, in which there is no letter.",
            detail=f"`{call.field}.function.name` is punctuation: the parser took what surrounds a name, or comes "
            "after it, for the name itself, so the answer does not say which tool was called.",
            evidence=(in_message(f"{call.field}.function.name", name),),
            fix="Do not run it. Look at the raw output: the model wrote the call in another notation than the server's "
            f"parser reads, or a client cut the text in the wrong place. {_other_parser(trace)}",
        )
    head = _HEAD.match(name)
    problem = "contains more than a name"
    if head is not None:
        problem = f"contains the arguments of the call to `{head[1]}`"
    return Report(
        title=f"The name of a returned call {problem}.",
        detail=f"`{call.field}.function.name` is {name[:120]!r}: the parser did not find where the name ends.",
        evidence=(in_message(f"{call.field}.function.name", name),),
        fix="Look at the raw output: the model wrote the call in another notation than the server's parser reads, or a "
        f"parser that streams cut it in the wrong place. {_other_parser(trace)}",
    )


def _other_parser(trace: Trace) -> str:
    """Return what to try with the server's parser: which one it is may be known already."""
    known = trace.server.tool_parser if trace.server is not None else None
    if known is None:
        return "Ask without streaming, and start the server with the parser of this model's family."
    return (
        "Ask without streaming, and compare. If the whole answer is right, report the stream to the authors of the "
        f"parser `{known}`; if not, check that it is the one for this model's family."
    )


RULE: Rule = TraceRule(
    code="PD466",
    name="broken-call-name",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.ANSWER,
    threads=("sgl-project/sglang#23071",),
    explains=("PD416", "PD507", "PD453", "PD501", "PD320", "PD506"),
)
