"""A text as people paste it: cleaned, read as one thing, and block by block where that shows more.

attempt           one text as one thing
block_by_block    the blocks of a report: prose, a command with flags, a request, an answer, an error, a log
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import objects_in
from prompt_debugger.core.diagnose.one_of_several import is_note_of_several
from prompt_debugger.core.evidence.attempt import (
    MAX_PARAGRAPHS,
    PARAGRAPHS,
    Read,
    has_class,
    has_reason,
    is_known,
    try_read,
)
from prompt_debugger.core.evidence.block_by_block import MAX_BLOCKS, read_blocks, read_shown
from prompt_debugger.core.evidence.copying.clean import clean
from prompt_debugger.core.evidence.copying.listed_events import join_listed
from prompt_debugger.core.evidence.copying.wrapped import unwrap
from prompt_debugger.core.evidence.errors.crash_beside import add_crash, add_failed_reading
from prompt_debugger.core.evidence.errors.further import add_other_errors
from prompt_debugger.core.evidence.errors.spoken import spoken_error
from prompt_debugger.core.evidence.errors.tracebacks import TRACEBACK, cut_traceback
from prompt_debugger.core.evidence.evidence import Evidence, Part, add_notes, merge
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.logs.partial_parse import drop_progress
from prompt_debugger.core.evidence.no_errors.manuals import is_advice
from prompt_debugger.core.evidence.open_fence import open_fence
from prompt_debugger.core.evidence.readers import Paste, find_reader
from prompt_debugger.core.evidence.readers.error import evidence_of_error
from prompt_debugger.core.evidence.readers.log import is_logged_text
from prompt_debugger.core.evidence.readers.parser_script import NOTE as NOT_COMPARED
from prompt_debugger.core.evidence.readers.quoted_arguments import arguments_beside
from prompt_debugger.core.evidence.recognise import recognise
from prompt_debugger.core.evidence.reports.around_prompt import add_around_prompt
from prompt_debugger.core.evidence.reports.blocks import Block, BlockKind
from prompt_debugger.core.evidence.reports.comments import comment_runs
from prompt_debugger.core.evidence.reports.one_run import UNRELATED
from prompt_debugger.core.evidence.reports.parts_together import is_pair
from prompt_debugger.core.evidence.reports.raw_beside import add_raw_beside
from prompt_debugger.core.evidence.reports.report_text import gives_template, needed_beside_command, not_recognised
from prompt_debugger.core.evidence.reports.said_of_calls import add_reported, is_reported, reported_answer
from prompt_debugger.core.evidence.reports.sent_body import fault_of_sent_body
from prompt_debugger.core.evidence.reports.shown import is_talk
from prompt_debugger.core.evidence.reports.split import split
from prompt_debugger.core.evidence.reports.words_around import add_words
from prompt_debugger.core.evidence.reports.words_below import take_words_below
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.evidence.values.token_lists import add_ids

_MAX_FENCES = 3  # around one another
_MAX_WORDS_OF_ERROR = 60  # by which its paragraph is found
_MAX_OF_TWO = 60_000  # characters in which a request is looked for in the text around an error
_STRONG = frozenset({Part.REQUEST, Part.MESSAGE, Part.STREAM, Part.ERROR, Part.FLAGS, Part.PROMPT})
_ANSWERS = frozenset({Part.MESSAGE, Part.STREAM})
_PAGE_TAG = re.compile(r"<(?:details|summary|pre|p|br|div|h\d|b|img|!--)[\s>-]")  # of Markdown around what was pasted
_WAS_SHORTENED = "The text was shortened"
_NO_PYTHON = "The text cannot be read as Python"
_UNKNOWN = ("The text was not recognized", "The text is a report in words")
_WHOLE = "Paste all of it: the beginning or the end may be missing."


def read_mixed(text: str, row: int, read: Read, depth: int = 0) -> Evidence:
    """Read what someone pasted, whole or block by block.

    Args:
        text: As it was pasted.
        row: Which line or recorded exchange, from 1.
        read: Reads a text that is one thing; raises `RequestError`.
        depth: How many fences were around it.

    Raises:
        RequestError: Nothing in it is known; the error is that of reading it whole.
    """
    cleaned = clean(join_listed(open_fence(drop_progress(text))))
    try:
        evidence = _read_cleaned(cleaned.text, row, read, depth)
    except RequestError as error:
        is_whole = error.line is None and error.field is None
        reported = (reported_answer(cleaned.text) if is_whole else None) or add_ids(None, cleaned.text)
        if reported is None:
            raise
        evidence = reported
    if (fault := fault_of_sent_body(evidence, cleaned.text, read)) is not None:
        raise fault
    evidence = take_words_below(add_raw_beside(add_notes(evidence, cleaned.notes), cleaned.text))
    evidence = add_around_prompt(evidence, cleaned.text)
    evidence = add_reported(add_words(evidence, cleaned.text), cleaned.text)
    evidence = add_ids(evidence, cleaned.text) or evidence
    if depth == 0 and evidence.form is Form.COMMAND and {*evidence.holds} <= {Part.FLAGS} and not is_reported(evidence):
        cut = cut_traceback(cleaned.text)
        needed = (cut, "Paste all of it.") if cut is not None else needed_beside_command(split(cleaned.text))
        return add_notes(evidence, needed)
    return evidence if depth else add_other_errors(add_failed_reading(evidence, cleaned.text), cleaned.text)


def _read_cleaned(text: str, row: int, read: Read, depth: int) -> Evidence:
    blocks = split(text)
    lone = blocks[0] if len(blocks) == 1 and blocks[0].kind is BlockKind.FENCED else None
    is_request = lone is not None and _is_fenced_request(lone.text, text) and unwrap(lone.text) is None
    if lone is not None and depth < _MAX_FENCES and not is_request:
        return read_mixed(lone.text, row, read, depth + 1)
    if row > 1:
        return read(text, row)
    is_about = is_talk(blocks) or (is_advice(text) and not _begins_with_marker(text))
    are_several = sum(block.kind is BlockKind.JSON for block in blocks) > 1
    whole, failure = _try_whole(text, row, read, may_fail=_has_fences(blocks) or is_about or are_several)
    if whole is not None and whole.form is Form.OUTPUT and (is_about or gives_template(text)):
        whole, failure = None, not_recognised(text, is_about=is_about)
    is_output = whole is not None and whole.raw is not None and whole.raw.strip() == text.strip()
    shown = read_shown(blocks, read) if is_output else None
    is_one = len(blocks) < 2 and not (whole is not None and whole.form is Form.COMMAND and "\n" in text.strip())
    if whole is not None and shown is None and (is_one or _is_certain(whole, text, blocks)):
        return _add_request_beside(whole, text, read)
    merged = (
        read_blocks(blocks, read) if shown is None or any(block.kind is BlockKind.JSON for block in blocks) else None
    )
    if shown is not None:
        return merged if merged is not None and merged.is_assumed_run and is_pair(merged) else shown
    merged = None if merged is None else add_crash(_add_command(_add_its_error(merged, whole), whole), text)
    if whole is not None and (merged is None or not _says_more(merged, whole, blocks, is_talk=is_about)):
        return _add_request_beside(whole, text, read)
    if merged is None and failure is not None and (printed := _read_comments(text, read, failure)) is not None:
        return printed
    if merged is None and (spoken := _spoken(text, failure, read)) is not None:
        return spoken
    if merged is None:
        raise (
            not_recognised(text)
            if cut_traceback(text)
            else _fault_of_request(blocks, read)
            or _fault_of_cut(failure, blocks)
            or (
                not_recognised(text, is_about=True)
                if is_about
                else _add_hint(_fault_of_code(failure, text, blocks, read) or failure)
            )
        )
    return merged


def _add_its_error(merged: Evidence, whole: Evidence | None) -> Evidence:
    """Return what blocks hold with the error of the whole text: where that alone names a field, or they have none."""
    reported = whole.error if whole is not None else None
    is_request = Part.REQUEST in merged.holds and {*merged.holds} <= {Part.REQUEST, Part.FLAGS}
    if whole is not None and whole.form is Form.ERROR and reported is not None and is_request:
        return replace(merged, form=Form.EXCHANGE, error=reported, words=f"{merged.words}; {whole.words}"[:300])
    is_more = reported is not None and reported.field and merged.error is not None and not merged.error.field
    return replace(merged, error=reported) if is_more else merged


def _add_command(merged: Evidence, whole: Evidence | None) -> Evidence:
    """Return what blocks hold with the command that the whole text shows: that of a file in YAML is in no block."""
    is_command = whole is not None and whole.form is Form.COMMAND and {*whole.holds} == {Part.FLAGS}
    if whole is None or not is_command or merged.server is not None or not {*merged.holds} & {*_ANSWERS, Part.RAW}:
        return merged
    words = f"{whole.words}; {merged.words}"[:300]
    return add_notes(replace(merged, form=Form.SEVERAL, words=words, server=whole.server), whole.notes)


def _add_request_beside(whole: Evidence, text: str, read: Read) -> Evidence:
    """Return an error that was read of all of a text with the request that its other paragraphs are."""
    if whole.form is not Form.ERROR or whole.error is None or not {*whole.holds} <= {Part.ERROR, Part.FLAGS}:
        return whole
    if (shown := arguments_beside(whole.error.message, text)) is not None:
        return merge([shown, whole], Form.EXCHANGE, f"{shown.words}; {whole.words}"[:300])
    words = whole.error.message[:_MAX_WORDS_OF_ERROR]
    paragraphs = PARAGRAPHS.split(text[:_MAX_OF_TWO])
    others = [one for one in paragraphs if words not in one]
    rest = "\n\n".join(others)
    if len(others) == len(paragraphs) or "messages" not in rest or recognise(rest) is not Form.REQUEST:
        return whole
    asked = try_read(rest, 1, read)[0]
    if asked is None or {*asked.holds} != {Part.REQUEST}:
        return whole
    return merge([asked, whole], Form.EXCHANGE, f"{asked.words}; {whole.words}"[:300])


def _spoken(text: str, failure: RequestError | None, read: Read) -> Evidence | None:
    """Return the error that a text speaks of, or that a paragraph is next to calls that were shortened."""
    if TRACEBACK not in text and cut_traceback(text) is not None:
        return None
    if (spoken := spoken_error(text.partition(TRACEBACK)[0])) is not None:
        return evidence_of_error(spoken.refusal)
    if failure is None or not failure.message.startswith(_WAS_SHORTENED):
        return None
    paragraphs = [one for one in PARAGRAPHS.split(text)[:MAX_PARAGRAPHS] if one.strip() and "..." not in one]
    found = (try_read(one, 1, read)[0] for one in paragraphs)
    return next((one for one in found if one is not None and {*one.holds} == {Part.ERROR}), None)


def _fault_of_request(blocks: Sequence[Block], read: Read) -> RequestError | None:
    """Return what is wrong with the only request of a text, where that is a field of it; else `None`."""
    for block in blocks[:MAX_BLOCKS]:
        inner = block.text.strip().strip("`")
        if json_of(inner) is not None and recognise(inner) is Form.REQUEST:
            failure = try_read(inner, 1, read)[1]
            if failure is not None and failure.field is not None:
                return failure
    return None


def _fault_of_cut(failure: RequestError | None, blocks: Sequence[Block]) -> RequestError | None:
    """Return what is wrong with words at whose end an answer begins, of which nothing is complete; else `None`."""
    if failure is not None and not failure.message.startswith(_UNKNOWN):
        return None
    if len(blocks) < 2 or blocks[-1].kind is not BlockKind.JSON or json_of(blocks[-1].text) is not None:
        return None
    return RequestError("The text ends inside an answer, before any text or call of it is complete.", _WHOLE)


def _fault_of_code(whole: RequestError | None, text: str, blocks: Sequence[Block], read: Read) -> RequestError | None:
    """Return what is wrong with the first fenced program of a text: of the prose around it Python cannot be right."""
    is_mixed = {BlockKind.PROSE, BlockKind.FENCED} <= {block.kind for block in blocks}
    if whole is None or not is_mixed or not whole.message.startswith(_NO_PYTHON):
        return None
    fenced = [block.text for block in blocks if block.kind is BlockKind.FENCED][:_MAX_FENCES]
    code = (one for one in fenced if recognise(one) is Form.REQUEST)
    failure = next((found for one in code if (found := try_read(one, 1, read)[1]) is not None), None)
    return not_recognised(text) if failure is None else RequestError(failure.message, failure.hint, field=failure.field)


def _read_comments(text: str, read: Read, failure: RequestError) -> Evidence | None:
    """Return the answer in the comments of a program that cannot be read itself: what it printed."""
    for comments in deque(comment_runs(text), maxlen=MAX_BLOCKS):  # what a program printed is at its end
        shown, _ = try_read(comments, 1, read)
        if shown is not None and shown.request is None and (shown.chat is not None or shown.stream is not None):
            return add_notes(shown, (f"The code above the answer was not read. {failure}",))
    return None


def _has_fences(blocks: Sequence[Block]) -> bool:
    """Return whether a text has fences and other things: what is shortened may be a part of it."""
    kinds = [block.kind for block in blocks]
    return BlockKind.FENCED in kinds and len(kinds) > 1


def _try_whole(text: str, row: int, read: Read, *, may_fail: bool) -> tuple[Evidence | None, RequestError | None]:
    """Read a text as one thing; of one that was shortened a block may be complete."""
    try:
        return try_read(text, row, read)
    except RequestError as error:
        if not may_fail and not error.message.startswith(_WAS_SHORTENED):
            raise
        return None, error


def _add_hint(error: RequestError | None) -> RequestError:
    if error is None:
        return RequestError("Nothing in the text was recognized.", "Paste a request, an answer, a log or an error.")
    if error.hint:
        return error
    return RequestError(str(error), _WHOLE, line=error.line, column=error.column, field=error.field)


def _is_fenced_request(inner: str, text: str) -> bool:
    """Return whether a fence holds only a request, which is read with the fence so that positions stay right."""
    return _is_request(inner) and _is_request(text) and len(split(inner)) == 1


def _is_request(text: str) -> bool:
    return find_reader(Paste(text)) is None and recognise(text) is Form.REQUEST


def _is_certain(whole: Evidence, text: str, blocks: Sequence[Block]) -> bool:
    """Return whether a text that was read as one thing is only that: nothing else need be looked for in it."""
    kinds = {block.kind for block in blocks}
    match whole.form:
        case Form.REQUEST:
            is_code = whole.request is not None and whole.request.source == "python"
            return is_code and not kinds & {BlockKind.FENCED, BlockKind.PYTHON, BlockKind.COMMAND}
        case Form.OUTPUT:
            return recognise(text.lstrip()[:2_000]) is Form.OUTPUT and _begins_with_marker(text)
        case Form.ERROR | Form.LOG | Form.COMMAND | Form.OBJECT:
            return Paste(text).value is not None
        case Form.STREAM:
            return kinds == {BlockKind.STREAM} or not _ends_and_goes_on(blocks)
        case Form.HAR | Form.LINES | Form.RUN | Form.EXCHANGE:
            return True
        case _:
            return Paste(text).value is not None or not kinds - {BlockKind.PROSE}


def _ends_and_goes_on(blocks: Sequence[Block]) -> bool:
    """Return whether a stream was copied up to the middle of an event, and something else follows it."""
    return any(one.kind is BlockKind.STREAM and not one.text.endswith("\n") for one in blocks[:-1])


def _begins_with_marker(text: str) -> bool:
    start = text.lstrip()[:40]
    return start.startswith(("<", "[", "{", "\uff5c")) and _PAGE_TAG.match(start) is None


def _is_in_history(whole: Evidence, merged: Evidence) -> bool:
    """Return whether the answer that was read of a whole text is a message of the conversation that a block shows."""
    if whole.form is not Form.OBJECT or whole.chat is None or merged.request is None:
        return False
    calls = whole.chat.message.get("tool_calls")
    earlier = objects_in(merged.request.body.get("messages"))
    ids = {call.get("id") for one in earlier for call in objects_in(one.get("tool_calls"))}
    return bool(calls) and all(call.get("id") in ids for call in objects_in(calls))


def _says_more(merged: Evidence, whole: Evidence, blocks: Sequence[Block], *, is_talk: bool) -> bool:
    if whole.form is Form.REQUEST and any(is_note_of_several(note, "request") for note in merged.notes):
        return not any("two requests" in note for note in whole.notes)  # the one that is not said to work
    if _is_in_history(whole, merged):
        return True
    is_fenced = whole.form is Form.OBJECT and any(block.kind is BlockKind.FENCED for block in blocks)
    if is_fenced or (is_talk and whole.form in (Form.ERROR, Form.LOG, Form.REQUEST) and is_known(merged)):
        return {*merged.holds} >= {*whole.holds}  # the same without the talk around it
    if whole.form is Form.STREAM and _ends_and_goes_on(blocks):
        return True
    if is_logged_text(whole) and merged.raw == whole.raw and merged.chat is not None and merged.chat != whole.chat:
        return True  # with the answer that a client shows
    if whole.form is Form.COMMAND and {*merged.holds} == {*whole.holds}:
        return any(note.startswith("The log shows") for note in merged.notes)  # below the command
    strong = {*merged.holds} & _STRONG
    if whole.form is Form.ERROR and strong & _ANSWERS and not is_known(whole) and not has_class(whole):
        return True  # a program's words, together with the answer that it could not use
    if whole.form is Form.ERROR and merged.error is not None and not is_known(whole) and not has_reason(whole):
        return {*merged.holds} >= {*whole.holds} and (is_known(merged) or has_reason(merged))  # not its title
    if whole.form is Form.OUTPUT:
        is_page = _PAGE_TAG.match((whole.raw or "").lstrip()) is not None
        return NOT_COMPARED not in whole.notes and (is_page or bool(strong) or UNRELATED in merged.notes)
    return {*merged.holds} > {*whole.holds}
