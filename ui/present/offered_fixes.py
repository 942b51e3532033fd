"""What would fix a finding, as the page draws it: each change of the request, and how trying it ended."""

from __future__ import annotations

import json
from collections.abc import Mapping

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.base.types import JSON, FixChange, FixProof, JSONObject, Severity, Trace
from prompt_debugger.core.tools.fixes.offered import OfferedFix, fixes_of
from prompt_debugger.core.tools.fixes.patch import steps_of, value_at
from prompt_debugger.core.tools.fixes.try_fixes import Experiment
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.words import as_sentence, count_of, shortened

MAX_CHANGES = 12
_MAX_VALUE = 300


def fix_views(trace: Trace) -> Mapping[str, JSONObject]:
    """Return what there is to draw of each finding's fix, by the finding's code."""
    return {code: fix_view(fix, trace) for code, fix in fixes_of(trace).items()}


def can_try(fix: OfferedFix, trace: Trace) -> bool:
    """Return whether a fix can be tried where a run was made: flags of a server that is not ours cannot be changed."""
    is_lab = trace.server is not None and trace.server.is_lab
    return fix.kind == "request" or (fix.tool_parser is not None and is_lab)


def fix_view(fix: OfferedFix, trace: Trace) -> JSONObject:
    """Return what there is to draw of a fix."""
    changes: list[JSON] = [change_view(operation, trace.request.body) for operation in fix.patch[:MAX_CHANGES]]
    return {
        "name": fix.name,
        "kind": fix.kind,
        "command": fix.command,
        "source": fix.client or fix.diff,
        "changes": changes,
        "more": max(0, len(fix.patch) - MAX_CHANGES),
        "can_try": can_try(fix, trace),
    }


def read_change(operation: JSONObject, body: JSONObject) -> FixChange:
    """Return one change of a request: the field, what is there, and what is to."""
    place: JSON = body
    field = ""
    for step in steps_of(operation):
        is_index = isinstance(place, list)
        field += f"[{step}]" if is_index else f".{step}" if field else step
        place = value_at(place, step)
    had, gets = operation.get("op") != "add", operation.get("op") != "remove"
    return FixChange(field, _text(place) if had else None, _text(operation.get("value")) if gets else None)


def change_view(operation: JSONObject, body: JSONObject) -> JSONObject:
    """Return the same as a view takes it."""
    change = read_change(operation, body)
    return {"field": change.field, "before": change.before, "after": change.after}


def trial_payload(code: str, state: str, sentence: str, hint: str = "", ended: JSONObject | None = None) -> str:
    """Return what trying a fix came to.

    Args:
        code: Of the finding.
        state: `running`, `worked`, `failed` or `error`.
        sentence: How it goes, or how it ended.
        hint: What to do.
        ended: The end of a trial, once there is one: `short`, in few words; `calls`, how many were written and
            returned; `applies`, whether the request is what the fix changes; `revealed`, the error to go on with.
    """
    reported: JSONObject = {"code": code, "state": state, "sentence": as_sentence(sentence), "hint": hint}
    unknown: JSONObject = {"short": "", "calls": None, "applies": False, "revealed": ""}
    return pack_payload({"kind": "offered", **reported, **(ended or unknown)})


def trial_error_payload(code: str, error: DebuggerError) -> str:
    """Return that a fix could not be tried, and why."""
    return trial_payload(code, "error", f"It could not be tested: {error.message}", error.hint)


def tried_payload(code: str, first: Trace, experiment: Experiment, *, worked: bool) -> str:
    """Return how trying a fix ended, as `proof_of` has it."""
    ended = proof_of(code, first, experiment, worked=worked)
    offered = fixes_of(first).get(code)
    applies = offered is not None and offered.kind == "request"
    end: JSONObject = {
        "short": end_in_short(ended),
        "calls": [experiment.written, experiment.returned],
        "applies": applies,
        "revealed": _revealed(code, first, experiment) if applies and not worked else "",
    }
    return trial_payload(code, "worked" if worked else "failed", ended.sentence, ended=end)


def _revealed(code: str, first: Trace, experiment: Experiment) -> str:
    """Return the error that has taken the place of the one of that code; "" where none has."""
    if code in experiment.codes:
        return ""
    before = {finding.code for finding in first.findings}
    found = (finding for trace in experiment.traces for finding in trace.findings)
    return next((f.code for f in found if f.severity is Severity.ERROR and f.code not in before), "")


def proof_of(code: str, first: Trace, experiment: Experiment, *, worked: bool) -> FixProof:
    """Return how trying a fix ended."""
    before = {finding.code for finding in first.findings}
    new = {
        f"{f.code} {f.name}": f.severity for trace in experiment.traces for f in trace.findings if f.code not in before
    }
    errors = [name for name, severity in new.items() if severity is Severity.ERROR]
    others = [name for name, severity in new.items() if severity is not Severity.ERROR]
    calls = f"{experiment.returned} of {count_of(experiment.written, 'call')} returned"
    if worked and errors:
        hidden = f"{', '.join(errors)} is now visible; its cause was there before"
        reported = f"Tested on the same server, one run: {code} is gone; {hidden}; {calls}"
    elif worked:
        reported = f"Tested on the same server, one run: {code} is gone and there is no new error; {calls}"
    elif code in experiment.codes:
        reported = f"Tested on the same server, one run: {code} is still there; {calls}"
    else:
        reported = f"Tested on the same server, one run: {code} is gone, but there is a new error: {', '.join(errors)}"
    also = f". Also new: {', '.join(others)}" if others else ""
    return FixProof("", f"{reported}{also}.", worked, written=experiment.written, returned=experiment.returned)


def end_in_short(proof: FixProof) -> str:
    """Return in few words how trying a fix ended."""
    _, _, outcome = proof.sentence.partition(": ")
    if not proof.worked:
        return f"Not fixed: {outcome}" if " is still there" in outcome else outcome
    if proof.written and proof.returned is not None:
        return f"Fixed: {proof.returned} of {count_of(proof.written, 'call')} returned."
    return f"Fixed: {outcome}"


def _text(value: JSON) -> str:
    return shortened(json.dumps(value, ensure_ascii=False), _MAX_VALUE)
