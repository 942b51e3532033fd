"""Two messages from the same output: in what they differ, and at which delta a streamed one leaves the other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from prompt_debugger.core.parse.engines.vllm_worker.message import GrowingMessage, Message, Place


def describe_difference(whole: Message, streamed: Message, output: str) -> str | None:
    """Say in which field two messages differ, `None` if they say the same; absent and empty text are the same.

    Args:
        whole: What the parse of the whole gave.
        streamed: What streaming gave.
        output: The text that both were made of. A tool call id counts only where one of the two was taken from it:
            all other ids are drawn at random or made up by the parser, anew for every parse.
    """
    for name in ("reasoning", "content"):
        want, got = getattr(whole, name) or "", getattr(streamed, name) or ""
        if want != got:
            return _describe_field(name, want, got)
    if len(whole.calls) != len(streamed.calls):
        return f"{_count(len(streamed.calls))} but parsing the whole output gives {_count(len(whole.calls))}"
    for index, (want_call, got_call) in enumerate(zip(whole.calls, streamed.calls, strict=True)):
        for name in ("name", "arguments", "id"):
            want, got = want_call[name] or "", got_call[name] or ""
            if want != got and (name != "id" or _is_taken(want, output) or _is_taken(got, output)):
                return _describe_field(f"tool_calls[{index}] {name}", want, got)
    return None


def _is_taken(call_id: str, output: str) -> bool:
    return bool(call_id) and call_id in output


def _describe_field(name: str, want: str, got: str) -> str:
    return f"{name} is {shorten(got)} but parsing the whole output gives {shorten(want)}"


class Follower:
    """Follows a streamed message and says when it can no longer become the whole one; looks at each part once."""

    def __init__(self, whole: Message) -> None:
        """Begin where nothing has been streamed."""
        self._whole = whole
        self._indexes: list[int] = []  # of the calls
        self._last: tuple[int, int] | None = None  # of the calls that were there when last asked: its place, its index
        self._reached: dict[Place, int] = {}  # characters of each text that are as in the whole

    def is_on_the_way(self, streamed: GrowingMessage) -> bool:
        """Return whether the streamed message can still become the whole one; asked again and again till it cannot."""
        self._indexes, updates = streamed.call_indexes, iter(streamed.take_updates())
        if len(self._indexes) > len(self._whole.calls):
            return False
        if self._last is not None and self._indexes[self._last[0]] != self._last[1]:
            self._reached, updates = {}, streamed.parts()  # a call came before others, which have moved
        if self._indexes:
            self._last = len(self._indexes) - 1, self._indexes[-1]
        return all(self._fits(place, part) for place, part in updates)

    def _fits(self, place: Place, part: str) -> bool:
        index, name = place
        if index is None:
            text: str = getattr(self._whole, name) or ""
        else:
            text = self._whole.calls[bisect_left(self._indexes, index)][name] or ""
        begin = self._reached.get(place, 0)
        self._reached[place] = begin + len(part)
        return text.startswith(part, begin)


def first_missing(whole: Message, streamed: Message, deltas: Sequence[str]) -> int:
    """Return the delta, from 0, that held the first text which the streamed message lacks; else the last one."""
    text, end = "".join(deltas), 0
    place = min(_places_of_missing(whole, streamed, text), default=len(text))
    for index, delta in enumerate(deltas):
        end += len(delta)
        if place < end:
            return index
    return len(deltas) - 1


def _places_of_missing(whole: Message, streamed: Message, text: str) -> list[int]:
    """Return where in the output those texts begin that streaming did not bring, as far as they are found there."""
    pairs = [(getattr(whole, name) or "", getattr(streamed, name) or "") for name in ("reasoning", "content")]
    for index, want in enumerate(whole.calls):
        name, arguments = want["name"] or "", want["arguments"] or ""
        if index < len(streamed.calls):
            got = streamed.calls[index]
            pairs += [(name, got["name"] or ""), (arguments, got["arguments"] or "")]
        else:  # a name is short and may occur anywhere
            pairs.append((arguments if arguments in text else name, ""))
    cut_short = [(want, got) for want, got in pairs if want != got and want.startswith(got) and want in text]
    return [text.find(want) + len(got) for want, got in cut_short]


def _count(calls: int) -> str:
    return f"{calls} tool call{'' if calls == 1 else 's'}"


def shorten(text: str, limit: int = 80) -> str:
    """Return a text as people are shown it, its middle cut out if it is long."""
    shown = repr(text)
    return shown if len(shown) <= limit else shown[: limit // 2] + "…" + shown[-(limit // 2) :]
