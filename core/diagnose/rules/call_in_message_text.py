"""A tool call stands in the text of the message and not among its calls.

What it finds:
    Where no whole raw output is known: a complete call of one of the request's
    tools, with its markup, in content, outside code and quotation marks, which
    the request does not hold and `tool_calls` lacks. A conclusion and a warning:
    a content that is nothing but calls in a notation without control tokens
    (bare JSON, Python), where the request asks for no JSON, or what is left of
    a call without its control tokens, and a complete call in the reasoning of a message without anything
    else.

Why it matters:
    The model called a tool and the server handed the call out as prose: the
    agent shows it to the user and goes on without the result.

Bad:
    content `<tool_call>{"name": "get_weather", …}</tool_call>`, no `tool_calls`

Good:
    `tool_calls: [{… "name": "get_weather" …}]`

Source:
    tracker: MoonshotAI/Kimi-K2#89, vllm-project/vllm#31207.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Span, Stage, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.fields import content_of, reasoning_of, request_tools, returned_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.sight import Sight, in_message
from prompt_debugger.core.diagnose.written_calls import bare_calls, written_calls
from prompt_debugger.core.formats import find_stripped_calls

_FIX = (
    "Have the server parse this model's calls: vLLM `--enable-auto-tool-choice --tool-call-parser NAME`, SGLang "
    "`--tool-call-parser NAME`, llama.cpp `--jinja`. Of a hosted model, tell the provider."
)


def find(trace: Trace) -> Iterator[Report]:
    """Read the message's own fields, as no raw output says what the model wrote."""
    if trace.chat is None or trace.parse is not None:
        return
    content = content_of(trace.chat.message) or ""
    calls = list(written_calls(trace, content))
    returned = {(call.name, str(call.arguments)) for call in returned_calls(trace)}
    left = [call for call in calls if (call.name, call.arguments) not in returned]
    if left:
        yield _report_written(left, content)
    elif not returned and not calls:
        bare = bare_calls(trace, content) if content.strip() else ()
        yield from [_report_bare(bare, content)] if bare else _stripped(trace, content)
        if not content.strip():
            yield from _in_reasoning(trace)


def _report_written(calls: list[ToolCallAttempt], content: str) -> Report:
    names = ", ".join(f"`{call.name}`" for call in calls[:6])
    one = len(calls) == 1
    what = f"A tool call to {names} stands" if one else f"Tool calls to {names} stand"
    return Report(
        title=f"{what} in content and not among the answer's calls.",
        detail=f"Content holds {'a complete call' if one else f'{len(calls)} complete calls'} with "
        f"{'its' if one else 'their'} markup: the model wrote {'it' if one else 'them'}, the server did not parse "
        f"{'it' if one else 'them'}.",
        evidence=tuple(in_message("content", content[slice(*call.char_span)], call.char_span) for call in calls),
        fix=_FIX,
    )


def _report_bare(calls: tuple[ToolCallAttempt, ...], content: str) -> Report:
    names = ", ".join(f"`{call.name}`" for call in calls[:6])
    return Report(
        title=f"Content is nothing but {'a call' if len(calls) == 1 else 'calls'} to {names}.",
        detail="It reads as this family of models writes its calls, without control tokens, and the answer has no "
        "call: the server did not parse it, or the model answers with an example.",
        evidence=tuple(in_message("content", content[slice(*call.char_span)], call.char_span) for call in calls),
        fix=_FIX,
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )


def _stripped(trace: Trace, content: str) -> Iterator[Report]:
    """Report a content that is nothing but what is left of a call."""
    names = tuple(tool.name for tool in request_tools(trace.request))
    text = content.strip()
    found = next(iter(find_stripped_calls(text, names)), None)
    if found is None or found.char_span.start > 0 or not re.search(r"\}\]?\Z", text):
        return
    yield Report(
        title=f"Content reads like a tool call to `{found.name}` that lost its markers.",
        detail=f"It is {text[:120]!r}: so a tool call reads whose control tokens were taken out.",
        evidence=(in_message("content", content, Span(0, len(content))),),
        fix=_FIX,
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )


def _in_reasoning(trace: Trace) -> Iterator[Report]:
    """Report a call in the reasoning of a message that holds nothing else."""
    reasoning = None if trace.chat is None else reasoning_of(trace.chat.message)
    if reasoning is None:
        return
    for call in list(written_calls(trace, reasoning.text))[:1]:
        yield Report(
            title=f"A tool call to `{call.name}` stands in {reasoning.field}, and the message holds nothing else.",
            detail="The call is complete with its markup. It is a draft, or the reasoning parser swallowed the answer.",
            evidence=(in_message(reasoning.field, reasoning.text[slice(*call.char_span)], call.char_span),),
            fix="Check the server's reasoning parser: does this model close its reasoning before it calls?",
            certainty=Certainty.INFERRED,
            severity=Severity.WARNING,
        )


RULE: Rule = TraceRule(
    code="PD426",
    name="call-in-message-text",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=Sight.ANSWER,
    threads=("MoonshotAI/Kimi-K2#89", "vllm-project/vllm#31207"),
    explains=("PD406", "PD412"),
)
