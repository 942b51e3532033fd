"""The server did not return a tool call that the model wrote.

What it finds:
    A finished tool call outside reasoning that has no counterpart among the tool calls of
    the message. Calls that were cut have a separate rule, and so do further calls of a
    request that allows only one.

Why it matters:
    The agent believes that the model chose not to act. There is no error
    anywhere: finish_reason is `stop`.

Bad:
    Raw `<|tool_call_begin|>get_weather<|tool_call_argument_begin|>{"city":
    "Paris"}<|tool_call_end|>`, message `{"content": "", "tool_calls": []}`

Good:
    One call written, one returned.

Source:
    publisher: Kimi K2 report on the vLLM blog, 2025-10-28.
    tracker: vllm-project/vllm#27565, vllm-project/vllm#34968, sgl-project/sglang#40236.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Fate, Segment, SegmentKind, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step, parse_it_yourself
from prompt_debugger.core.diagnose.calls.stream_alone import steps_of_stream
from prompt_debugger.core.diagnose.fields import body_of, content_of, returned_calls
from prompt_debugger.core.diagnose.fixes import PluginFix
from prompt_debugger.core.diagnose.own_names import FAMILYS_PARSER, has_own_names, is_made_for
from prompt_debugger.core.diagnose.parser_setup import own_way, start_with
from prompt_debugger.core.diagnose.readers import advisable_parsers, trials_of
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import (
    TracePart,
    body_calls,
    comparison,
    dropped_calls,
    fates_within,
    in_message,
    in_raw,
    offline_method,
)
from prompt_debugger.core.diagnose.words import counted, listed
from prompt_debugger.core.formats import TABLES


def find(trace: Trace) -> Iterator[Report]:
    """Report the calls that are missing from the message, in one report."""
    certainty = comparison(trace)
    dropped = dropped_calls(trace)
    body = body_of(trace)
    written, returned = len(body_calls(trace)), len(returned_calls(trace))
    if certainty is None or trace.chat is None or not dropped:
        return
    if body.get("parallel_tool_calls") is False and returned == 1:
        return
    unwanted = body.get("tool_choice") == "none"
    names = listed([call.name or "a call without a name" for _, call in dropped])
    yield Report(
        title=f"The model wrote {counted(written, 'tool call')}, the server returned {returned or 'none'}.",
        detail=f"Not returned: {names}. {_fates_of_calls(trace, [call.char_span for _, call in dropped])}"
        + (f" finish_reason is `{trace.chat.finish_reason}`." if trace.chat.finish_reason else "")
        + (" The request says `tool_choice: none`." if unwanted else ""),
        evidence=(*(in_raw(trace, call.char_span) for _, call in dropped), in_message("tool_calls")),
        fix="Leave `tools` out of requests that must not call, or start vLLM with "
        "`--exclude-tools-when-tool-choice-none`."
        if unwanted
        else _fix(trace),
        certainty=certainty,
        severity=Severity.WARNING if unwanted or _is_left_as_asked(trace) else None,
    )


def _is_left_as_asked(trace: Trace) -> bool:
    """Return whether no parser was asked, and every call is complete in the text."""
    if offline_method(trace) is None or trace.chat is None or trace.parse is None:
        return False
    content, raw, position = content_of(trace.chat.message) or "", trace.parse.raw, 0
    for _, call in dropped_calls(trace):
        written = raw[call.char_span.start : call.char_span.stop]
        found = content.find(written, position)
        if found == -1:
            return False
        position = found + len(written)
    return True


def _fix(trace: Trace) -> tuple[Step, ...]:
    """Return what to try where no finding names the cause: a parser that reads this output, by trial or by table."""
    assert trace.parse is not None
    name, own = trace.parse.parsed.format, trace.tool_parser
    meant = TABLES.tool_parsers.get(name, ())
    calls = [call for _, call in body_calls(trace)]
    if (method := offline_method(trace)) is not None:
        return (Step(parse_it_yourself(method, meant)),)
    if stream_alone := steps_of_stream(trace):
        return stream_alone
    steps, others = [], advisable_parsers(trace, calls)
    is_tried = bool(trials_of(trace, calls).reading)
    if not is_tried and (way := own_way(trace, name)) is not None:
        steps.append(way)
    elif has_own_names(trace.server) and not is_tried:
        steps += [] if is_made_for(trace.server, name) is not False else [Step(FAMILYS_PARSER)]
    elif own is None and not is_tried and _all_depart(trace):
        asked = listed([f"vllm:{parser}" for parser in meant], 3) if meant else "a parser of this model's family"
        steps.append(
            Step(
                f"Try {asked} on this output before you change the server: the call departs from the model's notation."
            )
        )
    elif others and (own is None or own not in meant or is_tried):
        proof = "read this very output, run offline" if is_tried else f"is the parser for the format `{name}`"
        unless = "" if own is not None or is_tried else ", unless it already runs that one"
        flags = f"--enable-auto-tool-choice --tool-call-parser {others[0]}"
        steps.append(Step(f"{start_with(trace, f'`{flags}`')}, which {proof}{unless}."))
    recipient = f"the authors of the parser `{own}`" if own is not None else "the parser's authors"
    return (*steps, Step(f"Read the call from the raw output, and report it with the saved run to {recipient}."))


def _all_depart(trace: Trace) -> bool:
    """Return whether every call that was not returned departs from its notation, so that its parser may refuse it."""
    return all(call.deviation is not None for _, call in dropped_calls(trace))


def _fates_of_calls(trace: Trace, spans: list[Span]) -> str:
    """Return where the characters of the calls ended up."""
    counts: dict[Fate, int] = {}
    for span in spans:
        for part, fate in fates_within(trace, Segment(span, SegmentKind.MARKUP)):
            counts[fate] = counts.get(fate, 0) + part.stop - part.start
    shown = (Fate.CONTENT, Fate.REASONING)
    places = [f"{counts[fate]} are in {fate.value}" for fate in shown if fate in counts]
    places += [f"{counts[Fate.MARKUP]} are markup"] if Fate.MARKUP in counts else []
    lost = counts.get(Fate.LOST, 0) + counts.get(Fate.ALTERED, 0)
    return f"Of its {sum(counts.values())} characters, {', '.join([*places, f'{lost} lost'])}."


RULE: Rule = TraceRule(
    code="PD401",
    name="dropped-call",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.COMPARISON,
    borrows_fix=True,
    threads=("vllm-project/vllm#27565", "vllm-project/vllm#34968", "sgl-project/sglang#40236"),
    explains=("PD412", "PD413", "PD504"),
    fixes=(PluginFix(),),
)
