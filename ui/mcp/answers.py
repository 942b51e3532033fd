"""What a tool answers: a few lines to read, the same as a small document, and what to ask next."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from prompt_debugger.core.base.types import JSON, Finding, JSONObject, Trace
from prompt_debugger.core.diagnose.trace_queries import comparison
from prompt_debugger.core.report import parse_to_json, redact_json, redact_text
from prompt_debugger.core.tools.fixes.offered import OfferedFix, fixes_of
from prompt_debugger.core.tools.fixes.try_fixes import Experiment
from prompt_debugger.ui.present.offered_fixes import can_try, proof_of
from prompt_debugger.ui.present.words import shortened
from prompt_debugger.ui.report import share_trace

_MAX_FINDINGS = 12
_MAX_CALLS = 12
_MAX_CHARS = 300  # of a text within an answer


class Answer(NamedTuple):
    """What a tool returns: a text for a reader, and the same for a program."""

    text: str
    document: JSONObject


def answer(lines: list[str], document: JSONObject) -> Answer:
    """Return an answer from which secrets are taken out."""
    clean = redact_json(document)
    assert isinstance(clean, dict)
    return Answer(redact_text("\n".join(lines)), clean)


def trace_answer(trace: Trace, handle: str, *, lead: str = "", more: Mapping[str, JSON] | None = None) -> Answer:
    """Return what there is to say of a run."""
    fixes = fixes_of(trace)
    calls = _calls(trace)
    findings: list[JSON] = [_finding(one, fixes.get(one.code), trace) for one in trace.findings]
    verdict: JSONObject | None = None
    if trace.verdict is not None:
        verdict = {
            "sentence": trace.verdict.sentence,
            "stage": None if trace.verdict.stage is None else trace.verdict.stage.value,
            "dropped_calls": trace.verdict.dropped_calls,
            "altered_calls": trace.verdict.altered_calls,
            "invented_calls": trace.verdict.invented_calls,
        }
    lines = [lead] if lead else []
    lines += [] if lead.endswith(_sentence(trace)) else [_sentence(trace)]
    if not calls and comparison(trace) is not None:
        lines.append("No call was written in the raw output, so none was lost.")
    lines += [f"Call written: {one['name']} ({one['outcome']}) {one['arguments']}" for one in calls]
    lines += finding_lines(trace.findings)
    lines += [f"Note: {shortened(note, _MAX_CHARS)}" for note in trace.notes]
    tryable = [code for code, fix in fixes.items() if _is_tryable(fix, trace)]
    lines.append(_next_words(trace, handle, tryable))
    written: list[JSON] = [dict(one) for one in calls]
    return answer(
        lines, {"handle": handle, "verdict": verdict, "findings": findings, "calls": written, **dict(more or {})}
    )


def tried_lines(made: Experiment, code: str, before: Trace, *, worked: bool) -> list[str]:
    """Return what a change did: what it is, whether the finding is gone, what else came, and both verdicts."""
    plan, after = made.plan, made.traces[-1]
    lines = [f"Tried: {plan.name}. {proof_of(code, before, made, worked=worked).sentence}"]
    lines += [f"Changed: {json.dumps(one, ensure_ascii=False)}" for one in plan.patch]
    lines += [f"Server started with: {plan.command}"] if plan.command else []
    lines += [f"Before: {_sentence(before)}", f"Now: {_sentence(after)}"]
    if before.chat is not None and after.chat is not None and before.chat.message == after.chat.message:
        lines.append("The message is the same as before.")
    return lines


def tried_report(lines: list[str], before: Trace) -> str:
    """Return a report on a fault and its fix: what was tried, then the run that has the fault."""
    quoted = redact_text("\n".join(f"- {line}" for line in lines))
    return f"## What was tried\n\n{quoted}\n\n## The run without it\n\n{share_trace(before).markdown}"


def finding_lines(findings: tuple[Finding, ...]) -> Iterator[str]:
    """Yield a line for each finding, worst first."""
    for one in findings[:_MAX_FINDINGS]:
        sure = "" if one.certainty.value == "observed" else " (inferred)"
        follows = f" Follows from {one.follows}." if one.follows else ""
        yield f"{one.code} {one.severity.value}{sure}: {one.title}{follows}" + (f" Fix: {one.fix}" if one.fix else "")
    if len(findings) > _MAX_FINDINGS:
        yield f"… and {len(findings) - _MAX_FINDINGS} more findings."


def _sentence(trace: Trace) -> str:
    return "No verdict." if trace.verdict is None else trace.verdict.sentence


def finding_records(findings: Iterable[Finding]) -> list[JSON]:
    """Return findings that no run shows, for a program."""
    return [{"code": one.code, "title": one.title, "fix": one.fix} for one in findings]


def _next_words(trace: Trace, handle: str, tryable: list[str]) -> str:
    words = f'Kept as handle "{handle}": `more` shows its parts, such as `report` for an issue; `explain` a finding.'
    if tryable and trace.server is not None:
        return f"{words} `try_fix` can try {', '.join(tryable)}."
    if tryable:
        return f"{words} No server was asked: `run` the request, then `try_fix` can try a change."
    return words


def _is_tryable(fix: OfferedFix, trace: Trace) -> bool:
    return can_try(fix, trace) or (trace.server is None and fix.kind == "request")


def _finding(finding: Finding, fix: OfferedFix | None, trace: Trace) -> JSONObject:
    change: JSONObject | None = None
    if fix is not None:
        change = {
            "name": fix.name,
            "kind": fix.kind,
            "patch": [dict(one) for one in fix.patch],
            "command": fix.command,
            "can_try": can_try(fix, trace),
        }
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "stage": finding.stage.value,
        "certainty": finding.certainty.value,
        "title": finding.title,
        "fix": finding.fix,
        "follows": finding.follows,
        "change": change,
    }


def _calls(trace: Trace) -> list[dict[str, str]]:
    if trace.parse is None:
        return []
    return call_records(parse_to_json(trace.parse))


def call_records(document: JSONObject) -> list[dict[str, str]]:
    """Return the calls of a `parse` document, arguments shortened."""
    calls = document.get("calls")
    return [
        {
            "name": str(one.get("name")),
            "outcome": str(one.get("outcome")),
            "arguments": shortened(str(one.get("arguments")), _MAX_CHARS),
        }
        for one in (calls if isinstance(calls, list) else [])[:_MAX_CALLS]
        if isinstance(one, dict)
    ]
