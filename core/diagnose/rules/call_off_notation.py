"""A complete call departs from the notation of its family.

What it finds:
    A complete call outside reasoning that was read although something of its notation is
    missing or different: a word, a marker, the section around it, the quotation marks. Or,
    where the server's parser or a parser that was tried is for another version of the
    model: a block under the other version's name. A warning if the call was not returned or
    a parser of its family returns a different one, otherwise a note. That a parser refuses
    it for this reason is an inference.

Why it matters:
    This program reads such a call, and its arguments are certain. Parsers match patterns:
    one that expects `call:` after the marker drops the call, usually silently, and the next
    release may read it. The cause is in the model, its quantization, or the template that
    taught it the notation.

Bad:
    `<|tool_call>:get_weather{city:<|"|>Paris<|"|>}<tool_call|>`

Good:
    `<|tool_call>call:get_weather{city:<|"|>Paris<|"|>}<tool_call|>`

Source:
    tracker: vllm-project/vllm#53431, sgl-project/sglang#40236, ollama/ollama#17742.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, CallStatus, Certainty, Place, Severity, Stage, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.calls.unparsed_calls import WITH_MISTRAL_TOKENIZER, may_lack_tokenizer
from prompt_debugger.core.diagnose.fields import CallField, calls_of_message
from prompt_debugger.core.diagnose.generations import parsers_by_block
from prompt_debugger.core.diagnose.own_names import is_made_for
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, dropped_calls, in_raw
from prompt_debugger.core.diagnose.words import listed
from prompt_debugger.core.formats import OFF_ID, TABLES

_MAX_REPORTS = 8  # deviations that are reported one by one


class _Tried(NamedTuple):
    """Parsers that ran on this output: those that do not give the call, and those that do."""

    refusing: tuple[str, ...]
    reading: tuple[str, ...]


def find(trace: Trace) -> Iterator[Report]:
    """Report each deviation once, with all calls that have it."""
    if trace.parse is None or is_made_for(trace.server, trace.parse.parsed.format) is False:
        return  # a parser of another family says all there is to say
    by_deviation: dict[str, list[int]] = {}
    for index, call in enumerate(trace.parse.parsed.calls):
        if call.status is CallStatus.COMPLETE and call.place is Place.BODY:
            for part in _deviations(trace, call):
                by_deviation.setdefault(part, []).append(index)
    dropped = {index for index, _ in dropped_calls(trace)}
    if dropped and not dropped & {index for indices in by_deviation.values() for index in indices}:
        return  # what was lost departs from nothing
    for deviation, indices in list(by_deviation.items())[:_MAX_REPORTS]:
        yield _report(trace, deviation, indices)


def _deviations(trace: Trace, call: ToolCallAttempt) -> Iterator[str]:
    """Yield what departs from the notation; ids have their own rule."""
    yield from (part for part in (call.deviation or "").split("; ") if part and part != OFF_ID)
    assert trace.parse is not None
    if not _has_section(trace):
        return
    other, others = parsers_by_block(trace.parse.parsed.format, trace.parse.raw)
    asked = {trace.tool_parser, *(name.removeprefix("vllm:").partition("+")[0] for name in trace.parse.parsers)}
    for parser in sorted(asked & others, key=str):
        if other is not None:
            yield f"its block has the name that `{other}` reads, not the one that `{parser}` looks for"


def _has_section(trace: Trace) -> bool:
    """Return whether any block is there whose name can be the wrong one."""
    assert trace.parse is not None
    return not any("before it is missing" in (call.deviation or "") for call in trace.parse.parsed.calls)


def _report(trace: Trace, deviation: str, indices: Sequence[int]) -> Report:
    assert trace.parse is not None
    family = trace.parse.parsed.format
    calls = [trace.parse.parsed.calls[index] for index in indices]
    names = listed(list(dict.fromkeys(call.name or "" for call in calls)))
    tried = _tried(trace, indices)
    dropped = {index for index, _ in dropped_calls(trace)} & set(indices)
    one = len(calls) == 1
    is_short = family == "mistral_v11" and "[ARGS]" in deviation and not tried.refusing
    title = f"The call to {names} departs" if one else f"{len(calls)} calls ({names}) depart"
    missing = "it" if one else f"{len(dropped)} of them"
    reported = f" The server did not return {missing}, probably for this reason." if dropped else ""
    return Report(
        title=f"{title} from the notation of `{family}`: {deviation}.",
        detail=f"{'It is' if one else 'They are'} complete nonetheless.{reported} {_about(tried, one=one)}",
        evidence=tuple(in_raw(trace, call.char_span) for call in calls),
        fix=WITH_MISTRAL_TOKENIZER if is_short and may_lack_tokenizer(trace) else _fix(tried, family),
        certainty=Certainty.INFERRED if dropped or tried.refusing else Certainty.OBSERVED,
        severity=Severity.WARNING if dropped or tried.refusing else None,
    )


def _tried(trace: Trace, indices: Sequence[int]) -> _Tried:
    """Say which parsers of the family, or the server's, gave the calls and which did not."""
    assert trace.parse is not None
    family = {*TABLES.tool_parsers.get(trace.parse.parsed.format, ())}
    own = trace.tool_parser
    refusing: list[str] = []
    reading: list[str] = []
    for name, outcome in trace.parse.parsers.items():
        plain = name.partition(":")[2].partition("+")[0] or name
        if outcome.error is not None or (
            plain not in family and plain != own and len(trace.parse.parsers) > _MAX_REPORTS
        ):
            continue
        given = calls_of_message({"tool_calls": list[JSON](outcome.tool_calls)})
        is_given = all(_gives(given, trace.parse.parsed.calls[index]) for index in indices)
        (reading if is_given else refusing).append(name)
    return _Tried(tuple(refusing), tuple(reading))


def _gives(given: Sequence[CallField], call: ToolCallAttempt) -> bool:
    """Return whether a call is among those that a parser gave, by its name and the values of its arguments."""
    same = (one for one in given if one.name == call.name)
    values = (decode_json(one.arguments) if isinstance(one.arguments, str) else one.arguments for one in same)
    return any(value == call.arguments_json for value in values)


def _about(tried: _Tried, *, one: bool) -> str:
    pronoun = "it" if one else "them"
    if not (tried.refusing or tried.reading):
        return f"Which parsers refuse {pronoun} for this reason was not tested."
    parts = []
    if tried.refusing:
        parts.append(f"{listed(tried.refusing)} did not give {pronoun} on this very output, probably for this reason.")
    if tried.reading:
        parts.append(f"{listed(tried.reading)} gave {pronoun}{'' if tried.refusing else ' on this very output'}.")
    return " ".join(parts)


def _fix(tried: _Tried, family: str) -> str:
    if tried.refusing and tried.reading:
        reader = listed(tried.reading, 1)
        return (
            f"Use a parser that reads such calls, as {reader} does, and report the call to the authors of the "
            "one in use."
        )
    parsers = [] if tried.refusing or tried.reading else list(TABLES.tool_parsers.get(family, ()))
    asked = listed([f"vllm:{name}" for name in parsers], 3)
    ask = f"Try this very output with {asked} (`parse --parser NAME`). " if parsers else ""
    return (
        f"{ask}Compare the chat template with the model's own: it teaches the notation. If the model "
        "departs from it on its own, report the raw output to the authors of the model and of the parser."
    )


RULE: Rule = TraceRule(
    code="PD435",
    name="call-off-notation",
    severity=Severity.NOTE,
    stage=Stage.PARSE,
    find=find,
    stands_in_part=True,
    needs=TracePart.RAW,
    threads=("vllm-project/vllm#53431", "sgl-project/sglang#40236", "ollama/ollama#17742"),
    explains=("PD401", "PD405"),
)
