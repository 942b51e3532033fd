"""The verdict as a person reads it at a glance: the result, the chain of its causes, and what to do next."""

from __future__ import annotations

from typing import NamedTuple

from prompt_debugger.core.base.account import count_calls
from prompt_debugger.core.base.types import JSON, Conclusion, Finding, JSONObject, Trace, Verdict
from prompt_debugger.core.tools.fixes.offered import fixes_of
from prompt_debugger.ui.present.chains import chain_of
from prompt_debugger.ui.present.offered_fixes import can_try

_NOTHING_LOST = "Nothing lost: "
_CAUSE = " Cause: "
_UNSETTLED = (Conclusion.UNKNOWN, Conclusion.UNCHECKED)


class Result(NamedTuple):
    """A verdict in two lines.

    Attributes:
        sentence: What came out.
        cause: The findings that led to it, root first, each with its code; what was counted where nothing broke.
    """

    sentence: str
    cause: tuple[JSON, ...] = ()


def read_result(trace: Trace, verdict: Verdict) -> Result:
    """Return the verdict as a result and the chain behind it."""
    if verdict.conclusion is Conclusion.NOTHING_LOST and verdict.sentence.startswith(_NOTHING_LOST):
        rest = verdict.sentence.removeprefix(_NOTHING_LOST)
        return Result(f"{_came_back(trace)} Nothing lost.", ({"text": rest[:1].upper() + rest[1:], "code": None},))
    guilty = guilty_finding(trace, verdict)
    if guilty is None:
        return Result(verdict.sentence)
    causes = chain_of(guilty, trace.findings)[:-1]
    if causes:
        sentence = verdict.sentence.partition(_CAUSE)[0]
        return Result(sentence, tuple({"text": one.title.rstrip("."), "code": one.code} for one in causes))
    return Result(verdict.sentence, ({"text": _first_sentence(guilty.detail), "code": None},) if guilty.detail else ())


def guilty_finding(trace: Trace, verdict: Verdict) -> Finding | None:
    """Return the finding that the verdict's sentence begins with; `None` where no stage is guilty."""
    if verdict.stage is None:
        return None
    return next((finding for finding in trace.findings if verdict.sentence.startswith(finding.title)), None)


def next_step(trace: Trace, verdict: Verdict) -> JSONObject | None:
    """Return what the button in the verdict does: `kind`, `label`, and the finding's code where it is about one.

    Kinds: `try` a fix, `show` one that cannot be tried here, `ask` the model again, ask the `parsers` about an output
    that stands alone, or of a server that does not say which one reads it.
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
    if verdict.conclusion not in _UNSETTLED or trace.server is not None:
        return None
    if trace.request.body.get("messages") and (trace.chat is not None or trace.raw is not None):
        return _step("ask", "Ask the model again with ids")
    return _step("parsers", "Test every parser") if trace.parse is not None and trace.chat is None else None


def _step(kind: str, label: str, code: str | None = None) -> JSONObject:
    return {"kind": kind, "label": label, "code": code}


def _hides_its_parser(trace: Trace) -> bool:
    """Say whether calls came out wrong of a server that does not tell which parser reads them."""
    server, verdict = trace.server, trace.verdict
    has_loss = verdict is not None and bool(verdict.dropped_calls or verdict.altered_calls)
    return has_loss and server is not None and not server.is_lab and server.tool_parser is None


def _came_back(trace: Trace) -> str:
    """Say how many calls were written and returned."""
    assert trace.parse is not None, "the output was not read, so nothing can be called lost"
    calls = count_calls(trace.parse.ledger)
    if not calls.written and not calls.returned:
        return "No call was written; the answer came back whole."
    drafts = f", {calls.draft:,} a draft inside reasoning" if calls.draft else ""
    return f"{calls.written:,} call{'' if calls.written == 1 else 's'} written{drafts}, {calls.returned:,} returned."


def _first_sentence(text: str) -> str:
    return text.split(". ", 1)[0].split("\n", 1)[0].rstrip(".") + "."
