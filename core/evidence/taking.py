"""An answer that was read, and objects that may be answers → `Evidence`."""

from __future__ import annotations

from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence.answer import Answer
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.python_repr import CUT

CUT_NOTE = "The pasted text ends inside the answer; what stood after that is not known."


def with_answer(evidence: Evidence, answer: Answer) -> Evidence:
    """Return evidence with what was read of an answer; its words say how many calls there are."""
    calls = () if answer.chat is None else answer.chat.message.get("tool_calls") or ()
    count = len(calls) if isinstance(calls, list) else 0
    words = evidence.words
    if answer.words and evidence.form in (Form.ANSWER, Form.STREAM):
        words = answer.words
    elif answer.words not in ("", "a chat response", "a streamed response", "a message"):
        words = f"{words} ({answer.words})"
    return replace(
        evidence,
        words=f"{words}, {count} tool call{'' if count == 1 else 's'}" if count else words,
        chat=answer.chat,
        stream=answer.stream,
        raw=answer.raw if answer.raw is not None else evidence.raw,
        finish_reason=answer.finish_reason,
        error=answer.error if answer.error is not None else evidence.error,
        prompt=answer.prompt or evidence.prompt,
        token_ids=answer.token_ids if answer.token_ids is not None else evidence.token_ids,
        notes=tuple(dict.fromkeys((*evidence.notes, *answer.notes))),
    )


def without_end(evidence: Evidence) -> Evidence:
    """Return evidence of deltas alone, or of a cut answer: without a word on how it ended, of which none is missing."""
    if evidence.chat is None:
        return evidence
    chat = replace(evidence.chat, body="")  # without a body nobody expects a word on how it ended
    return replace(evidence, chat=chat, stream=None if evidence.stream is None else chat)


def has_cut_end(value: JSON, evidence: Evidence) -> bool:
    """Say whether an answer is cut after its message, where its word on how it ended may have stood."""
    return CUT in as_object(value) and evidence.finish_reason is None


def with_its_beginning(evidence: Evidence) -> Evidence:
    """Return evidence of a stream without the calls whose beginning, with their names, was not copied.

    Raises:
        RequestError: Nothing is left of it.
    """
    stream = evidence.stream
    first = None if stream is None or not stream.deltas else stream.deltas[0].delta
    calls = None if stream is None else stream.message.get("tool_calls")
    if stream is None or first is None or "role" in first or not isinstance(calls, list):
        return evidence
    known = [call for call in calls if as_object(as_object(call).get("function")).get("name")]
    if len(known) == len(calls):
        return evidence
    message = {name: value for name, value in stream.message.items() if name != "tool_calls"}
    if known:
        message["tool_calls"] = known
    if not any(value for name, value in message.items() if name != "role"):
        raise RequestError("The stream begins in the middle of a call.", "Copy it from its first event.")
    chat = replace(stream, message=message, finish_reason=None, deltas=(), body="")
    note = "The stream was copied without its beginning; calls whose name is not in it were left out."
    return replace(evidence, chat=chat, stream=chat, finish_reason=None, notes=(*evidence.notes, note))


def is_cut(evidence: Evidence) -> bool:
    """Say whether the paste ends inside the answer: then nothing shows what the rest of it holds."""
    return CUT_NOTE in evidence.notes
