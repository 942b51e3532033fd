"""A tool call is in the text of the message instead of among its calls.

What it finds:
    Where no whole raw output is known: a complete call with its markup, in content, outside
    code and quotation marks, that is neither in the request nor in `tool_calls`; of one of
    the request's tools, or of any tool if the request is not available. Likewise a call
    that begins there and is not closed (an inference), or that is malformed, such as JSON
    with a missing bracket. An inference and a warning: a call in bare JSON that stays open
    or is malformed; whole calls in a list that stays open;
    content that consists only of calls in a notation without control tokens (bare JSON,
    Python), if the request does not ask for JSON (a note without the request, because it is
    a guess), or what is left of a call without its control tokens (an error if its header
    is complete, as in `commentary to=functions.f json{…}`), calls as JSON in a code fence, calls
    in a Python list after other text, a call in XML that no family writes, in ReAct, in JSON
    with keys that an agent framework teaches or as a client prints it, a call in the tags of
    Claude and MiniMax without the marker around them, a complete call in
    the reasoning of a message without anything else, and content that is a JSON object with
    the keys of one of the request's tools, if no one asked for JSON; a call that is encoded
    as a string of JSON; calls in bare JSON in a second assistant turn. An error, too: an answer
    without a call of which the server says that gpt-oss ended it with `<|call|>`
    (`stop_reason` 200012). A warning: a call that the answer has, and that is in content as well.

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

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from prompt_debugger.core.base.comparable import COPY_ENDS, is_partial
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import CallStatus, Certainty, Severity, Stage, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.calls.arguments_as_content import report_arguments, report_ended
from prompt_debugger.core.diagnose.calls.bare_headers import report_headers
from prompt_debugger.core.diagnose.calls.bare_invoke import report_bare_invoke
from prompt_debugger.core.diagnose.calls.bare_lists import bare_list, model_names
from prompt_debugger.core.diagnose.calls.begun_calls import count_restarts, report_begun, report_restarted
from prompt_debugger.core.diagnose.calls.broken_bare_calls import (
    AGAIN,
    is_open_list,
    report_broken_bare,
    report_open_list,
)
from prompt_debugger.core.diagnose.calls.calls_in_a_row import report_calls_in_a_row
from prompt_debugger.core.diagnose.calls.client_calls import BEFORE_OTHERS, client_call, report_client_call
from prompt_debugger.core.diagnose.calls.departing_calls import WHOLE_TWICE, encoded_call, have_taken_out, is_headless
from prompt_debugger.core.diagnose.calls.list_after_prose import (
    TO_GET_A_LIST,
    calls_after_prose,
    report_after_prose,
)
from prompt_debugger.core.diagnose.calls.malformed_tags import malformed_call
from prompt_debugger.core.diagnose.calls.off_header import report_off_header
from prompt_debugger.core.diagnose.calls.python_calls import report_python
from prompt_debugger.core.diagnose.calls.repeated_calls import not_returned, report_repeated
from prompt_debugger.core.diagnose.calls.shortened_arguments import is_shortened
from prompt_debugger.core.diagnose.calls.stripped_calls import report_tool_code, stripped_calls
from prompt_debugger.core.diagnose.calls.unparsed_calls import (
    bare_json_steps,
    bare_list_steps,
    departs,
    family_of_model,
    foreign_parser,
    is_plain_words,
    parser_steps,
)
from prompt_debugger.core.diagnose.calls.written_calls import (
    CALL_EXPECTED,
    CAME_AS_CONTENT,
    bare_calls,
    fenced_calls,
    format_of,
    is_request_known,
    written_calls,
)
from prompt_debugger.core.diagnose.fields import content_of, reasoning_of, request_tools, returned_calls
from prompt_debugger.core.diagnose.fixes import FlagsFix
from prompt_debugger.core.diagnose.leftovers import next_turn
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message

_LEFT_OUT = re.compile(r"\n[ \t]{0,20}(?:\.{3,6}|\u2026)\s*\Z")  # of the rest, by whoever copied it
_CLOSED = re.compile(r"</tool_calls?>\s*\Z")

_JSON_IN_FENCE = (
    "The answer has no call. The model wrote JSON for a reader, not the notation that its template teaches, and few "
    "parsers look into code fences (vLLM's `llama3_json` does): a client shows it instead of running it."
)
_PYTHON_IN_FENCE = (
    "The answer has no call. The model wrote it as Python, and vLLM's parsers for this notation (`pythonic`, "
    "`llama4_pythonic`) read a list only where it is the whole output: in a fence it stays text."
)
_TAGGED_IN_FENCE = (
    "The answer has no call. The tags are those of a call, and the fence around them is for a reader: either nothing "
    "parsed the call, or it is an example."
)
_OF_FENCE = (
    "Check that the request has the tools in its field `tools`, and that the prompt contains them (`render`): "
    "with tools only in a system message, models answer like this. If they are there, the model does not "
    "follow its notation: use a model trained for tool calls, or constrain it (`tool_choice: required`)."
)


def find(trace: Trace) -> Iterator[Report]:
    """Report calls in the text of a message; an inference where only words say that it is a message."""
    is_said = CAME_AS_CONTENT in trace.notes
    yield from (replace(one, certainty=Certainty.INFERRED) if is_said else one for one in _find(trace))


def _find(trace: Trace) -> Iterator[Report]:
    """Read the message's own fields, as no raw output says what the model wrote."""
    if trace.chat is None or trace.parse is not None:
        return
    content = content_of(trace.chat.message) or ""
    calls = list(written_calls(trace, content))
    returned = returned_calls(trace)
    left = not_returned(calls, returned)
    client = None if returned else client_call(trace, content)
    if client is not None and (client.notation in BEFORE_OTHERS or not calls):
        yield report_client_call(trace, client, content)
    elif left:
        yield _report_written(trace, left, content)
    elif repeated := calls or (returned and bare_calls(trace, content)):
        if not not_returned(repeated, returned):
            yield report_repeated(repeated, content)
    elif not returned and (ended := report_ended(trace)) is not None:
        yield ended
    elif not returned and not calls:
        yield from _report_no_whole_call(trace, content)


def _report_no_whole_call(trace: Trace, content: str) -> Iterator[Report]:
    """Report what is less than a call with its markup: one that is broken, or without markup, or stripped."""
    if begun := list(written_calls(trace, content, (CallStatus.TRUNCATED,))):
        again = count_restarts(begun[-1], list(written_calls(trace, content, (CallStatus.MALFORMED,))))
        yield report_restarted(begun[-1], again, content) if again else _report_begun(trace, begun[-1], content)
    elif broken := list(written_calls(trace, content, (CallStatus.MALFORMED,))):
        report = _report_shortened if is_shortened(broken[0].arguments) else _report_broken
        yield report(trace, broken[0], content)
    elif (bare := report_broken_bare(trace, content)) is not None:
        yield bare
    elif not content.strip():
        yield from _report_in_reasoning(trace)
    elif (python := report_tool_code(trace, content)) is not None:
        yield python
    elif whole := bare_calls(trace, content):
        yield report_open_list(whole, content) if is_open_list(content) else _report_bare(trace, whole, content)
    elif fenced := fenced_calls(trace, content):
        yield _report_fenced(trace, fenced, content)
    elif at_end := _calls_at_end(trace, content):
        shown = (in_message("content", content[slice(*call.char_span)], call.char_span) for call in at_end)
        yield report_after_prose("Content", at_end, tuple(shown))
    elif found := next(filter(None, (look(trace, content) for look in _OTHERS)), None):
        yield found
    else:
        yield from stripped_calls(trace, content)


def _report_begun(trace: Trace, call: ToolCallAttempt, content: str) -> Report:
    family = format_of(trace, content)
    if (closer := _CLOSED.search(content, call.char_span.start)) is not None:
        return _report_half_closed(trace, call, content, closer[0])
    if any(note.startswith(COPY_ENDS) for note in trace.notes) or _LEFT_OUT.search(content) is not None:
        return _report_copied_in_part(trace, call, content, family)
    return Report(
        title=f"A tool call to `{call.name}` begins in content and is not closed.",
        detail=(
            f"It starts at character {call.char_span.start} in the notation of `{family}`: {call.problem}. The "
            "output was cut, or the model stopped inside the call; the server did not parse what there is."
        ),
        evidence=(in_message("content", content[slice(*call.char_span)], call.char_span),),
        fix=(
            Step("Do not execute this call. Raise `max_tokens` if finish_reason is `length`."),
            *parser_steps(trace, family),
        ),
        certainty=Certainty.INFERRED,
    )


def _report_copied_in_part(trace: Trace, call: ToolCallAttempt, content: str, family: str) -> Report:
    """Report a call that the copy of the answer ends in: whether it went on is unknown, but not where it is."""
    return Report(
        title=f"A tool call to `{call.name}` begins in content.",
        detail=f"It starts at character {call.char_span.start} in the notation of `{family}`, and the copy ends before "
        "it does. A call that a server parses does not appear in content.",
        evidence=(in_message("content", content[slice(*call.char_span)], call.char_span),),
        fix=parser_steps(trace, family),
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )


def _report_half_closed(trace: Trace, call: ToolCallAttempt, content: str, closer: str) -> Report:
    """Report a call that ends with its outermost marker, while others before it are missing."""
    family = format_of(trace, content)
    wrong = foreign_parser(trace, family)
    why = f" The parser `{wrong}` does not read this notation at all." if wrong else ""
    return Report(
        title=f"A tool call to `{call.name}` is in content, and its inner markup is not closed.",
        detail=f"It is written in the notation of `{family}` and ends with `{closer}`, but a marker inside it is never "
        f"closed: the model left it out, or it was lost when the text was copied.{why}",
        evidence=(in_message("content", content[slice(*call.char_span)], call.char_span),),
        fix=parser_steps(trace, family),
        certainty=Certainty.INFERRED,
    )


def _report_shortened(trace: Trace, call: ToolCallAttempt, content: str) -> Report:
    """Report a call of which something was left out where it was copied: what the model wrote there is unknown."""
    family = format_of(trace, content)
    return Report(
        title=f"A tool call to `{call.name}` is in content.",
        detail=f"It is in the notation of `{family}`, and something was left out of it where it was copied. A call "
        "that a server parses does not appear in content.",
        evidence=(in_message("content", content[slice(*call.char_span)], call.char_span),),
        fix=parser_steps(trace, family),
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )


def _report_broken(trace: Trace, call: ToolCallAttempt, content: str) -> Report:
    family = format_of(trace, content)
    return Report(
        title=f"A tool call to `{call.name}` is in content, and it is malformed.",
        detail=f"It starts at character {call.char_span.start} in the notation of `{family}`: {call.problem}. A parser "
        "that reads it strictly gives it back as text.",
        evidence=(in_message("content", content[slice(*call.char_span)], call.char_span),),
        fix=(Step(f"Do not run this call. {AGAIN}"), *parser_steps(trace, family)),
        stage=Stage.COMPLETE,
    )


def _report_malformed(trace: Trace, content: str) -> Report | None:
    found = malformed_call(content)
    if found is None:
        return None
    return Report(
        title=f"A tool call is in content, and it is malformed: it begins with `{found.name}`.",
        detail=f"It starts at character {found.span.start}: {found.problem}. The model wrote it so, and parsers give "
        "it back as text.",
        evidence=(in_message("content", content[slice(*found.span)], found.span),),
        fix=f"Do not run this call. {AGAIN}",
        stage=Stage.COMPLETE,
    )


def _report_written(trace: Trace, calls: list[ToolCallAttempt], content: str) -> Report:
    family = format_of(trace, content)
    names = ", ".join(f"`{call.name}`" for call in calls[:6])
    one = len(calls) == 1
    subject = f"A tool call to {names} is" if one else f"Tool calls to {names} are"
    wrong = foreign_parser(trace, family)
    why = f", because the parser `{wrong}` does not read the notation `{family}`" if wrong else ""
    return Report(
        title=f"{subject} in content instead of the answer's calls{why}.",
        detail=f"Content contains {'a complete call' if one else f'{len(calls)} complete calls'} with "
        f"{'its' if one else 'their'} markup, that of `{family}`: the model wrote {'it' if one else 'them'}, the "
        f"server did not parse {'it' if one else 'them'}.{departs(calls, family)}",
        evidence=tuple(in_message("content", content[slice(*call.char_span)], call.char_span) for call in calls),
        fix=have_taken_out(trace, calls, family),
        certainty=Certainty.INFERRED if is_headless(calls) else Certainty.OBSERVED,  # the model may have left it out
    )


def _report_bare(trace: Trace, calls: tuple[ToolCallAttempt, ...], content: str) -> Report:
    names = ", ".join(f"`{call.name}`" for call in calls[:6])
    family = format_of(trace, content)
    guess = "" if is_request_known(trace) else " The request is unknown, so this is a guess."
    if is_plain := is_plain_words(family):
        detail = "It is written in plain words, as clients write out calls of the history: the answer has no call."
    else:
        detail = (
            "It looks like a call without control tokens, and the answer has no call: the "
            f"server did not parse it, or the model answers with an example.{guess}{departs(calls, family)}"
        )
    is_mild = guess and not is_plain and not _says_no_call(trace)
    return Report(
        title=f"Content is nothing but {'a call' if len(calls) == 1 else 'calls'} to {names}{_after(calls, content)}.",
        detail=detail,
        evidence=tuple(in_message("content", content[slice(*call.char_span)], call.char_span) for call in calls),
        fix=_fix_of_bare(trace, family, content),
        certainty=Certainty.INFERRED,
        severity=Severity.NOTE if is_mild else Severity.WARNING,
    )


def _fix_of_bare(trace: Trace, family: str, content: str) -> Sequence[Step]:
    if (found := bare_list(trace)) is not None:
        return parser_steps(trace, found.family)
    is_list = content.lstrip().startswith("[{") and not any(map(family_of_model, model_names(trace)))
    return (
        bare_list_steps(trace, family)
        if is_list and foreign_parser(trace, family) is None
        else bare_json_steps(trace, family)
    )


def _report_fenced(trace: Trace, calls: tuple[ToolCallAttempt, ...], content: str) -> Report:
    """Report calls in code fences, as models write them that do not use the notation of their template."""
    names = ", ".join(f"`{call.name}`" for call in calls[:6])
    guess = "" if is_request_known(trace) else " The request is unknown, so it may be an example that was asked for."
    written = [content[slice(*call.char_span)].lstrip() for call in calls]
    is_tagged = any(one.startswith("<") for one in written)
    is_python = not any(one.startswith(("{", "[")) for one in written)
    how, detail = ("as Python", _PYTHON_IN_FENCE) if is_python else ("as JSON", _JSON_IN_FENCE)
    fix = TO_GET_A_LIST if is_python else _OF_FENCE
    if is_tagged:
        how, detail = "with tags", _TAGGED_IN_FENCE
    return Report(
        title=f"Content contains {'a call' if len(calls) == 1 else 'calls'} to {names} {how} in a code fence.",
        detail=detail if is_tagged else f"{detail}{guess}",
        evidence=tuple(in_message("content", content[slice(*call.char_span)], call.char_span) for call in calls),
        fix=parser_steps(trace, format_of(trace, content[slice(*calls[0].char_span)])) if is_tagged else fix,
        certainty=Certainty.INFERRED,
        severity=Severity.NOTE if guess and not _says_no_call(trace) else Severity.WARNING,
    )


def _report_in_next_turn(trace: Trace, content: str) -> Report | None:
    """Report calls in bare JSON that are all of a second turn of the assistant, after the end of the first."""
    turn = next_turn(content)
    if turn is None or turn.inside is None:
        return None
    inside = content[slice(*turn.inside)]
    calls = bare_calls(trace, inside)
    if not calls:
        return None
    names = ", ".join(f"`{call.name}`" for call in calls[:6])
    return Report(
        title=f"Content contains {'a call' if len(calls) == 1 else 'calls'} to {names} in a second assistant turn.",
        detail=f"The server did not stop at `{turn.end}`; the model opened another turn and wrote the call "
        "there. A parser that looks for a call at the beginning of the output does not see it.",
        evidence=(in_message("content", inside, turn.inside),),
        fix=parser_steps(trace, format_of(trace, inside)),
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )


def _encoded(trace: Trace, content: str) -> Report | None:
    """Report a call that was encoded as a string of JSON before it was written."""
    found = encoded_call(content)
    offered = {tool.name for tool in request_tools(trace.request)}
    if found is None or (is_request_known(trace) and found.name not in offered):
        return None
    return Report(
        title=f"A tool call to `{found.name}` is in content, encoded as a string of JSON.",
        detail="Each quotation mark of the call is escaped, as within a string: decoded once more it is a call. A "
        "parser that decodes it once finds no object.",
        evidence=(in_message("content", content[slice(*found.span)], found.span),),
        fix=(WHOLE_TWICE,),
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
        stage=Stage.COMPLETE,
    )


def _calls_at_end(trace: Trace, content: str) -> tuple[ToolCallAttempt, ...]:
    calls = calls_after_prose(content)
    offered = {tool.name for tool in request_tools(trace.request)}
    return calls if not is_request_known(trace) or all(call.name in offered for call in calls) else ()


def _after(calls: tuple[ToolCallAttempt, ...], content: str) -> str:
    """Say what comes before the calls: nothing, or a block of reasoning."""
    return " after its reasoning" if "</" in content[: calls[0].char_span.start] else ""


def _says_no_call(trace: Trace) -> bool:
    """Return whether the answer has a field for calls, and it is empty; or words around it expect a call."""
    has_none = trace.chat is not None and "tool_calls" in trace.chat.message and not trace.chat.message["tool_calls"]
    return has_none or not {CALL_EXPECTED, CAME_AS_CONTENT}.isdisjoint(trace.notes)


def _report_in_reasoning(trace: Trace) -> Iterator[Report]:
    """Report a call in the reasoning of a message that contains nothing else."""
    reasoning = None if trace.chat is None else reasoning_of(trace.chat.message)
    if reasoning is None:
        return
    rest = (
        "; the rest of the message was not copied" if is_partial(trace) else ", and the message contains nothing else"
    )
    for call in list(written_calls(trace, reasoning.text))[:1]:
        yield Report(
            title=f"A tool call to `{call.name}` is in {reasoning.field}{rest}.",
            detail="The call is complete with its markup. It is a draft, or the reasoning parser swallowed the answer.",
            evidence=(in_message(reasoning.field, reasoning.text[slice(*call.char_span)], call.char_span),),
            fix="Check the server's reasoning parser: does this model close its reasoning before it calls?",
            certainty=Certainty.INFERRED,
            severity=Severity.WARNING,
        )


_OTHERS = (
    report_bare_invoke,
    _report_malformed,
    report_begun,
    report_headers,
    _report_in_next_turn,
    _encoded,
    report_arguments,
    report_calls_in_a_row,
    report_python,
    report_off_header,
)

RULE: Rule = TraceRule(
    code="PD426",
    name="call-in-message-text",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    stands_in_part=True,
    needs=TracePart.ANSWER,
    threads=("MoonshotAI/Kimi-K2#89", "vllm-project/vllm#31207", "vllm-project/vllm#11786"),
    borrows_fix=True,
    explains=("PD406", "PD412", "PD459"),
    fixes=(FlagsFix("tool"),),
)
