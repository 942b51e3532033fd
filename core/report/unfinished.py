"""A run that ended before its verdict: the note that says so, and the words that its files begin with."""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.base.types import Trace

_ENDED = "The run ended with an error: "
_STOPPED = "The run was stopped before its end."
_SILENT = "The run did not finish."
_ENDS = (  # words of the error, and what the files are called
    (re.compile(r"\bno (?:complete |whole )?answer within|not be sent in time|timed out"), "no-answer"),
    (re.compile(r"\bno connection|without an answer|certificate|https"), "no-connection"),
    (re.compile(r"\bbroke off"), "answer-broke-off"),
)


def with_error(trace: Trace, error: DebuggerError) -> Trace:
    """Return a run with the error that ended it, where there is no verdict; its files say it, too."""
    words = f"{_ENDED}{error.message.rstrip('.')}. {error.hint}".strip()
    return _with_note(trace, words)


def with_stop(trace: Trace) -> Trace:
    """Return a run with the note that someone stopped it, where there is no verdict."""
    return _with_note(trace, _STOPPED)


def why_unfinished(trace: Trace) -> str:
    """Return why there is no verdict, in a sentence or two."""
    return next((note for note in reversed(trace.notes) if note.startswith((_ENDED, _STOPPED))), _SILENT)


def end_in_a_word(trace: Trace) -> str:
    """Return how a run without a verdict ended, as its files are called: `no-connection`, `stopped`, `unfinished`."""
    why = why_unfinished(trace)
    if why == _STOPPED:
        return "stopped"
    if not why.startswith(_ENDED):
        return "unfinished"
    error = why.partition(". ")[0]
    return next((name for words, name in _ENDS if words.search(error)), "ended-with-an-error")


def _with_note(trace: Trace, note: str) -> Trace:
    is_new = trace.verdict is None and note not in trace.notes
    return replace(trace, notes=(*trace.notes, note)) if is_new else trace
