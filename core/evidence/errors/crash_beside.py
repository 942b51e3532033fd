"""A server's crash in a report, together with the request that the server was working on.

    Received sigquit from a child process. It usually means the child failed.
    TypeError: '<' not supported between instances of 'int' and 'NoneType'

    curl …/v1/chat/completions --data '{…}'

Only where the words say that it was the server that died: an exception alone may be of any program.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.types import Refusal
from prompt_debugger.core.evidence.evidence import Evidence, Part, add_notes
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.reports.blocks import BlockKind
from prompt_debugger.core.evidence.reports.split import split
from prompt_debugger.core.known_errors import Cause, classes_of

_CRASH = re.compile(
    r"received sigquit from a child|(?:scheduler|engine(?: ?core)?|worker|tokenizer ?manager|detokenizer)(?: process)?"
    r" (?:\w{1,12} )?(?:hit an exception|died|crashed|has died)"
    r"|\b(?:server|engine) (?:process )?(?:crash(?:es|ed)|died|dies)",
    re.IGNORECASE,
)
_NOT_CRASHED = re.compile(r"\b(?:no longer|never|not|n't|fixed|before|without)\b[^.\n]{0,40}\Z", re.IGNORECASE)
_EXCEPTION = re.compile(r"(?m)^[ \t>]{0,8}(?:\w{1,60}\.){0,6}([A-Z]\w{0,60}(?:Error|Exception))(?:: ([^\n]{1,600}))?$")
_ENDS_IN = re.compile(r"\n((?:\w{1,60}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception)(?:: [^\n]{1,200})?)\s*+\Z")
_RAISED_BELOW = re.compile(r"(?m)^[^\n{}\[\]\"]{0,80}?\b(?P<name>[A-Z]\w{1,40}Error): (?P<words>[^\n]{8,400})$")
_ALWAYS_THERE = frozenset({"choices", "message", "content"})  # in an answer with a text
_HAS_IT = (
    "The answer above the error has `{}`: the program that failed reads the form of another API, such as Ollama's "
    "own, or another answer."
)
_MAX_AROUND = 2_000
_MAX_CHARS = 60_000
_MIN_CHARS = 8  # characters that say something without the name before them: not `'type'`


def add_failed_reading(evidence: Evidence, text: str) -> Evidence:
    """Return evidence of an answer alone with the error of the program that failed where it read it, printed below.

    Args:
        evidence: What was read of the text.
        text: The whole text.
    """
    if {*evidence.holds} != {Part.MESSAGE} or evidence.error is not None or len(text) > _MAX_CHARS:
        return evidence
    if evidence.form is Form.OBJECT and (last := _ENDS_IN.search(text)) is not None:
        return add_notes(evidence, (f"The error that a program reports below the answer was not examined: {last[1]}.",))
    below = text[text.rfind("\n}") + 2 :] if "\n}" in text else ""
    raised = _RAISED_BELOW.search(below)
    found = None if raised is None else next(classes_of(f"{raised['name']}: {raised['words']}", below), None)
    if raised is None or found is None or found.error.cause is not Cause.OUTPUT:
        return evidence
    error = Refusal(None, raised["words"].strip(), None, raised["name"], around=below[:_MAX_AROUND])
    named = {part for part in found.parts.values() if part in _ALWAYS_THERE}
    has_text = evidence.chat is not None and bool(evidence.chat.message.get("content"))
    notes = (*evidence.notes, _HAS_IT.format(min(named))) if named and has_text else evidence.notes
    return replace(evidence, error=error, words=f"{evidence.words}; an error", notes=notes)


def add_crash(evidence: Evidence, text: str) -> Evidence:
    """Return evidence of a request alone with the crash of its server that the text around it tells.

    Args:
        evidence: What was read of the text.
        text: The whole text.
    """
    held = {*evidence.holds}
    if Part.REQUEST not in held or not held <= {Part.REQUEST, Part.FLAGS} or len(text) > _MAX_CHARS:
        return evidence
    reported = "\n".join(block.text for block in split(text) if block.kind in (BlockKind.PROSE, BlockKind.FENCED))
    crash = _CRASH.search(reported)
    raised = list(_EXCEPTION.finditer(reported))
    if crash is None or not raised or _NOT_CRASHED.search(reported[: crash.start()]) is not None:
        return evidence
    last = raised[-1]
    around = reported[: last.start()][-4_000:] + reported[last.end() :][:400]
    words = (last[2] or "").strip()
    error = Refusal(
        None, words if len(words) >= _MIN_CHARS else f"{last[1]}: {words}".rstrip(": "), None, last[1], around=around
    )
    return replace(evidence, error=error, words=f"{evidence.words}; a server's error")
