"""The server's tool parser does not read the format that the model writes.

What it finds:
    Finished calls in the raw output, none of them returned, and one of these: the server's
    parser is known and is none of those that read this format; or an offline run shows that
    another parser reads the calls and the server's does not; or, where the parser is
    unknown, the markup of the calls is unread in the message's content. Silent where
    parsers were tried and none reads them, and where a parser runs that the server does not
    name and the calls depart from the notation: it may be the right one and refuse them
    (vLLM 0.27.1 leaves them in content; 0.32 drops them). Where the same request was answered
    with its calls without streaming, that is said: its parser fails on the stream. For a raw output with its
    server's flags but no answer: the flags name a parser for another notation.

Why it matters:
    Every call of every request is lost, and some parsers delete the text as
    well: not even the content shows that there was a call.

Bad:
    `--tool-call-parser hermes` for a model that writes `<|tool_calls_section_begin|>…`

Good:
    `--tool-call-parser kimi_k2`

Source:
    tracker: vllm-project/vllm#46863, vllm-project/vllm#39294, MiniMax-AI/MiniMax-M2#14.
    derived: vLLM 0.32, every parser run on every format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import (
    CallStatus,
    Certainty,
    FindingEvidence,
    Severity,
    Stage,
    ToolCallAttempt,
    Trace,
)
from prompt_debugger.core.diagnose.advice import parse_it_yourself
from prompt_debugger.core.diagnose.calls.bare_lists import bare_list
from prompt_debugger.core.diagnose.calls.stream_alone import READ_WHOLE, are_read_whole, steps_of_stream
from prompt_debugger.core.diagnose.fields import content_of, returned_calls
from prompt_debugger.core.diagnose.fixes import FlagsFix
from prompt_debugger.core.diagnose.generations import families_named, families_read, familys_parser, siblings_of
from prompt_debugger.core.diagnose.own_names import FAMILYS_PARSER, has_own_names, is_made_for
from prompt_debugger.core.diagnose.parser_setup import own_way, start_with
from prompt_debugger.core.diagnose.readers import advisable_parsers, trials_of
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import (
    TracePart,
    comparison,
    dropped_calls,
    in_message,
    in_raw,
    offline_method,
)
from prompt_debugger.core.diagnose.words import listed
from prompt_debugger.core.formats import FORMATS, TABLES

MIN_SCORE = 0.5
_RELEASE = re.compile(r"(\d{1,4})\.(\d{1,4})")
_DROPS_REFUSED = (0, 32)


class _Cause(NamedTuple):
    title: str
    detail: str
    certainty: Certainty


def find(trace: Trace) -> Iterator[Report]:
    """Report that the parser and the format do not belong together."""
    if trace.chat is None and trace.chat_stream is None:
        yield from _report_flags(trace)
        return
    certainty = comparison(trace)
    dropped = dropped_calls(trace)
    if certainty is None or trace.parse is None or not dropped or returned_calls(trace):
        return
    name = trace.parse.parsed.format
    score = trace.parse.format_scores.get(name)
    if score is not None and score.score < MIN_SCORE:
        return
    if bare_list(trace) is not None:
        return  # its own parser reads it once the marker is there
    calls = [call for _, call in dropped]
    cause = None if _are_refused_by_all(trace, calls) else _cause(trace, name, calls)
    if cause is None:
        return
    readers = advisable_parsers(trace, calls)
    if (method := offline_method(trace)) is not None:
        yield Report(
            title=f"`LLM.{method}` left the `{name}` calls in its text, because it runs no parser.",
            detail="Their complete markup is there.",
            evidence=(*(in_raw(trace, call.char_span) for call in calls), *_residue(trace)),
            fix=parse_it_yourself(method, readers),
            severity=Severity.WARNING,
        )
        return
    yield Report(
        title=cause.title,
        detail=cause.detail
        + (
            f" Parsers that read it: {', '.join(f'`{reader}`' for reader in readers)}."
            if readers and not are_read_whole(trace)
            else ""
        ),
        evidence=(*(in_raw(trace, call.char_span) for call in calls), *_residue(trace)),
        fix=steps_of_stream(trace) or _fix(trace, name, readers),
        certainty=Certainty.INFERRED if certainty is Certainty.INFERRED else cause.certainty,
    )


def _are_refused_by_all(trace: Trace, calls: Sequence[ToolCallAttempt]) -> bool:
    """Return whether each call is malformed and no parser is known to run or to read it: the right one refuses it."""
    is_known = trace.tool_parser is not None or offline_method(trace) is not None
    are_malformed = all(call.status is CallStatus.MALFORMED for call in calls)
    return are_malformed and not is_known and not trials_of(trace, calls).reading


def _report_flags(trace: Trace) -> Iterator[Report]:
    """Report that the flags pasted with a raw output name a parser that is not made for its notation."""
    server = trace.server
    if trace.parse is None or server is None or server.base_url or server.tool_parser is None:
        return
    name = trace.parse.parsed.format
    score = trace.parse.format_scores.get(name)
    known = TABLES.tool_parsers.get(name, ())
    calls = [call for call in trace.parse.parsed.calls if call.status is CallStatus.COMPLETE]
    if not calls or (score is not None and score.score < MIN_SCORE) or is_made_for(server, name) is not False:
        return
    if not known and server.parser_families is None:
        return
    start = "" if has_own_names(server) or not known else f" Parsers that read it: {listed(known)}."
    why = (
        "Either the parser is another model's, or the prompt taught the model a notation other than its own, as "
        "another model's chat template does."
    )
    fix = "Start the server with the model's own chat template, and with the parser for the notation that it writes."
    if known and not has_own_names(server) and name in families_named(server.model or ""):
        why = f"By its name, `{server.model}` is a model of `{name}`: the parser is another model's."
        fix = f"Start the server with `--tool-call-parser {known[0]}` in place of `{server.tool_parser}`."
    yield Report(
        title=f"The flags name the parser `{server.tool_parser}`, but the model writes the notation `{name}`.",
        detail=f"The server is started with a parser that does not read the calls of the raw output.{start} {why}",
        evidence=tuple(in_raw(trace, call.char_span) for call in calls),
        fix=fix,
        severity=Severity.WARNING,
        certainty=Certainty.INFERRED,
    )


def _fix(trace: Trace, name: str, readers: tuple[str, ...]) -> str:
    """Say what to start the server with; a parser that may be running already is never advised without a change."""
    if (way := own_way(trace, name)) is not None:
        return way.text
    if not readers:
        return FAMILYS_PARSER if has_own_names(trace.server) else familys_parser(name)
    flags = f"`--enable-auto-tool-choice --tool-call-parser {readers[0]}`"
    if trace.server is not None and trace.server.tool_parser is None and "tool_parser" in trace.server.features:
        condition = f"if it is not `{readers[0]}`"
        return f"The server runs a tool parser but does not report which: {condition}, start with {flags}."
    read = () if trace.server is None else families_read(trace.server)
    other = next((family for family in siblings_of(name) if family in read), None)
    if other is not None:  # of two generations the one may be the model's and the other the template's
        own = f"if it belongs to `{other}`, serve its own template"
        return f"If the model belongs to `{name}`, start the server with {flags}; {own}."
    return f"{start_with(trace, flags)}."


def _cause(trace: Trace, name: str, calls: list[ToolCallAttempt]) -> _Cause | None:
    """Say what shows the mismatch; `None` if nothing does."""
    parser = trace.tool_parser
    known = TABLES.tool_parsers.get(name, ())
    trials = trials_of(trace, calls)
    has_no_own = not known and parser is not None and is_made_for(trace.server, name) is False
    if trials.asked and not trials.reading and not has_no_own:
        return None  # where no parser reads it, which one runs does not matter
    if parser is not None:
        is_own = is_made_for(trace.server, name)
        if is_own is None or is_own or parser in trials.reading or not (known or trials.asked):
            return None
        return _Cause(
            f"The parser `{parser}` does not read the format `{name}` that the model writes.",
            f"The server runs `{parser}`; the raw output is `{name}`.",
            Certainty.OBSERVED,
        )
    if not trials.reading and _may_leave_refused(trace) and any(_departs(name, call) for call in calls):
        return None  # a parser of this family that runs may refuse these very calls
    content = "" if trace.chat is None else content_of(trace.chat.message) or ""
    if _are_in_order(content, [_written(trace, call) for call in calls]):
        if are_read_whole(trace):
            return _Cause(
                f"The server's parser did not read the `{name}` calls of the stream: their markup is in content.",
                READ_WHOLE,
                Certainty.INFERRED,
            )
        return _Cause(
            f"No parser read the `{name}` calls: their markup is in content.",
            "The server's tool parser is unknown; the complete markup of the calls is in content.",
            Certainty.INFERRED,
        )
    return None


def _may_leave_refused(trace: Trace) -> bool:
    """Return whether a tool parser runs that may leave what it refuses in content; vLLM's of 0.32 drop it."""
    server = trace.server
    if server is None or "tool_parser" not in server.features:
        return False
    found = _RELEASE.match(server.version or "")
    return found is None or (int(found[1]), int(found[2])) < _DROPS_REFUSED


def _departs(name: str, call: ToolCallAttempt) -> bool:
    """Return whether a call is not as its family writes it, so that its own parser may refuse it."""
    family = FORMATS.get(name)
    problem_of = None if family is None else family.facts.id_problem
    header = call.id if call.id is not None else (call.name or "")
    return bool(call.deviation) or (problem_of is not None and problem_of(header) is not None)


def _are_in_order(content: str, written: list[str]) -> bool:
    position = 0
    for text in written:
        found = content.find(text, position)
        if found == -1:
            return False
        position = found + len(text)
    return True


def _written(trace: Trace, call: ToolCallAttempt) -> str:
    return "" if trace.parse is None else trace.parse.raw[call.char_span.start : call.char_span.stop].strip()


def _residue(trace: Trace) -> tuple[FindingEvidence, ...]:
    content = None if trace.chat is None else content_of(trace.chat.message)
    return (in_message("content", content),) if content else ()


RULE: Rule = TraceRule(
    code="PD405",
    name="wrong-parser",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.RAW,
    borrows_fix=True,
    threads=("vllm-project/vllm#46863", "vllm-project/vllm#39294", "MiniMax-AI/MiniMax-M2#14"),
    explains=("PD401", "PD402", "PD403", "PD404", "PD406", "PD412", "PD413"),
    fixes=(FlagsFix("tool"),),
)
