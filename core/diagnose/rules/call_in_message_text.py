"""A tool call is in the text of the message instead of among its calls.

What it finds:
    Where no whole raw output is known: a complete call with its markup, in content, outside
    code and quotation marks, that is neither in the request nor in `tool_calls`; of one of
    the request's tools, or of any tool if the request is not available. Likewise a call
    that begins there and is not closed (an inference), or that is malformed, such as JSON
    with a missing bracket. An inference and a warning: a call in bare JSON that stays open;
    content that consists only of calls in a notation without control tokens (bare JSON,
    Python), if the request does not ask for JSON (a note without the request, because it is
    a guess), or what is left of a call without its control tokens (an error if its header
    is whole, as in `commentary to=functions.f json{…}`), and a complete call in the
    reasoning of a message without anything else.

Why it matters:
    The model called a tool and the server returned the call as prose: the agent shows it to
    the user and continues without the result.

Bad:
    content `<tool_call>{"name": "get_weather", …}</tool_call>`, no `tool_calls`

Good:
    `tool_calls: [{… "name": "get_weather" …}]`

Source:
    tracker: MoonshotAI/Kimi-K2#89, vllm-project/vllm#31207, vllm-project/vllm#11786.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import CallStatus, Certainty, Severity, Span, Stage, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.bare_lists import bare_list
from prompt_debugger.core.diagnose.client_markup import ClientCall, find_client_call
from prompt_debugger.core.diagnose.fields import content_of, reasoning_of, request_tools, returned_calls
from prompt_debugger.core.diagnose.fixes import FlagsFix
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message
from prompt_debugger.core.diagnose.unparsed_calls import departs, foreign_parser, have_parsed, is_plain_words
from prompt_debugger.core.diagnose.written_calls import (
    bare_calls,
    format_of,
    is_request_known,
    open_bare_call,
    written_calls,
)
from prompt_debugger.core.formats import find_stripped_calls

_AGAIN = (
    "Ask again: the model wrote it this way. A grammar for calls keeps their JSON whole (`tool_choice` as "
    "`required`, or "
    "`strict` in the tool, where the server constrains calls by it)."
)
_DECODER = json.JSONDecoder(strict=False)  # a text that was copied has line feeds in its strings
_RECIPIENT = re.compile(r"(?:analysis|commentary) ?to=functions\.([\w\-]{1,64}?) ?(?:json|code)?(?=\{)")
# Of a header only the recipient is left, with whatever stood between it and the arguments.
_LOOSE = re.compile(r"(?m)^[ \t]{0,8}to=functions\.([\w\-]{1,64})\b[^\n{}`\"'<]{0,24}\n?[ \t]{0,8}(?=\{\s{0,8}\")")
_PYTHON = re.compile(
    r"\A\s*+(?:```\w{0,12}\s)?+\s*+(?:print\()?default_api\.([\w.]{1,64})\((.{0,4000})\)\s{0,8}(?:```)?\s{0,8}\Z",
    re.DOTALL,
)
_GEMMA = re.compile(r"call:([A-Za-z_][\w.-]{0,64})\{")  # which no sentence begins with
_MOST_NAMES = 20
_CLOSED = re.compile(r"</tool_calls?>\s*\Z")


def find(trace: Trace) -> Iterator[Report]:
    """Read the message's own fields, as no raw output says what the model wrote."""
    if trace.chat is None or trace.parse is not None:
        return
    content = content_of(trace.chat.message) or ""
    calls = list(written_calls(trace, content))
    returned = {(call.name, str(call.arguments)) for call in returned_calls(trace)}
    left = [call for call in calls if (call.name, call.arguments) not in returned]
    client = None if returned else find_client_call(content, [tool.name for tool in request_tools(trace.request)])
    if client is not None and (client.is_claudes or not calls):
        yield _report_client(client, content)
    elif left:
        yield _report_written(trace, left, content)
    elif not returned and not calls and (begun := list(written_calls(trace, content, (CallStatus.TRUNCATED,)))):
        yield _report_begun(trace, begun[-1], content)
    elif not returned and not calls and (broken := list(written_calls(trace, content, (CallStatus.MALFORMED,)))):
        yield _report_broken(trace, broken[0], content)
    elif not returned and not calls and (name := _open_bare_call(trace, content)) is not None:
        yield _report_open(trace, name, content)
    elif not returned and not calls:
        bare = bare_calls(trace, content) if content.strip() else ()
        yield from [_report_bare(trace, bare, content)] if bare else _stripped(trace, content)
        if not content.strip():
            yield from _in_reasoning(trace)


def _report_client(call: ClientCall, content: str) -> Report:
    """Report a call in XML that is not the model family's notation, so that no server's parser takes it out."""
    if call.is_claudes:
        detail = "It is Anthropic's own notation in plain text. Claude writes it where the tools are in the prompt, or "
        detail += "calls of the history are written out as text, and not in the API's fields; no parser reads it there."
        fix = "Send the tools in `tools`, and calls and results of the history as `tool_use` and `tool_result` blocks, "
        fix += "not as text in prompts. A proxy in between that writes them out has to read them back, too."
    else:
        detail = (
            "It is XML that a client teaches in its prompt, as Cline and Roo Code do, and reads itself. The server "
        )
        detail += "returned it as text, as it should."
        fix = "Set the client's tool protocol for this model to XML, or to native calls if the server parses them: the "
        fix += "client shows the XML where it expects native calls. Other clients do not read it."
    return Report(
        title=f"A tool call to `{call.name}` is in content as XML that no server parses.",
        detail=detail,
        evidence=(in_message("content", content[slice(*call.span)], call.span),),
        fix=fix,
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )


def _report_begun(trace: Trace, call: ToolCallAttempt, content: str) -> Report:
    family = format_of(trace, content)
    if (closer := _CLOSED.search(content, call.char_span.start)) is not None:
        return _report_half_closed(trace, call, content, closer[0])
    return Report(
        title=f"A tool call to `{call.name}` begins in content and is not closed.",
        detail=(
            f"It starts at character {call.char_span.start} in the notation of `{family}`: {call.problem}. The "
            "output was cut, or the model stopped inside the call; the server did not parse what there is."
        ),
        evidence=(in_message("content", content[slice(*call.char_span)], call.char_span),),
        fix=(
            Step("Do not execute this call. Raise `max_tokens` if finish_reason is `length`."),
            *have_parsed(trace, family),
        ),
        certainty=Certainty.INFERRED,
    )


def _report_half_closed(trace: Trace, call: ToolCallAttempt, content: str, closer: str) -> Report:
    """Report a call that ends with its outermost marker, while others before it are missing."""
    family = format_of(trace, content)
    wrong = foreign_parser(trace, family)
    why = f" The parser `{wrong}` does not read this notation at all." if wrong else ""
    return Report(
        title=f"A tool call to `{call.name}` is in content, and its inner markup is not closed.",
        detail=f"It is written in the notation of `{family}` and ends with `{closer}`, but what opens inside it has no "
        f"end there: the model left it out, or it was lost where the text was copied.{why}",
        evidence=(in_message("content", content[slice(*call.char_span)], call.char_span),),
        fix=have_parsed(trace, family),
        certainty=Certainty.INFERRED,
    )


def _report_broken(trace: Trace, call: ToolCallAttempt, content: str) -> Report:
    family = format_of(trace, content)
    return Report(
        title=f"A tool call to `{call.name}` is in content, and it is malformed.",
        detail=f"It starts at character {call.char_span.start} in the notation of `{family}`: {call.problem}. A parser "
        "that reads it strictly gives it back as text.",
        evidence=(in_message("content", content[slice(*call.char_span)], call.char_span),),
        fix=(Step(f"Do not run this call. {_AGAIN}"), *have_parsed(trace, family)),
        stage=Stage.COMPLETE,
    )


def _open_bare_call(trace: Trace, content: str) -> str | None:
    name = open_bare_call(content)
    body = trace.request.body
    if name is None or body.get("response_format") or body.get("tool_choice") == "none":
        return None
    offered = {tool.name for tool in request_tools(trace.request)}
    return None if is_request_known(trace) and name not in offered else name


def _report_open(trace: Trace, name: str, content: str) -> Report:
    return Report(
        title=f"Content begins a call to `{name}` in JSON that is not closed.",
        detail=f"It ends with {content[-60:]!r}: this is how this model writes its calls, "
        "and no parser reads one with unclosed brackets.",
        evidence=(in_message("content", content),),
        fix=f"Do not run this call. Raise `max_tokens` where finish_reason is `length`. {_AGAIN}",
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
        stage=Stage.COMPLETE,
    )


def _report_written(trace: Trace, calls: list[ToolCallAttempt], content: str) -> Report:
    family = format_of(trace, content)
    names = ", ".join(f"`{call.name}`" for call in calls[:6])
    one = len(calls) == 1
    what = f"A tool call to {names} is" if one else f"Tool calls to {names} are"
    wrong = foreign_parser(trace, family)
    why = f", because the parser `{wrong}` does not read the notation `{family}`" if wrong else ""
    return Report(
        title=f"{what} in content instead of the answer's calls{why}.",
        detail=f"Content contains {'a complete call' if one else f'{len(calls)} complete calls'} with "
        f"{'its' if one else 'their'} markup, that of `{family}`: the model wrote {'it' if one else 'them'}, the "
        f"server did not parse {'it' if one else 'them'}.{departs(calls, family)}",
        evidence=tuple(in_message("content", content[slice(*call.char_span)], call.char_span) for call in calls),
        fix=have_parsed(trace, family),
    )


def _report_bare(trace: Trace, calls: tuple[ToolCallAttempt, ...], content: str) -> Report:
    names = ", ".join(f"`{call.name}`" for call in calls[:6])
    family = format_of(trace, content)
    guess = "" if is_request_known(trace) else " The request is unknown, so this is a guess."
    if is_plain := is_plain_words(family):
        detail = "It is written in plain words, as clients write out calls of the history: the answer has no call."
    else:
        detail = (
            "It looks like a call of this model family without control tokens, and the answer has no call: the "
            f"server did not parse it, or the model answers with an example.{guess}{departs(calls, family)}"
        )
    is_mild = guess and not is_plain and not _says_no_call(trace)
    return Report(
        title=f"Content is nothing but {'a call' if len(calls) == 1 else 'calls'} to {names}.",
        detail=detail,
        evidence=tuple(in_message("content", content[slice(*call.char_span)], call.char_span) for call in calls),
        fix=have_parsed(trace, family if (found := bare_list(trace)) is None else found.family),
        certainty=Certainty.INFERRED,
        severity=Severity.NOTE if is_mild else Severity.WARNING,
    )


def _says_no_call(trace: Trace) -> bool:
    """Say whether the answer has a field for calls, and it is empty."""
    return trace.chat is not None and "tool_calls" in trace.chat.message and not trace.chat.message["tool_calls"]


def _stripped(trace: Trace, content: str) -> Iterator[Report]:
    """Report a content that is nothing but what is left of a call."""
    names = tuple(tool.name for tool in request_tools(trace.request))
    text = content.strip()
    if (headed := _without_tokens(trace, content, names)) is not None:
        yield headed
        return
    if (python := _PYTHON.match(content)) is not None:
        yield _report_python(content, python)
        return
    headed_by = _GEMMA.match(text)
    known = names if headed_by is None or is_request_known(trace) else (headed_by[1],)
    found = next(iter(find_stripped_calls(text, known)), None)
    if found is None or found.char_span.start > 0 or not re.search(r"\}\]?\Z", text):
        return
    yield Report(
        title=f"Content looks like a tool call to `{found.name}` that lost its markers.",
        detail=f"It is {text[:120]!r}, which is what remains of a tool call when its control tokens are removed.",
        evidence=(in_message("content", content, Span(0, len(content))),),
        fix=have_parsed(trace, "gemma4" if headed_by is not None and "<escape>" not in text else found.format),
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )


def _without_tokens(trace: Trace, content: str, names: tuple[str, ...]) -> Report | None:
    """Report a call of which the whole header is left, and its arguments: `commentary to=functions.f json{…}`."""
    offered = names if is_request_known(trace) else tuple(dict.fromkeys(_RECIPIENT.findall(content)[:_MOST_NAMES]))
    places = [(one.name, one.char_span) for one in find_stripped_calls(content, offered) if one.format == "harmony"]
    for name, head in [*places, *((one[1], Span(*one.span())) for one in _LOOSE.finditer(content))]:
        try:
            arguments, stop = _DECODER.raw_decode(content, head.stop)
        except (ValueError, RecursionError):
            continue
        if isinstance(arguments, dict):
            span = Span(head.start, stop)
            return Report(
                title=f"A tool call to `{name}` is in content without its control tokens.",
                detail=f"Content contains {content[slice(*span)].strip()[:120]!r}: a header of gpt-oss (harmony) with "
                "its recipient, and the arguments. The model called the tool; the server took its control tokens out "
                "and handed the call on as text.",
                evidence=(in_message("content", content[slice(*span)], span),),
                fix=have_parsed(trace, "harmony"),
                certainty=Certainty.INFERRED,
            )
    return None


def _report_python(content: str, call: re.Match[str]) -> Report:
    return Report(
        title=f"A tool call to `{call[1]}` is in content as Python text.",
        detail=f"Content is nothing but {content.strip()[:120]!r}: `default_api` is the name under which Gemini writes "
        "its calls as Python, and this one was not returned as a call.",
        evidence=(in_message("content", content, Span(0, len(content))),),
        fix="Do not run the text. Check that the request declares the tools in its own field, then ask again; simpler "
        "schemas and names make this rarer.",
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
            title=f"A tool call to `{call.name}` is in {reasoning.field}, and the message contains nothing else.",
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
    needs=TracePart.ANSWER,
    threads=("MoonshotAI/Kimi-K2#89", "vllm-project/vllm#31207", "vllm-project/vllm#11786"),
    borrows_fix=True,
    explains=("PD406", "PD412"),
    fixes=(FlagsFix("tool"),),
)
