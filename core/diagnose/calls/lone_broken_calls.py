"""Reports on a text that is nothing but a broken call: cut, malformed, without a name, of two notations, or empty."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.types import Certainty, Severity, Span, Stage, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.calls.broken_bare_calls import OF_OPEN_LIST, said_of_open_list
from prompt_debugger.core.diagnose.calls.unread_blocks import find_unread_block
from prompt_debugger.core.diagnose.rules.base import Report
from prompt_debugger.core.diagnose.trace_queries import in_raw, quote

_ENTRY = re.compile(r"'type':\s{0,4}'function',\s{0,4}'function':\s{0,4}\{")
_MAX_ENTRY = 2_000  # characters in which such an entry begins
NAME_IN_KEY = re.compile(r"\{\s{0,8}\"(?P<key>function|name|tool)=(?P<name>[\w.-]{1,80})\"\s{0,8},")
_BY_GRAMMAR = (
    "A grammar for calls keeps them whole (`tool_choice` as `required`, or `strict` in the tool, where the server "
    "constrains calls by it)."
)
_SHOWN = 60  # characters of what is between the markers of a call


def report_unread(trace: Trace, text: str) -> Iterator[Report]:
    """Report markers of a call around what is none."""
    block = find_unread_block(text)
    if block is None:
        return
    inner = quote(block.inner, _SHOWN)
    yield Report(
        title=f"What is between `{block.begins}` and `{block.ends}` could not be read as a call: {inner!r}.",
        detail="Unless something was lost where the text was copied, the model wrote this: the markers of its notation "
        "with something else in between. A parser returns it as text, or silently drops it.",
        evidence=(in_raw(trace, block.span),),
        fix="Ask again. If it happens often, check that the prompt contains the tools and shows the notation of these "
        "markers (`render`), with the model's own template, and without calls in another form in the history; a small "
        "or strongly quantized model may not keep to it. A grammar for calls does (`tool_choice` as `required`, or "
        "`strict` in the tool, where the server constrains calls by it).",
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
        stage=Stage.COMPLETE,
    )


def report_nameless(trace: Trace, text: str, call: ToolCallAttempt) -> Report:
    """Report the markup of a call that names no tool."""
    return Report(
        title=f"The text has the markup of a call, and what is in it names no tool: {quote(text.strip(), _SHOWN)!r}.",
        detail="Unless something was lost where the text was copied, the model wrote this: a call without the name of "
        f"a tool ({call.problem or 'it has no name'}). A parser returns it as text, or silently drops it.",
        evidence=(in_raw(trace, call.char_span),),
        fix="Ask again. If it is the model's answer after a tool's result, in the markup of a call, check that results "
        "go back as messages with the role `tool` and that the prompt has them where the model's own template puts "
        "them (`render`).",
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
        stage=Stage.COMPLETE,
    )


def report_open_list(trace: Trace, calls: list[ToolCallAttempt]) -> Report:
    """Report whole calls in a list whose end is missing."""
    return Report(
        title=f"The text is {said_of_open_list(calls)}",
        detail="Unless its end was not copied, the model, or the server that streamed it, left the bracket out. "
        + OF_OPEN_LIST,
        evidence=tuple(in_raw(trace, call.char_span) for call in calls[:4]),
        fix="Check finish_reason: raise `max_tokens` if it is `length`. Otherwise ask again. A grammar for calls keeps "
        "the list whole (`tool_choice` as `required`, where the server constrains calls by it); if the bracket is "
        "there without streaming, update the server.",
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
        stage=Stage.COMPLETE,
    )


def report_broken(trace: Trace, name: str, span: Span, problem: str, *, is_cut: bool = False, count: int = 1) -> Report:
    """Report a call that no parser can take out: the model did not write it to its end, or not as its notation is."""
    fault = "that ends early" if is_cut else "that is malformed"
    holds = "is" if count == 1 else f"contains {count} calls, among them"
    others = "" if count == 1 else " A parser that reads all calls at once drops the others with it."
    cut = " Raise `max_tokens` where finish_reason is `length`." if is_cut else ""
    text = "" if trace.raw is None else trace.raw.text[slice(*span)]
    taught, look = "", ""
    if not is_cut and _ENTRY.search(text[:_MAX_ENTRY]) is not None:
        taught = (
            " It is a whole entry of `tool_calls` as Python prints it. A chat template that writes `{{ tool_call }}` "
            "without `tojson` prints the history like this, and the model repeats what it reads there."
        )
        look = "Look at the history in the prompt (`render`): the template must print name and arguments as JSON. "
    elif "braces are doubled" in problem:
        taught = " A model writes doubled braces where its prompt shows the form of a call with them."
        look = (
            "Look at the tools' instructions in the prompt (`render`): a template, or a prompt of your own whose "
            "`{{` was never formatted, must show the call with single braces. "
        )
    return Report(
        title=f"The text {holds} a call to `{name}` {fault}: {problem}.",
        detail="Unless the text was cut when it was copied, the output itself is like this. A strict parser returns "
        f"the call as text, or silently drops it.{others}{taught}",
        evidence=(in_raw(trace, span),),
        fix=f"{look}Do not run this call; ask again.{cut} {_BY_GRAMMAR}",
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
        stage=Stage.COMPLETE,
    )


def report_mixed(trace: Trace, found: re.Match[str], call: ToolCallAttempt) -> Report:
    """Report a call in JSON whose name is in a key, as it does in the tag of another notation."""
    return Report(
        title=f"The text is a call to `{found['name']}` that mixes two notations: its name is in the key "
        f'`"{found["key"]}={found["name"]}"`.',
        detail=f"Models that write tags have `<{found['key']}={found['name']}>`, others a JSON object with "
        f'`"name": "{found["name"]}"`; this is half of each, and no JSON, because the key has no value. A parser of '
        "either notation returns it as text, or silently drops it.",
        evidence=(in_raw(trace, call.char_span),),
        fix="Do not run this call; ask again. Check that the tools' instructions in the prompt (`render`) and the "
        f"calls of the history are in one notation, that of the model's own template. {_BY_GRAMMAR}",
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
        stage=Stage.COMPLETE,
    )
