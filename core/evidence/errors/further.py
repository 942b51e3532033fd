"""Further errors of one text: a report often has two, and each needs its own remedy.

    The first one is                          read as the error of the text
    ```
    jinja2.exceptions.TemplateSyntaxError: …
    ```
    Once I fix that, I still get              said in a note, with what it means and what helps
    ```
    RuntimeError: …
    ```

Only errors that a table or a class explains count, and only where they stand apart: exceptions that a traceback chains
are one error, and what a sentence mentions in passing is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from prompt_debugger.core.base.types import Refusal
from prompt_debugger.core.evidence.errors.copied import error_of_text
from prompt_debugger.core.evidence.errors.http import error_of_head
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.reports.blocks import BlockKind
from prompt_debugger.core.evidence.reports.leads import is_of_other
from prompt_debugger.core.evidence.reports.report_text import is_no_report
from prompt_debugger.core.evidence.reports.split import split
from prompt_debugger.core.known_errors import Cause, classes_of, innermost, recognise_error, words_as_one_line

_MAX_CHARS = 60_000
_MAX_PARTS = 40
_MAX_NOTES = 3
_MAX_WORDS = 160  # of an error's words in a note
_MIN_SHARED = 40  # characters by which two copies of one error are known as one
_SURE = 0.8  # score of an error in prose that counts
_FORMS = (Form.ERROR, Form.EXCHANGE, Form.LOG)
_BLANK = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_CHAINED = re.compile(r"\s*+(?:During handling of the above|The above exception was|\[?Caused by|at |Traceback)")
_RAISED = re.compile(r"(?:[a-z_]\w{0,40}\.){0,6}[A-Z]\w{1,60}(?:Error|Exception): \S")
# Causes that follow from another error, and say nothing new next to it.
_CONSEQUENCES = frozenset({Cause.CONNECTION, Cause.UNCLEAR, Cause.BUSY, Cause.SERVER})


class _Known(NamedTuple):
    """What is known of an error: a key that two errors of one kind share, its words, its meaning and what helps."""

    key: str
    said: str
    cause: Cause
    means: str
    remedy: str


def add_other_errors(evidence: Evidence, text: str) -> Evidence:
    """Return evidence with a note on each further error of its text that is another one, and is understood.

    Args:
        evidence: What was read of the text.
        text: The whole text.
    """
    first = evidence.error
    if first is None or evidence.form not in _FORMS or len(text) > _MAX_CHARS or first.message.count("\n") > _MAX_PARTS:
        return evidence
    known = _known(first)
    if known is None:
        return evidence
    seen, notes = {known.key}, []
    for refusal in _errors_in(text):
        other = _known(refusal)
        if other is None or other.key in seen or other.cause in _CONSEQUENCES or _is_same(first, refusal):
            continue
        seen.add(other.key)
        said = other.said if len(other.said) <= _MAX_WORDS else f"{other.said[: _MAX_WORDS - 1].rstrip()}…"
        notes.append(f"The text reports another error, too: {said.rstrip('.')}. {other.means} {other.remedy}".rstrip())
    return replace(evidence, notes=(*evidence.notes, *notes[:_MAX_NOTES])) if notes else evidence


def _errors_in(text: str) -> Iterator[Refusal]:
    """Yield the errors of the parts of a text that stand apart."""
    blocks = split(text)
    given = 0
    for block in blocks:
        if is_of_other(block.lead) or block.kind in (BlockKind.COMMAND, BlockKind.PYTHON, BlockKind.STREAM):
            continue
        for part in _parts(block.text):
            given += 1
            if given > _MAX_PARTS:
                return
            found = error_of_text(part)
            is_shaped = block.kind is not BlockKind.PROSE or _RAISED.match(part.lstrip()) is not None
            if found is not None and (is_shaped or found.score >= _SURE) and not is_no_report(block, blocks):
                yield found.refusal


def _parts(text: str) -> Iterator[str]:
    """Yield an HTTP answer whole, and otherwise paragraphs.

    All that a traceback chains is one; lines of exceptions alone are one each.
    """
    part: list[str] = []
    if error_of_head(text) is not None:
        yield text
        return
    for paragraph in _BLANK.split(text):
        if part and _CHAINED.match(paragraph) is None:
            yield from _lines_of("\n\n".join(part))
            part = []
        part.append(paragraph)
    yield from _lines_of("\n\n".join(part))


def _lines_of(part: str) -> Iterator[str]:
    lines = part.split("\n")
    if len(lines) > 1 and all(_RAISED.match(line) is not None for line in lines if line.strip()):
        yield from lines
    else:
        yield part


def _known(refusal: Refusal) -> _Known | None:
    said = f"{refusal.code}: {refusal.message}" if refusal.code else refusal.message
    known = recognise_error(refusal.message) or recognise_error(said)
    if known is not None and known.error.remedy:
        return _Known(known.error.says, known.sentence, known.error.is_about, known.error.means, known.error.remedy)
    words = words_as_one_line(innermost(refusal.message).words)
    found = next(classes_of(f"{refusal.code}: {words}" if refusal.code else words, refusal.around or ""), None)
    if found is None or not found.error.has_reason:
        return None
    return _Known(found.error.name, words, found.error.cause, found.means, found.remedy)


def _is_same(first: Refusal, other: Refusal) -> bool:
    """Return whether two errors have their words in common: one is a copy of the other, or quotes it."""
    ours, theirs = words_as_one_line(first.message), words_as_one_line(innermost(other.message).words)
    return theirs[:_MIN_SHARED] in ours or ours[:_MIN_SHARED] in words_as_one_line(other.message)
