"""A call that breaks off, and text behind the end of the turn: the text is no part of the call."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus
from prompt_debugger.core.formats import FORMATS
from tests.core.formats.renderers import RENDERERS

BEHIND = "\nHello, what else?"


def ends_of(name: str) -> frozenset[str]:
    conventions = getattr(FORMATS[name], "conventions", None)
    return frozenset() if conventions is None else conventions.ends


def broken_calls() -> Iterator[tuple[str, str]]:
    for name in sorted(RENDERERS):
        yield from ((name, end) for end in sorted(ends_of(name)))


def test_nearly_every_family_is_among_them() -> None:
    assert len({name for name, _ in broken_calls()}) >= 42


@pytest.mark.parametrize(("name", "end"), [*broken_calls()])
def test_a_call_that_is_never_closed_ends_with_the_turn_of_its_family(name: str, end: str) -> None:
    whole = RENDERERS[name].render(None, "", [("get_weather", {"city": "Paris"})])
    raw = whole[: whole.index("Paris") + 3] + end + BEHIND

    parsed = FORMATS[name].read(raw, ReadContext())

    turn_end = len(raw) - len(BEHIND)
    assert [call.char_span.stop for call in parsed.calls if call.char_span.stop > turn_end] == []
    assert all(call.status is not CallStatus.COMPLETE for call in parsed.calls)
    behind = [segment for segment in parsed.segments if segment.char_span.stop > turn_end]
    assert all(segment.call_index is None for segment in behind)
    if end.strip() == end:
        assert "Par" in "".join(call.arguments for call in parsed.calls) or not parsed.calls
