"""The blocks of a text, each read by itself, as one `Evidence`; text between them is left out, which a note says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.diagnose.words import counted
from prompt_debugger.core.evidence.after_command import cut_answer_in
from prompt_debugger.core.evidence.answers.joined_events import join_events
from prompt_debugger.core.evidence.attempt import Read, has_reason, is_known, try_read
from prompt_debugger.core.evidence.copying.broken_json import is_part
from prompt_debugger.core.evidence.copying.clean import clean
from prompt_debugger.core.evidence.errors.spoken import spoken_error
from prompt_debugger.core.evidence.errors.statements import WORDLESS
from prompt_debugger.core.evidence.errors.tracebacks import cut_traceback
from prompt_debugger.core.evidence.evidence import Evidence, Part, add_notes, merge
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.error import evidence_of_error
from prompt_debugger.core.evidence.readers.log import AFTER, is_logged_text
from prompt_debugger.core.evidence.readers.lone_arguments import LONE_ARGUMENTS
from prompt_debugger.core.evidence.reports.announced import announced_content
from prompt_debugger.core.evidence.reports.asked_and_answered import note_unlinked
from prompt_debugger.core.evidence.reports.blocks import Block, BlockKind
from prompt_debugger.core.evidence.reports.comments import strip_comment_marks
from prompt_debugger.core.evidence.reports.leads import is_of_other
from prompt_debugger.core.evidence.reports.one_run import UNRELATED, of_exchange, of_one_run
from prompt_debugger.core.evidence.reports.parts_together import (
    add_whole_answer,
    build_other_answers,
    form_of,
    is_exchange,
    is_of_two,
    is_pair,
    of_twice,
)
from prompt_debugger.core.evidence.reports.prose import (
    as_printed,
    by_lead,
    evidence_of_prose,
    is_end_alone,
    output_of,
    shows_prompt,
)
from prompt_debugger.core.evidence.reports.report_text import is_no_report, is_template
from prompt_debugger.core.evidence.reports.ruled_sections import has_sections
from prompt_debugger.core.evidence.reports.shown import find_shown, is_placeholder
from prompt_debugger.core.evidence.reports.split import split
from prompt_debugger.core.evidence.taking import compatible
from prompt_debugger.core.known_errors import Cause, classes_of

MAX_BLOCKS = 200
_SHOWN = frozenset({Part.RAW, Part.MESSAGE, Part.STREAM, Part.PROMPT})  # what may be an example of what ought to come
_ANSWERS = frozenset({Part.MESSAGE, Part.STREAM})
_WANTED = "The line above says that this is what ought to come; what came instead was not read."
_ANSWER_CUT = "An answer in the text is not complete, and was not read: paste all of it."
_STREAM_END = "data: [DONE]"  # the rest of the stream was not recognized
_CALL_LEAD = re.compile(r"\b(?:arguments?|args|tools?|functions?|calls?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A block, and what was read of it."""

    block: Block
    evidence: Evidence

    @property
    def says_arguments(self) -> bool:
        """Whether the line above, or the text itself, says that these are arguments."""
        said = self.block.text.startswith('"arguments"')
        return said or _CALL_LEAD.search(self.block.lead) is not None

    @property
    def guesses_error(self) -> bool:
        """Whether a person's words mention an error that no table knows, as a title does."""
        is_said = self.block.kind is BlockKind.PROSE and self.evidence.error is not None
        return is_said and not is_known(self.evidence)

    @property
    def is_counterexample(self) -> bool:
        """Whether the line above, or its last sentence, says that this is what ought to have come."""
        return is_of_other(self.block.lead)


def read_shown(blocks: Sequence[Block], read: Read) -> Evidence | None:
    """Return the output that a report shows, for a report that as a whole was taken for an output."""
    found = find_shown(blocks)
    if found is None:
        return None
    evidence = _read_block(found.block, read) if found.block is not None else output_of(found.text)
    if evidence is None or is_end_alone(evidence):
        return None
    return add_notes(evidence, _note_unread(found.unread))


def read_blocks(blocks: Sequence[Block], read: Read) -> Evidence | None:
    """Return what the blocks show together; `None` if nothing in them is recognized."""
    pieces: list[_Piece] = []
    left: list[Block] = []
    blocks = join_events(blocks[:MAX_BLOCKS])
    for block in blocks:
        evidence = _read_block(block, read)
        if evidence is not None and evidence.error is not None and is_no_report(block, blocks):
            evidence = None
        if evidence is not None and (is_end_alone(evidence) or block.text.strip() == _STREAM_END):
            evidence = None
        if evidence is not None:
            pieces.append(_Piece(block, _add_words(evidence, blocks)))
        else:
            left.append(block)
    if not pieces:
        return None
    if (content := announced_content(blocks, [piece.evidence for piece in pieces], left)) is not None:
        pieces.append(_Piece(*content))
        left.remove(content[0])
    unread = sum(len([line for line in block.text.split("\n") if line.strip()]) for block in left)
    pieces = [replace(piece, evidence=as_printed(piece.evidence, _code_above(piece.block, blocks))) for piece in pieces]
    if len(pieces) == 1:
        is_wanted = pieces[0].is_counterexample and {*pieces[0].evidence.holds} <= _SHOWN
        return add_notes(
            pieces[0].evidence, (*((_WANTED,) if is_wanted else ()), *_note_unread(unread), *_note_cut(pieces, left))
        )
    pieces = _prefer_answers(pieces)
    if any(piece.evidence.request is not None for piece in pieces):  # whose answer such a text may be
        pieces = [one for one in pieces if one.evidence.words != LONE_ARGUMENTS or one.says_arguments]
    shown = [piece for piece in pieces if not (piece.is_counterexample and {*piece.evidence.holds} <= _SHOWN)] or pieces
    has_shown = any(piece.evidence.error is not None and not piece.guesses_error for piece in shown)
    ordered = sorted(
        shown,
        key=lambda piece: (
            piece.is_counterexample,
            not is_pair(piece.evidence),
            not is_exchange(piece.evidence),
            has_shown and piece.guesses_error,
        ),
    )
    whole = compatible([piece.evidence for piece in ordered])
    kept = of_one_run(of_exchange(whole))
    if len(kept) < len(whole):
        kept[0] = add_notes(kept[0], (UNRELATED,))
    words = "; ".join(dict.fromkeys(evidence.words for evidence in kept))
    merged = merge(kept, form_of(kept), words[:300])
    is_assumed = is_of_two(kept, Part.RAW, Part.MESSAGE) or is_of_two(kept, Part.REQUEST, Part.PROMPT)
    merged = replace(add_whole_answer(merged, kept), is_assumed_run=is_assumed)
    merged = note_unlinked(merged, kept)
    merged = add_notes(
        merged, (*of_twice([piece.evidence for piece in pieces]), *_note_unread(unread), *_note_cut(pieces, left))
    )
    return replace(merged, others=build_other_answers(merged, whole)) if UNRELATED not in merged.notes else merged


def _prefer_answers(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Return the pieces; of a log's output it is left open where it was read, if another block shows the answer."""
    has_answer = any({*one.evidence.holds} & _ANSWERS and one.evidence.form is not Form.LOG for one in pieces)
    return [
        replace(
            one, evidence=replace(one.evidence, chat=None, notes=tuple(n for n in one.evidence.notes if n != AFTER))
        )
        if has_answer and is_logged_text(one.evidence)
        else one
        for one in pieces
    ]


def _spoken_line(text: str) -> Evidence | None:
    """Return the error that a line of a box tells of in words that are known; `None` for any other text."""
    spoken = spoken_error(text) if "\n" not in text.strip() else None
    found = evidence_of_error(spoken.refusal) if spoken is not None else None
    return found if found is not None and (is_known(found) or has_reason(found)) else None


def _add_words(evidence: Evidence, blocks: Sequence[Block]) -> Evidence:
    """Return an error whose traceback was copied without its words with those that the prose around it gives."""
    refusal = evidence.error
    if refusal is None or WORDLESS not in refusal.message:
        return evidence
    said = re.compile(rf"(?m)(?<![\w.]){re.escape(refusal.message.partition(' ')[0])}: ([^\n`]{{8,300}})")
    found = (said.search(block.text) for block in blocks if block.kind is BlockKind.PROSE)
    words = next((one[1].strip() for one in found if one is not None), None)
    return evidence if words is None else replace(evidence, error=replace(refusal, message=words))


def _code_above(block: Block, blocks: Sequence[Block]) -> str:
    """Return the code block above a block, with nothing but prose between the two; "" if there is none."""
    above = [one for one in blocks[: blocks.index(block)] if one.kind is not BlockKind.PROSE]
    return above[-1].text if above else ""


def _note_cut(pieces: Sequence[_Piece], left: Sequence[Block]) -> tuple[str, ...]:
    """Return notes on a traceback and an answer without their ends in what was left out, if none was read beside it."""
    if any(piece.evidence.error is not None and not piece.guesses_error for piece in pieces):
        return ()
    cut = cut_traceback("\n".join(block.text for block in left))
    has_answer = any(piece.evidence.chat is not None or piece.evidence.stream is not None for piece in pieces)
    is_lost = not has_answer and any(cut_answer_in(block.text) is not None for block in left)
    return (*(() if cut is None else (f"{cut} Paste it to its end.",)), *((_ANSWER_CUT,) if is_lost else ()))


def _note_unread(lines: int) -> tuple[str, ...]:
    was = "was" if lines == 1 else "were"
    return (f"{counted(lines, 'line')} of text around it {was} left out.",) if lines else ()


def _add_its_answer(error: Evidence, text: str, read: Read) -> Evidence:
    """Return an error about an answer with the answer that the same block of a log prints."""
    found = next(classes_of(error.error.message), None) if error.error is not None else None
    if error.chat is not None or error.raw is not None or found is None or found.error.cause is not Cause.OUTPUT:
        return error
    for inner in split(text):
        answer = try_read(inner.text, 1, read)[0] if inner.kind is BlockKind.JSON else None
        if answer is not None and answer.chat is not None and answer.error is None:
            return merge([answer, error], error.form, f"{answer.words}; {error.words}")
    return error


def _read_block(block: Block, read: Read) -> Evidence | None:
    text = clean(block.text).text if block.kind is BlockKind.FENCED else block.text
    if block.kind is BlockKind.PROSE:
        found = evidence_of_prose(strip_comment_marks(text))
        is_raw_alone = found is not None and found.form is Form.OUTPUT and found.chat is None
        return None if is_raw_alone and is_part(text) else found
    evidence = None
    with suppress(RequestError):  # what is left of it is nothing
        evidence, _ = try_read(text, 1, read)
    if (
        evidence is not None
        and evidence.form is Form.OUTPUT
        and (is_template(text) or is_placeholder(text) or (shows_prompt(block.lead) and evidence.raw is not None))
    ):
        return None
    if evidence is not None or block.kind is not BlockKind.FENCED:
        return _add_its_answer(evidence, text, read) if evidence is not None and evidence.error else evidence
    inner = split(text)
    shown = next((one for one in inner if one.kind is BlockKind.JSON and len(one.text) * 2 > len(text)), None)
    if shown is None and has_sections(text):
        return read_blocks(inner, read)
    found = _spoken_line(text) if shown is None else _read_block(shown, read)
    return by_lead(block.lead, text) if found is None and not is_part(text) else found
