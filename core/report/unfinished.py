"""A run that ended before its verdict: the note that says so, and the words that its files begin with."""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.base.types import Trace

_ENDED = re.compile(r"The run ended with an error(?: \((?P<where>[a-z ]{1,20})\))?: ")
_WHERE = {  # it happened, by the error's class
    "RequestError": "request",
    "RenderError": "template",
    "BackendError": "server",
    "LabError": "lab",
    "EngineError": "parser helper",
    "LimitError": "limit",
}
_STOPPED = "The run was stopped before its end."
_SILENT = "The run did not finish."
_ENDS = (  # words of the error, and what the files are called
    (re.compile(r"\bno (?:complete |whole )?answer within|not be sent in time|timed out"), "no-answer"),
    (re.compile(r"\bno connection|without an answer|certificate|https"), "no-connection"),
    (re.compile(r"\bbroke off"), "answer-broke-off"),
)


def add_error(trace: Trace, error: DebuggerError) -> Trace:
    """Return a run with the error that ended it, where there is no verdict; its files say it, too."""
    where = _WHERE.get(type(error).__name__)
    ended = "The run ended with an error" + (f" ({where}): " if where else ": ")
    words = f"{ended}{error.message.rstrip('.')}. {error.hint}".strip()
    return _add_note(trace, words)


def add_stop_note(trace: Trace) -> Trace:
    """Return a run with the note that someone stopped it, where there is no verdict."""
    return _add_note(trace, _STOPPED)


def why_unfinished(trace: Trace) -> str:
    """Return why there is no verdict, in a sentence or two."""
    return next((note for note in reversed(trace.notes) if note == _STOPPED or _ENDED.match(note)), _SILENT)


def error_of_end(trace: Trace) -> tuple[str, str] | None:
    """Return where the error happened that ended a run, such as `server`, and its own words; `None` without one.

    Files of earlier releases do not say where: it is "" unless the words tell.
    """
    why = why_unfinished(trace)
    if (ended := _ENDED.match(why)) is None:
        return None
    is_of_server = any(words.search(why.partition(". ")[0]) for words, _ in _ENDS)
    return ended["where"] or ("server" if is_of_server else ""), why[ended.end() :]


def ending_name(trace: Trace) -> str:
    """Return how a run without a verdict ended, as used in file names: `no-connection`, `stopped`, `unfinished`."""
    why = why_unfinished(trace)
    if why == _STOPPED:
        return "stopped"
    if not _ENDED.match(why):
        return "unfinished"
    error = why.partition(". ")[0]
    return next((name for words, name in _ENDS if words.search(error)), "ended-with-an-error")


def _add_note(trace: Trace, note: str) -> Trace:
    is_new = trace.verdict is None and note not in trace.notes
    return replace(trace, notes=(*trace.notes, note)) if is_new else trace
