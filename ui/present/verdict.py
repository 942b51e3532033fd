"""The verdict strip: idle, running, done, stopped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from prompt_debugger.core.base.account import count_calls
from prompt_debugger.core.base.text import capitalized
from prompt_debugger.core.base.types import (
    JSON,
    CallOutcome,
    Conclusion,
    Fate,
    Finding,
    JSONObject,
    Severity,
    Stage,
    Trace,
    Verdict,
)
from prompt_debugger.core.report import ending_name, error_of_end, why_unfinished
from prompt_debugger.core.tools.fixes.margin import asks_for_margin, margin_of_prose
from prompt_debugger.core.tools.fixes.offered import fixes_of
from prompt_debugger.ui.present.chains import chain_of
from prompt_debugger.ui.present.findings import evidence_to_json
from prompt_debugger.ui.present.offered_fixes import can_try, end_in_short
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.words import as_sentence

_PANELS = {Stage.REQUEST: "findings", Stage.RENDER: "render", Stage.COMPLETE: "complete", Stage.PARSE: "parse"}

_NOTED_S = 3.0  # from when on a part of the time is worth a word
_OF_CALLS = (Stage.PARSE, Stage.CONTRACT)  # a verdict about one of these speaks of the calls
_BADGES = {
    Conclusion.FAULT: "FAULT FOUND",
    Conclusion.NOTHING_LOST: "NOTHING LOST",
    Conclusion.NO_FAULT: "NO FAULT FOUND",
    Conclusion.UNKNOWN: "? UNKNOWN",
    Conclusion.UNCHECKED: "? NOT CHECKED",
}


def verdict_strip(state: str, badge: str, sentence: str, **changes: JSON) -> str:
    """Return the payload of the verdict strip.

    Args:
        state: `idle`, `recorded` (a worked case as it once ran), `running`, `done`, `stopped` or `error`.
        badge: One or two words, upper case.
        sentence: What there is to read.
        **changes: `tone`, `cause`, `detail`, `tag`, `log`, `place`, `evidence`, `open`, `fraction`, `quote`, `step`,
            `proof`, `asks_margin`, `bare` (panels that have nothing to show), `run`.
    """
    strip: JSONObject = {
        "state": state,
        "badge": badge,
        "sentence": sentence,
        "tone": "neutral",
        "cause": [],
        "detail": "",
        "tag": None,
        "log": "",
        "place": None,
        "evidence": None,
        "open": None,
        "fraction": None,
        "quote": "",
        "step": None,
        "proof": None,
        "asks_margin": False,
        "bare": [],
        "run": 0,
    }
    return pack_payload({**strip, **changes})


def idle_payload(story: str = "") -> str:
    """Return the strip before the first run; `story` says what the loaded case shows."""
    return verdict_strip(
        "idle", "READY", "Press Run for this example, or paste your own request: JSON, curl or Python.", detail=story
    )


def running_payload(
    sentence: str, *, run: int, fraction: float | None = None, elapsed_s: float = 0.0, waiting_s: float = 0.0
) -> str:
    """Return the strip of a run under way; `waiting_s` is since the request began that it waits for."""
    detail = f"{elapsed_s:.0f} s" if elapsed_s >= 1 else ""
    if waiting_s >= _NOTED_S and elapsed_s - waiting_s >= _NOTED_S:
        detail += f", {waiting_s:.0f} s of them in this request"
    return verdict_strip("running", "RUNNING", sentence, fraction=fraction, detail=detail, run=run)


def stopped_payload(*, run: int = 0, has_found: bool = True, bare: Sequence[JSON] = (), doing: str = "") -> str:
    """Return the strip after Stop; the panels in `bare` have nothing to show."""
    rest = "What had arrived is shown below." if has_found else "Nothing had arrived yet."
    detail = f"It was stopped at this step: {doing.rstrip('.')}." if doing else ""
    sentence = f"Stopped before the end. {rest}"
    return verdict_strip("stopped", "STOPPED", sentence, detail=detail, bare=[*bare], run=run)


def bare_panels(trace: Trace, *, has_text: bool = False) -> list[JSON]:
    """Return the panels that have nothing to show for a run without a verdict, whose answer may have begun to come."""
    has_answer = has_text or any((trace.raw, trace.chat, trace.chat_stream))
    is_bare = {"complete": not has_answer, "parse": trace.parse is None, "findings": trace.verdict is None}
    return [panel for panel, nothing in is_bare.items() if nothing]


def verdict_payload(trace: Trace, *, run: int = 0) -> str:
    """Return the strip of a finished run."""
    verdict = trace.verdict
    if verdict is None and (ended := error_of_end(trace)) is not None:
        where, words = ended
        return verdict_strip(
            "done", (where or "error").upper(), as_sentence(words), tone="error", bare=bare_panels(trace), run=run
        )
    if verdict is None and trace.server is None and trace.local_prompt is not None:  # a run asks its server before
        return verdict_strip("done", "NO SERVER", "Rendered, not run: there was no server.", open="render", run=run)
    if verdict is None:
        badge = "STOPPED" if ending_name(trace) == "stopped" else "NO VERDICT"
        return verdict_strip("done", badge, why_unfinished(trace), tone="warning", bare=bare_panels(trace), run=run)
    badge, tone = _outcome(trace, verdict), _tone(verdict, trace.findings)
    margin = margin_of_prose(trace)
    result = read_result(trace, verdict)
    return verdict_strip(
        "done",
        badge,
        result.sentence,
        tone=tone,
        cause=[*result.cause],
        step=next_step(trace, verdict),
        proof=_proof(trace.findings),
        evidence=_first_evidence(verdict, trace.findings),
        open=_panel(trace, verdict),
        quote=verdict.sentence,
        detail="" if margin is None else f"No call was written. {margin.sentence}",
        asks_margin=asks_for_margin(trace),
        run=run,
    )


def _proof(findings: tuple[Finding, ...]) -> JSON:
    """Return the fix that was tried, as far as a report has one: its end in short, and whole."""
    proof = next((finding.proof for finding in findings if finding.proof is not None), None)
    return None if proof is None else {"short": end_in_short(proof), "sentence": proof.sentence, "worked": proof.worked}


def worst_severity(findings: tuple[Finding, ...]) -> Severity | None:
    """Return the worst severity among findings; `None` if there are none."""
    order = tuple(Severity)
    return min((finding.severity for finding in findings), key=order.index, default=None)


def _outcome(trace: Trace, verdict: Verdict) -> str:
    """Return what came out, in a word or two; which stage is guilty is for the sentence and the cards to say."""
    is_parsers_fault = verdict.stage is Stage.PARSE  # a server that could not read its model's output took the request
    if trace.refusal is not None and trace.chat is None and not verdict.dropped_calls and not is_parsers_fault:
        return "REFUSED"
    has_wrong_calls = bool(verdict.dropped_calls or verdict.invented_calls or verdict.altered_calls)
    if has_wrong_calls and verdict.stage is not None and verdict.stage not in _OF_CALLS:  # they follow from it
        return "CUT" if _has_cut(trace) else _BADGES[verdict.conclusion]
    if verdict.dropped_calls:
        return "DROPPED"
    if verdict.invented_calls:
        return "INVENTED"
    if verdict.altered_calls:
        return "ALTERED"
    if verdict.stage is None or trace.parse is None:
        return _BADGES[verdict.conclusion]
    ledger = trace.parse.ledger
    if _has_cut(trace):
        return "CUT"
    is_compared = ledger.comparability is not None and ledger.comparability.certainty is not None
    has_loss = any(entry.fate is Fate.LOST for entry in ledger.entries)
    return "LOST" if is_compared and has_loss else _BADGES[verdict.conclusion]


def _has_cut(trace: Trace) -> bool:
    return trace.parse is not None and any(match.outcome is CallOutcome.CUT for match in trace.parse.ledger.matches)


def _tone(verdict: Verdict, findings: tuple[Finding, ...]) -> str:
    worst = worst_severity(findings)
    if verdict.dropped_calls or verdict.invented_calls or verdict.altered_calls:
        return "error"
    if verdict.stage is not None or verdict.conclusion is Conclusion.FAULT:
        return "error" if worst is Severity.ERROR else "warning"
    if worst is Severity.WARNING:
        return "warning"
    return "success" if verdict.conclusion is Conclusion.NOTHING_LOST else "neutral"


def _panel(trace: Trace, verdict: Verdict) -> str:
    if verdict.stage is None:
        is_output_alone = trace.raw is not None and trace.chat is None  # a note on it says less than its picture
        says_more = worst_severity(trace.findings) not in ((None, Severity.NOTE) if is_output_alone else (None,))
        return "findings" if says_more else "parse"
    panel = _PANELS.get(verdict.stage, "findings")
    is_empty = trace.raw is None and (trace.refusal is not None or panel == "parse")  # the ledger has nothing to show
    return "findings" if is_empty and trace.findings else panel


def _first_evidence(verdict: Verdict, findings: tuple[Finding, ...]) -> JSON:
    """Return the most telling evidence: of the guilty stage if it has any."""
    guilty = [finding for finding in findings if finding.stage is verdict.stage]
    for finding in (*guilty, *findings):
        if finding.evidence:
            return evidence_to_json(finding.evidence[0])
    return None


_NOTHING_LOST = "Nothing lost: "
_CAUSE = " Cause: "
_NOT_CHECKED = " Not checked: "
_WARNING = " Warning: "
_UNSETTLED = (Conclusion.UNKNOWN, Conclusion.UNCHECKED)


class Result(NamedTuple):
    """A verdict in two lines: what came out, and the findings that led to it, root first, or what was counted."""

    sentence: str
    cause: tuple[JSON, ...] = ()


def read_result(trace: Trace, verdict: Verdict) -> Result:
    """Return the verdict as a result and the chain behind it."""
    if verdict.conclusion is Conclusion.NOTHING_LOST and verdict.sentence.startswith(_NOTHING_LOST):
        rest = verdict.sentence.removeprefix(_NOTHING_LOST)
        return Result(f"{_came_back(trace)} Nothing lost.", ({"text": capitalized(rest), "code": None},))
    guilty = guilty_finding(trace, verdict)
    if guilty is None:
        return _result_and_notes(verdict.sentence, trace.notes)
    causes = chain_of(guilty, trace.findings)[:-1]
    if causes:
        sentence = verdict.sentence.partition(_CAUSE)[0]
        return Result(sentence, tuple({"text": one.title.rstrip("."), "code": one.code} for one in causes))
    cause = _cause_of(guilty.detail, verdict.sentence)
    return Result(verdict.sentence, ({"text": cause, "code": None},) if cause else ())


def _cause_of(detail: str, sentence: str) -> str:
    """Return the first sentence of a detail that says more than the result, as the words of a server do not again."""
    parts = [part for part in re.split(r"(?<=[.!?])\s+|\n", detail) if part]
    news = (part for part in parts if (part.partition(": ")[2] or part).rstrip(".") not in sentence)
    return next(news, parts[0] if parts else "").rstrip(".") + "." if parts else ""


def _result_and_notes(sentence: str, notes: tuple[str, ...]) -> Result:
    """Return what came out, and in the second line how it was found out and what was not checked."""
    noted = " ".join(notes)
    result = sentence.removesuffix(noted).rstrip() if noted else sentence
    result, rest = _before(result, _WARNING, _NOT_CHECKED)
    if not result:
        return Result(sentence)
    second = " ".join(part for part in (rest, noted if noted in sentence else "") if part)
    return Result(result, ({"text": second, "code": None},) if second else ())


def _before(sentence: str, *beginnings: str) -> tuple[str, str]:
    """Return a text up to the first of some words that is in it, and what follows from there."""
    at = min((at for beginning in beginnings if (at := sentence.find(beginning)) >= 0), default=len(sentence))
    return sentence[:at], sentence[at:].strip()


def guilty_finding(trace: Trace, verdict: Verdict) -> Finding | None:
    """Return the finding that the verdict's sentence begins with; `None` where nothing is at fault."""
    if verdict.conclusion is not Conclusion.FAULT:
        return None
    return next((finding for finding in trace.findings if verdict.sentence.startswith(finding.title)), None)


def next_step(trace: Trace, verdict: Verdict) -> JSONObject | None:
    """Return what the button in the verdict does: `kind`, `label`, and the finding's code where it is about one.

    Kinds: `try` a fix, `show` one that cannot be tried here, `ask` the model again, ask the `parsers` about an output
    that stands alone, or of a server that does not say which one reads it, name the `tokenizer` of a server that shows
    neither its prompt nor its output.
    """
    guilty = guilty_finding(trace, verdict)
    if guilty is not None:
        fixes = fixes_of(trace)
        if guilty.code in fixes:
            can = can_try(fixes[guilty.code], trace)
            return _step("try", "Try the fix", guilty.code) if can else _step("show", "Show the fix", guilty.code)
        if _hides_its_parser(trace):
            return _step("parsers", "Test every parser")
        return _step("show", "Show the fix", guilty.code) if guilty.fix else None
    if verdict.conclusion in _UNSETTLED and lacks_tokenizer(trace):
        return _step("tokenizer", "Name its tokenizer")
    if verdict.conclusion not in _UNSETTLED or trace.server is not None:
        return None
    if trace.request.body.get("messages") and (trace.chat is not None or trace.raw is not None):
        return _step("ask", "Ask the model again with ids")
    return _step("parsers", "Test every parser") if trace.parse is not None and trace.chat is None else None


def lacks_tokenizer(trace: Trace) -> bool:
    """Return whether a server answered whose prompt and output stay unknown until someone names its tokenizer."""
    is_answered = trace.server is not None and trace.chat is not None
    return is_answered and trace.prompt is None and trace.local_prompt is None and trace.raw is None


def _step(kind: str, label: str, code: str | None = None) -> JSONObject:
    return {"kind": kind, "label": label, "code": code}


def _hides_its_parser(trace: Trace) -> bool:
    """Return whether calls came out wrong of a server that does not tell which parser reads them."""
    server, verdict = trace.server, trace.verdict
    has_loss = verdict is not None and bool(verdict.dropped_calls or verdict.altered_calls)
    return has_loss and server is not None and not server.is_lab and server.tool_parser is None


def _came_back(trace: Trace) -> str:
    """Say how many calls were written and returned."""
    assert trace.parse is not None, "the output was not read, so nothing can be called lost"
    calls = count_calls(trace.parse.ledger)
    if not calls.written and not calls.returned:
        return "No call was written; the answer came back complete."
    drafts = f", {calls.draft:,} a draft inside reasoning" if calls.draft else ""
    return f"{calls.written:,} call{'' if calls.written == 1 else 's'} written{drafts}, {calls.returned:,} returned."
