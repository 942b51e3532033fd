"""An answer that was read, and objects that may be answers → `Evidence`."""

from __future__ import annotations

from dataclasses import replace

from prompt_debugger.core.evidence.answers import Answer
from prompt_debugger.core.evidence.evidence import Evidence

CUT_NOTE = "The pasted text ends inside the answer; what stood after that is not known."


def with_answer(evidence: Evidence, answer: Answer) -> Evidence:
    """Return evidence with what was read of an answer; its words say how many calls there are."""
    calls = () if answer.chat is None else answer.chat.message.get("tool_calls") or ()
    count = len(calls) if isinstance(calls, list) else 0
    words = f"{evidence.words}, {count} tool call{'' if count == 1 else 's'}" if count else evidence.words
    return replace(
        evidence,
        words=words,
        chat=answer.chat,
        stream=answer.stream,
        raw=answer.raw if answer.raw is not None else evidence.raw,
        finish_reason=answer.finish_reason,
        notes=tuple(dict.fromkeys((*evidence.notes, *answer.notes))),
    )


def is_cut(evidence: Evidence) -> bool:
    """Say whether the paste ends inside the answer: then nothing shows what the rest of it holds."""
    return CUT_NOTE in evidence.notes
