"""The stage cards: status and navigation at once, two or three figures each."""

from __future__ import annotations

from prompt_debugger.core.base.types import JSON, Conclusion, Finding, JSONObject, Severity, Stage, Trace, count_special
from prompt_debugger.core.report import calls_words, characters_words
from prompt_debugger.ui.present.chains import grouped
from prompt_debugger.ui.present.findings import evidence_to_json, summarize
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.verdict import worst_severity
from prompt_debugger.ui.present.words import count_of, joined, seconds

_WORDS = {
    "ok": "no problems found here",
    "guilty": "the guilty stage",
    "follows": "probably caused by an earlier fault",
    "note": "there is something to read",
    "idle": "has not run",
    "running": "is running",
    "unknown": "could not be checked",
}
_ORDER = (Stage.REQUEST, Stage.RENDER, Stage.COMPLETE, Stage.PARSE, Stage.CONTRACT)
_HINTS = {
    Stage.RENDER: "the prompt, token by token",
    Stage.COMPLETE: "what the model wrote",
    Stage.PARSE: "where each character went",
}
_OF_FINDINGS = "what is wrong, and the fix"
_ABSENT = {
    Stage.RENDER: "the prompt is unknown",
    Stage.COMPLETE: "no raw output",
    Stage.PARSE: "no raw output to read",
}


def stages_payload(trace: Trace, *, running: bool = False) -> str:
    """Return the payload of the stage cards."""
    cards: list[JSON] = [
        _card("render", "1 Render", Stage.RENDER, _render_figures(trace), trace, running=running),
        _card("complete", "2 Complete", Stage.COMPLETE, _complete_figures(trace), trace, running=running),
        _card("parse", "3 Parse", Stage.PARSE, _parse_figures(trace), trace, running=running),
        _findings_card(trace),
    ]
    return pack_payload({"cards": cards, "request": _request_card(trace)})


def _request_card(trace: Trace) -> JSONObject | None:
    """Return the card of a request that is guilty or contains an error; any other has none."""
    found = tuple(finding for finding in trace.findings if finding.stage is Stage.REQUEST)
    if trace.verdict is None or not found:
        return None
    if trace.verdict.stage is not Stage.REQUEST and worst_severity(found) is not Severity.ERROR:
        return None
    state = "guilty" if trace.verdict.stage is Stage.REQUEST else "note"
    place = next((evidence for finding in found for evidence in finding.evidence if evidence.where == "request"), None)
    return {
        "title": "Request",
        "state": state,
        "word": _WORDS[state],
        "figures": [summarize(found)],
        "evidence": None if place is None else evidence_to_json(place),
    }


def _card(opens: str, title: str, stage: Stage, figures: list[str], trace: Trace, *, running: bool) -> JSONObject:
    state = _state(stage, figures, trace, running=running)
    return {
        "opens": opens,
        "title": title,
        "state": state,
        "word": _WORDS[state],
        "figures": [*figures],
        "hint": "" if figures else _hint(stage, trace),
        "promise": _HINTS[stage],
    }


def _hint(stage: Stage, trace: Trace) -> str:
    """Return what a card without figures will show, or why it shows none once the run has ended."""
    if _has_no_answer(trace):
        return "there was no answer to parse" if stage is Stage.PARSE else _ABSENT[stage]
    return _HINTS[stage] if trace.verdict is None else _ABSENT[stage]


def _has_no_answer(trace: Trace) -> bool:
    return trace.refusal is not None and trace.chat is None


def _state(stage: Stage, figures: list[str], trace: Trace, *, running: bool) -> str:
    if trace.verdict is None:
        if figures:
            return "note" if not running else "running"
        return "running" if running else "idle"
    if not figures:
        return "unknown"
    found = [finding for finding in trace.findings if finding.stage is stage]
    guilty = trace.verdict.stage
    if guilty is stage:
        return "guilty"
    if guilty is not None and _ORDER.index(guilty) < _ORDER.index(stage):
        return "follows"
    if stage is Stage.RENDER and (trace.prompt is None or trace.prompt.source != "server"):
        return "unknown"
    if stage is Stage.PARSE and trace.verdict.conclusion in (Conclusion.UNKNOWN, Conclusion.UNCHECKED):
        return "unknown"
    return "note" if any(finding.severity is not Severity.NOTE for finding in found) else "ok"


def _render_figures(trace: Trace) -> list[str]:
    prompt = trace.prompt or trace.local_prompt
    if prompt is None:
        return []
    if prompt.tokens is None:
        size = count_of(len(prompt.text), "character")
    else:
        special = count_special(prompt.tokens)
        size = joined(count_of(len(prompt.tokens), "token"), f"{special:,} special")
    if trace.prompt_difference is not None:
        return [size, f"differs from local at token {trace.prompt_difference.first_token:,}"]
    if trace.prompt is None or trace.prompt.source == "local":
        return [size, "local render"]
    return [size, "no local render" if trace.local_prompt is None else "same as local"]


def _complete_figures(trace: Trace) -> list[str]:
    raw = trace.raw
    if raw is None:
        return ["no output", f"refused, {trace.refusal.label}"] if trace.refusal and _has_no_answer(trace) else []
    count = count_of(len(raw.text), "character") if raw.token_ids is None else count_of(len(raw.token_ids), "token")
    return [figure for figure in (joined(count, raw.finish_reason), joined(seconds(raw.elapsed_s))) if figure]


def _parse_figures(trace: Trace) -> list[str]:
    if trace.parse is None:
        return []
    ledger = trace.parse.ledger
    return [calls_words(ledger), characters_words(trace.parse, ledger)]


def _causes_words(findings: tuple[Finding, ...]) -> str:
    """Return how many findings explain themselves, and how many follow from those."""
    effects = len(findings) - len(grouped(findings))
    if not effects:
        return summarize(findings)
    return joined(count_of(len(findings) - effects, "cause"), count_of(effects, "effect"))


def _findings_card(trace: Trace) -> JSONObject:
    has_run = trace.verdict is not None
    severities = {finding.severity for finding in trace.findings}
    state = "idle"
    if has_run:
        state = "guilty" if Severity.ERROR in severities else "note" if severities else "ok"
    figures = [_causes_words(trace.findings)] if has_run and trace.findings else []
    if has_run and not trace.findings:
        figures = ["no problems found"]
    if state == "ok" and trace.verdict is not None and trace.verdict.conclusion is Conclusion.UNKNOWN:
        state, figures = "unknown", ["nothing found in the known parts"]
    word = "nothing found" if state == "ok" else _WORDS[state] if state == "idle" else summarize(trace.findings)
    return {
        "opens": "findings",
        "title": "Findings",
        "state": state,
        "word": word,
        "figures": [*figures],
        "hint": "" if figures else _OF_FINDINGS,
        "promise": _OF_FINDINGS,
    }
