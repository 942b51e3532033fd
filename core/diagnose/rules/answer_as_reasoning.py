"""The reasoning parser took the answer, or words of it, for reasoning.

What it finds:
    A message without content whose reasoning is the whole raw output, although the raw
    output contains no reasoning marker and the prompt leaves no reasoning block open. Or
    reasoning that contains text from outside every block, such as the words before a tool
    call. If the prompt is not known, all of it may be reasoning that the prompt opened:
    then it is a note, or nothing if the output was cut. Where only our own render is known,
    it is a warning.

Why it matters:
    `content` is null; the user sees nothing. The template rendered thinking as off, and the
    parser, which starts in thinking, does not know: it sees only the template kwargs of the
    request and of the server's defaults.

Bad:
    Prompt `…<|im_assistant|>assistant<|im_middle|>`, raw `I am a helpful assistant.`,
    message `{"reasoning": "I am a helpful assistant.", "content": null}`

Good:
    The same request with `"chat_template_kwargs": {"thinking": false}`

Source:
    tracker: vllm-project/vllm#53284, vllm-project/vllm#31581, vllm-project/vllm#17357.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import (
    Certainty,
    Fate,
    Finding,
    JSONObject,
    Segment,
    SegmentKind,
    Severity,
    Span,
    Stage,
    Trace,
)
from prompt_debugger.core.diagnose.advice import Step, applied
from prompt_debugger.core.diagnose.fields import Reasoning, content_of, reasoning_of
from prompt_debugger.core.diagnose.fixes import RequestFix
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.thinking import at_start, think_less, thinking_switch
from prompt_debugger.core.diagnose.trace_queries import (
    TracePart,
    comparison,
    end_texts,
    fates_within,
    in_message,
    in_prompt,
    in_raw,
    open_think_tail,
    prompt_end,
    prompt_of,
    why_cut,
)
from prompt_debugger.core.diagnose.words import counted
from prompt_debugger.core.formats import TABLES

_OTHER_PARSER = Step("Use a reasoning parser that does not begin inside a block, or none.")


def find(trace: Trace) -> Iterator[Report]:
    """Report an answer that is in reasoning."""
    certainty = comparison(trace)
    if certainty is None or trace.parse is None or open_think_tail(trace):
        return
    reasoning = _swallowed(trace)
    if reasoning is None:
        yield from _partly(trace, certainty)
        return
    prompt, end = prompt_of(trace), prompt_end(trace)
    switch = thinking_switch(trace)
    parser = trace.reasoning_parser
    evidence = [in_message(reasoning.field, reasoning.text), in_raw(trace, Span(0, len(trace.parse.raw)))]
    if prompt is not None:
        evidence.append(in_prompt(prompt, Span(max(0, len(prompt.text) - 60), len(prompt.text))))
    yield Report(
        title="The answer was taken for reasoning: content is null."
        if end is not None
        else "The answer may have been taken for reasoning: content is null.",
        detail=f"All {len(reasoning.text)} characters of the output are in `{reasoning.field}`. The raw output "
        f"contains no reasoning marker, and {_tail(end)}"
        + (f". The reasoning parser is `{parser}`, which starts in reasoning {_unless(parser)}." if parser else "."),
        evidence=tuple(evidence),
        fix=_steps(
            trace,
            think_less(trace, at_start(trace, switch)),
        ),
        certainty=certainty if _is_prompt_known(trace) else Certainty.INFERRED,
        severity=_severity(trace),
    )


def _unless(parser: str) -> str:
    return (
        "regardless of the request" if parser in TABLES.parsers_ignoring_switch else "unless the request turns it off"
    )


def _steps(trace: Trace, report_it: Step) -> tuple[Step, ...]:
    """Return what helps: to tell the parser, or only another parser where this one cannot be determined."""
    parser = trace.reasoning_parser
    return (_OTHER_PARSER,) if parser in TABLES.parsers_ignoring_switch else (report_it, _OTHER_PARSER)


def _tail(end: str | None) -> str:
    if end is None:
        return "the prompt, which would show whether a reasoning block was open, is not known"
    return f"the prompt ends with {end[-40:]!r}: no reasoning block was open"


def _severity(trace: Trace) -> Severity | None:
    """Say how bad it is by what is known of the prompt: without it, all of the output may be reasoning."""
    if _is_prompt_known(trace):
        return None
    return Severity.NOTE if trace.local_prompt is None else Severity.WARNING


def _is_prompt_known(trace: Trace) -> bool:
    """Return whether the prompt that the model read is known, or its end, which is what counts here."""
    return trace.prompt is not None or bool(trace.prompt_tail)


def _partly(trace: Trace, certainty: Certainty) -> Iterator[Report]:
    """Report text of the answer, such as words before a call, that is in reasoning."""
    assert trace.parse is not None
    assert trace.chat is not None
    reasoning = reasoning_of(trace.chat.message)
    if reasoning is None or (prompt_end(trace) is None and why_cut(trace) is not None):
        return
    moved = [
        span
        for segment in trace.parse.parsed.segments
        if segment.kind is SegmentKind.CONTENT
        for span, fate in fates_within(trace, segment)
        if fate is Fate.REASONING and trace.parse.raw[span.start : span.stop].strip()
    ]
    if not moved:
        return
    count = sum(stop - start for start, stop in moved)
    end = prompt_end(trace)
    verb = "stand" if count > 1 else "stands"
    yield Report(
        title=f"{counted(count, 'character')} of the answer {verb if end else 'may be'} in reasoning.",
        detail=f"`{reasoning.field}` contains text from outside every reasoning block, from character "
        f"{moved[0].start}: {trace.parse.raw[moved[0].start : moved[0].stop][:80]!r}. "
        + ("The prompt is not known." if end is None else f"The prompt ends with {end[-40:]!r}."),
        evidence=(*(in_raw(trace, span) for span in moved), in_message(reasoning.field, reasoning.text)),
        fix=_steps(trace, think_less(trace, " where the model does not think")),
        certainty=certainty if _is_prompt_known(trace) else Certainty.INFERRED,
        severity=_severity(trace),
    )


def _swallowed(trace: Trace) -> Reasoning | None:
    """Return the reasoning that is all of the raw output, if content is absent."""
    if trace.chat is None or trace.parse is None or (content_of(trace.chat.message) or "").strip():
        return None
    reasoning = reasoning_of(trace.chat.message)
    raw = trace.parse.raw
    if reasoning is None or not reasoning.text.strip() or _contains_marker(raw):
        return None
    if prompt_end(trace) is None and why_cut(trace) is not None:
        return None
    segments = trace.parse.parsed.segments
    if not any(s.kind is SegmentKind.CONTENT and raw[s.char_span.start : s.char_span.stop].strip() for s in segments):
        return None
    ends = [segment for segment in segments if segment.kind is SegmentKind.END]
    answer = _cut_end(raw, ends, end_texts(trace))
    return reasoning if answer.strip() == reasoning.text.strip() else None


def _contains_marker(raw: str) -> bool:
    return any(pair.opener in raw or pair.closer in raw for pair in TABLES.reasoning_pairs)


def _cut_end(raw: str, ends: list[Segment], texts: tuple[str, ...]) -> str:
    if ends and ends[-1].char_span.stop == len(raw):
        raw = raw[: ends[-1].char_span.start]
    for text in texts:
        raw = raw.removesuffix(text)
    return raw


def _switched_off(trace: Trace, _: Finding) -> str:
    return f"thinking switched off by {next(iter(think_less(trace).request), 'nothing').rpartition('.')[2]}"


def _turn_thinking_off(trace: Trace, _: Finding) -> JSONObject:
    return applied(trace.request.body, think_less(trace))


RULE: Rule = TraceRule(
    code="PD408",
    name="answer-as-reasoning",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.COMPARISON,
    threads=("vllm-project/vllm#53284", "vllm-project/vllm#31581", "vllm-project/vllm#17357"),
    explains=("PD413", "PD401"),
    fixes=(RequestFix(_switched_off, _turn_thinking_off),),
)
