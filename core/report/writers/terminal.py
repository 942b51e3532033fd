"""A trace as plain text for a terminal: verdict first, then the stages, then the findings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from prompt_debugger.core.base.account import outcomes_of_calls
from prompt_debugger.core.base.comparable import has_part_of_call, is_not_whole
from prompt_debugger.core.base.text import printable, visible_whitespace
from prompt_debugger.core.base.types import (
    Api,
    CallStatus,
    Fate,
    Finding,
    KwargSource,
    Parse,
    Prompt,
    Span,
    TemplateKwarg,
    Trace,
    VllmOutcome,
    count_special,
    forged_in,
)
from prompt_debugger.core.base.wire import endpoint_of
from prompt_debugger.core.report.counts import calls_words, characters_words
from prompt_debugger.core.report.readers import by_engine, matrix_lines, parsers_sentence
from prompt_debugger.core.report.unfinished import why_unfinished

_AS_TEXT = "PD463"  # a text that is a call, or a part of one
_MANY = 12  # parsers of several engines that are shown one by one
_UNASKED = (KwargSource.DEFAULT, KwargSource.TOKENIZER)  # of those, only what the template read is worth a line
_MARKS = {
    Fate.LOST: ("[LOST ", "]"),
    Fate.ALTERED: ("[ALTERED ", "]"),
}


def trace_to_terminal(trace: Trace, title_of: Callable[[str], str] = str) -> str:
    """Return the run as plain text; control characters in data are shown, never sent to the terminal."""
    return printable("\n".join(_lines(trace, title_of)) + "\n")


def prompt_to_terminal(prompt: Prompt, findings: tuple[Finding, ...] = ()) -> str:
    """Return a prompt as plain text with its token count, what was not read, and the findings."""
    lines = [prompt.text, "", _prompt_line(prompt)]
    if prompt.unread:
        lines.append("never read by the template: " + _line(", ".join(prompt.unread)))
    lines += [_kwarg_line(kwarg) for kwarg in prompt.kwargs if kwarg.read or kwarg.source not in _UNASKED]
    return printable("\n".join([*lines, *_findings(findings)]) + "\n")


def parse_to_terminal(
    parse: Parse, findings: tuple[Finding, ...] = (), notes: tuple[str, ...] = (), title_of: Callable[[str], str] = str
) -> str:
    """Return the census and the ledger of one raw output as plain text; the parsers of several engines as a matrix."""
    lines = [f"format {_line(parse.parsed.format)}", *_calls(parse, findings), "", *_ledger(parse)]
    is_matrix = len(parse.parsers) > _MANY and len(by_engine(parse.parsers)) > 1
    lines += ["", *map(_line, matrix_lines(parse, title_of))] if is_matrix else []
    for name, outcome in () if is_matrix else parse.parsers.items():
        made = outcome.error or f"{len(outcome.tool_calls)} calls, content {outcome.content!r}"
        words = outcome.words if isinstance(outcome, VllmOutcome) and not outcome.error else None
        lines.append(f"{_line(name)}: {_line(made)}" + (f" ({_line(words)})" if words else ""))
    noted = [f"note: {_line(note)}" for note in notes]
    return printable("\n".join([*lines, *noted, *_findings(findings)]) + "\n")


def finding_lines(finding: Finding) -> Iterator[str]:
    """Yield one finding, its place in the pipeline and its fix."""
    follows = f" (probably caused by {finding.follows})" if finding.follows else ""
    head = f"{finding.severity.value}[{_line(finding.code)} {_line(finding.name)}] {finding.stage.value}"
    yield f"{head}: {_line(finding.title)}{follows}"
    if finding.detail:
        yield f"    {_line(finding.detail)}"
    for item in finding.evidence[:3]:
        place = item.native_field or item.field or (_range(item.char_span) if item.char_span else "")
        quote = f" {visible_whitespace(printable(item.quote))!r}" if item.quote is not None else ""
        yield f"    in {_line(item.where)} {_line(place)}{quote}"
    if finding.fix:
        yield f"    fix: {_line(finding.fix)}"
    if finding.proof:
        yield f"    tried: {_line(finding.proof.words)}"


def _lines(trace: Trace, title_of: Callable[[str], str]) -> Iterator[str]:
    yield _line(trace.verdict.sentence if trace.verdict is not None else f"No verdict. {why_unfinished(trace)}")
    yield ""
    if trace.server is not None:
        server = trace.server
        parsers = ", ".join(part for part in (server.tool_parser, server.reasoning_parser) if part) or "unknown"
        yield "target    " + _line(
            f"{title_of(server.kind)} {server.version or ''} · {server.model or 'model unknown'} · parsers {parsers}"
        )
    if trace.api is not Api.CHAT:
        yield f"api       {trace.api}: POST {endpoint_of(trace.api)}"
    if trace.evidence is not None:
        yield f"evidence  {trace.evidence.value}"
    if trace.prompt is not None:
        yield f"render    {_prompt_line(trace.prompt)}"
    if trace.raw is not None:
        count = "" if trace.raw.token_ids is None else f"{len(trace.raw.token_ids)} tokens, "
        finish = _line(str(trace.raw.finish_reason))
        yield f"complete  {count}{len(trace.raw.text)} characters, finish_reason {finish}"
    if trace.parse is not None:
        yield "parse     " + "; ".join(
            _calls(trace.parse, trace.findings, is_whole=trace.raw is None or not is_not_whole(trace.raw))
        )
        yield ""
        yield from _ledger(trace.parse)
        yield from _readers(trace.parse)
    yield from _findings(trace.findings)


def _readers(parse: Parse) -> Iterator[str]:
    """Yield which other parsers read the calls that the raw output contains, if any were asked."""
    if parse.parsers:
        yield ""
        yield parsers_sentence(parse, parse.parsers)


def _findings(findings: tuple[Finding, ...]) -> Iterator[str]:
    for finding in findings:
        yield ""
        yield from finding_lines(finding)


def _prompt_line(prompt: Prompt) -> str:
    if prompt.tokens is None:
        return f"{len(prompt.text)} characters, tokens unknown (no tokenizer)"
    special = count_special(prompt.tokens)
    injected = len(forged_in(prompt.tokens))
    forged = f", {injected} written by request data" if injected else ""
    return f"{len(prompt.tokens)} tokens, {special} special{forged}"


def _kwarg_line(kwarg: TemplateKwarg) -> str:
    value = _line(json.dumps(kwarg.value, ensure_ascii=False))
    use = {True: "", False: ", never read", None: ""}[kwarg.read]
    source = kwarg.source.value.replace("_", " ") if kwarg.field is None else f"`{kwarg.field}`"
    return f"template variable {_line(kwarg.name)} = {value} from {_line(source)}{use}"


def _calls(parse: Parse, findings: Sequence[Finding], *, is_whole: bool = True) -> list[str]:
    if not parse.parsed.calls:
        is_begun = any(finding.code == _AS_TEXT for finding in findings)
        is_begun = is_begun or not is_whole or has_part_of_call(parse.raw)
        return [f"no tool call {'that could be read' if is_begun else 'in the raw output'}"]
    lines = []
    outcomes = outcomes_of_calls(parse)
    for index, call in enumerate(parse.parsed.calls):
        problem = "" if call.status is CallStatus.COMPLETE else f" [{call.status.value}: {_line(str(call.problem))}]"
        name = "without a name" if call.name is None else _line(call.name)
        call_id = "no id" if call.id is None else f"id {_line(call.id)}"
        known = "" if parse.ledger.comparability is None else f" · {outcomes[index].value}"
        lines.append(f"call {name} {_line(call.arguments)} · {call_id}{problem}{known}")
    return lines


def _ledger(parse: Parse) -> Iterator[str]:
    """Yield the raw output with lost and altered stretches marked, then the sum."""
    parts = []
    counts: dict[Fate, int] = {}
    for entry in parse.ledger.entries:
        start, stop = entry.char_span
        counts[entry.fate] = counts.get(entry.fate, 0) + stop - start
        before, after = _MARKS.get(entry.fate, ("", ""))
        parts.append(before + parse.raw[start:stop] + after)
    yield "raw: " + "".join(parts)
    yield "     " + ", ".join(f"{fate.value} {count}" for fate, count in counts.items())
    yield f"     {calls_words(parse.ledger)}; {characters_words(parse, parse.ledger)}"


def _line(text: str) -> str:
    """Return a text that must keep to its line: otherwise a server's words could forge lines of their own."""
    return printable(text, on_one_line=True)


def _range(span: Span) -> str:
    return f"characters {span.start}–{span.stop}"
