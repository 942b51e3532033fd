"""One clear message for a run that could not be done: what happened, where, what to do."""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.errors import BackendError, DebuggerError, LabError, RequestError
from prompt_debugger.core.base.types import JSON
from prompt_debugger.ui.present.verdict import verdict_strip
from prompt_debugger.ui.present.words import as_sentence

_BADGES = {
    "RequestError": "REQUEST",
    "RenderError": "TEMPLATE",
    "BackendError": "SERVER",
    "LabError": "LAB",
    "EngineError": "PARSER HELPER",
    "LimitError": "LIMIT",
    "NoServerError": "NO SERVER",
}


_NO_KEY = (401, 403)
_NO_ANSWER = ("unreachable", "timeout")


def unserved_payload(error: DebuggerError, *, is_rendered: bool, why: str = "", run: int = 0) -> str:
    """Return the strip of a request that could not be run for want of a server; the error says what to do."""
    if why and not is_rendered:
        detail = f"Not run either: {as_sentence(error.message)} {error.hint}"
        return verdict_strip("error", _BADGES["RenderError"], why, tone="error", detail=detail, open="render", run=run)
    sentence = f"{'Rendered, not run' if is_rendered else 'Not run'}: {as_sentence(error.message)}"
    return verdict_strip("done", "NO SERVER", sentence, detail=f"{why} {error.hint}".strip(), open="render", run=run)


def error_payload(error: DebuggerError, *, run: int = 0, bare: Sequence[JSON] = ()) -> str:
    """Return the verdict strip of an error; the request stays as it is. The panels in `bare` have nothing to show."""
    place: JSON = None
    where = ""
    if isinstance(error, RequestError):
        if error.line is not None:
            place = {"line": error.line, "column": error.column or 1}
            where = f"Line {error.line}, column {error.column or 1}: "
        elif error.field:
            where = f"`{error.field}`: "
    return verdict_strip(
        "error",
        _BADGES.get(type(error).__name__, "ERROR"),
        where + as_sentence(error.message),
        tone="error",
        detail=error.hint,
        log=error.log_tail if isinstance(error, LabError) else "",
        place=place,
        step=_next_step(error),
        bare=[*bare],
        run=run,
    )


def _next_step(error: DebuggerError) -> JSON:
    """Return the button for what can be done on the page about a server that does not answer, or wants a key."""
    if not isinstance(error, BackendError):
        return None
    if error.status in _NO_KEY:
        return {"kind": "key", "label": "Enter a key", "code": None}
    if error.kind in _NO_ANSWER:
        return {"kind": "target", "label": "Change the target", "code": None}
    return None
