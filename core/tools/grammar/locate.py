"""Finds the call that a place in an output belongs to, by the format's own spelling."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from prompt_debugger.core.base.types import CallStatus
from prompt_debugger.core.parse.json_scan import scan_json
from prompt_debugger.core.tools.grammar.matcher import CallForm

_FAR_CHARS = 200


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call as it was written, around some place; characters from 0, no `arguments_start` where they are not JSON."""

    name: str
    name_stop: int
    arguments_start: int | None
    arguments: str


def find_call(text: str, place: int, forms: Sequence[CallForm]) -> WrittenCall | None:
    """Return the last call that was opened before the character `place`, from 0."""
    starts = [_last_end(text, form.before, place) for form in forms]
    start = max(starts, default=-1)
    if start < 0:
        return None
    closers = {form.after[:1] for form, begin in zip(forms, starts, strict=True) if begin == start}
    pattern = "[" + re.escape("".join(sorted(closers | {"\n", "<"}))) + "]"
    closing = re.compile(pattern).search(text, start)
    stop = closing.start() if closing else len(text)
    brace = text.find("{", stop, stop + _FAR_CHARS)
    if brace < 0:
        return WrittenCall(text[start:stop], stop, None, "")
    scan = scan_json(text, brace, len(text))
    end = scan.span.stop if scan.status is CallStatus.COMPLETE else len(text)
    return WrittenCall(text[start:stop], stop, brace, text[brace:end])


def has_call(text: str, forms: Sequence[CallForm]) -> bool:
    """Return whether a call is opened anywhere in `text`."""
    return any(form.before in text for form in forms)


def _last_end(text: str, before: str, place: int) -> int:
    found = text.rfind(before, 0, place)
    return found + len(before) if found >= 0 and found + len(before) <= place else -1
