"""What several parts of one text make together: their form, which of several answers counts, what was not read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from prompt_debugger.core.base.comparable import UNLINKED
from prompt_debugger.core.diagnose.one_of_several import note_of_several
from prompt_debugger.core.evidence.evidence import Evidence, Part
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.reports.asked_and_answered import are_of_one_answer, note_unlinked

_MAX_OTHERS = 3


def build_other_answers(merged: Evidence, pieces: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Return the evidence with each further answer of the text in place of the one that was read."""
    answers = [one for one in pieces if one.chat is not None or one.stream is not None]
    read = {id(merged.chat), id(merged.stream)}
    notes = tuple(note for note in merged.notes if note != UNLINKED)
    return tuple(
        note_unlinked(replace(merged, chat=one.chat, stream=one.stream, words=one.words, notes=notes), pieces)
        for one in answers
        if merged.raw is None and not {id(one.chat), id(one.stream)} & (read - {id(None)})
    )[:_MAX_OTHERS]


def add_whole_answer(merged: Evidence, pieces: Sequence[Evidence]) -> Evidence:
    """Return evidence of a stream with the answer that was not streamed, where the text shows both."""
    whole = next((one.chat for one in pieces if one.chat is not None and one.stream is None and one.raw is None), None)
    if whole is None or merged.stream is None or merged.chat is not merged.stream:
        return merged
    return replace(merged, chat=whole) if are_of_one_answer(whole, merged.stream) else merged


def is_pair(evidence: Evidence) -> bool:
    """Return whether evidence contains both a raw output and its answer."""
    return evidence.raw is not None and evidence.chat is not None


def is_exchange(evidence: Evidence) -> bool:
    """Return whether evidence contains a request with its own answer, which no other one of the text takes."""
    return evidence.request is not None and (evidence.chat is not None or evidence.stream is not None)


def is_of_two(pieces: Sequence[Evidence], one: Part, other: Part) -> bool:
    """Return whether two parts of a run are present, and no piece contains both."""
    held = [{*piece.holds} & {one, other} for piece in pieces]
    return {one, other} == set().union(*held) and not any(len(parts) == 2 for parts in held)


def form_of(pieces: Sequence[Evidence]) -> Form:
    """Return the form of several pieces together: a log that shows none of a run has no say beside one that does."""
    pieces = [piece for piece in pieces if piece.form is not Form.LOG or {*piece.holds} - {Part.FLAGS}] or pieces
    forms = {piece.form for piece in pieces}
    if len(forms) == 1:
        return pieces[0].form
    if all({*piece.holds} <= {Part.REQUEST, Part.FLAGS} for piece in pieces) and Form.REQUEST in forms:
        return Form.REQUEST
    return Form.EXCHANGE if any(piece.request is not None for piece in pieces) else pieces[0].form


def of_twice(pieces: Sequence[Evidence]) -> tuple[str, ...]:
    """Return a note for each kind that the text has several of; one of them was read."""
    counts = {
        "request": sum(1 for piece in pieces if piece.request is not None),
        "answer": sum(1 for piece in pieces if piece.chat is not None or piece.stream is not None),
        "raw output": sum(1 for piece in pieces if piece.raw is not None),
    }
    return tuple(note_of_several(count, name) for name, count in counts.items() if count > 1)
