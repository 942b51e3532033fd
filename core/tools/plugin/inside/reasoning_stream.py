"""Reasoning as it comes, up to where the answer begins.

Reasoning that contains the marker of a call is held back from there on: only the end of the
output tells a draft of a call from reasoning that was never closed.
"""

from __future__ import annotations

from prompt_debugger.core.base.types import Span
from prompt_debugger.core.formats import TextFormat
from prompt_debugger.core.parse.cut_markers import BegunMarkers
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.scan import is_quoted_inline
from prompt_debugger.core.tools.plugin.inside.deltas import Delta

_QUOTES = "\"'“‘«`"


class ReasoningStream:
    """Splits one output as it comes.

    Args:
        family: Whose tags to look for; one without tags has no reasoning here.
        is_open: Whether the prompt left reasoning open; `None` if it does not show.
        call_markers: Texts that only calls have, where not the family's own.
        unseen: Control tokens that no client is shown, where not the family's own.
    """

    def __init__(
        self,
        family: TextFormat,
        *,
        is_open: bool | None,
        call_markers: tuple[str, ...] = (),
        unseen: frozenset[str] = frozenset(),
    ) -> None:
        tags = family.conventions.reasoning
        self.has_ended = tags is None or is_open is False
        self._tags = tags or ReasoningTags()
        self._is_open = bool(is_open or (is_open is None and self._tags.starts_open))
        self._may_open = True
        self._calls = call_markers or family.call_markers
        self._unseen = unseen or family.conventions.unseen
        self._begun = BegunMarkers({*self._tags.closers, *self._calls, *self._unseen})
        self._text = ""
        self._given = 0
        self._searched = 0
        self._is_held = False
        self._is_content = False

    def feed(self, text: str) -> Delta:
        """Take the next piece; return reasoning that is certain, and content once reasoning has ended."""
        if self.has_ended:
            return Delta(content=text)
        self._text += text
        if not self._is_open:
            self._open()
        if not self._is_open:
            return Delta(content=self._text if self._is_content else "")
        return self._go_on()

    def finish(self) -> Delta:
        """Say that the output ends here: what was held back is reasoning up to the first call, then content."""
        if self.has_ended:
            return Delta()
        self.has_ended = True
        if not self._is_open:
            return Delta(content=self._text[self._given :])
        call = self._first(self._calls, self._given)
        stop = len(self._text) if call is None else call.start
        return Delta(self._text[stop:], self._shown(self._given, stop))

    def _open(self) -> None:
        """See whether reasoning has begun, or whether it is clear that it does not."""
        begun = self._text.lstrip()
        openers = sorted(self._tags.openers, key=len, reverse=True)
        opener = next((tag for tag in openers if begun.startswith(tag)), None)
        if any(tag.startswith(begun) and len(tag) > len(begun) for tag in openers):
            return
        if opener is not None:
            self._is_open = True
            self._given = self._searched = len(self._text) - len(begun) + len(opener)
        else:
            self.has_ended = self._is_content = True

    def _go_on(self) -> Delta:
        self._skip_first_breaks()
        while (closer := self._first(self._tags.closers, self._searched)) is not None:
            if self._is_undecided(closer):
                return Delta()
            self._searched = closer.stop
            if not is_quoted_inline(self._text, closer, len(self._text)):
                return self._close(closer)
        self._is_held = self._is_held or self._first(self._calls, self._given) is not None
        self._searched = max(self._searched, len(self._text) - max(map(len, self._tags.closers)))
        return Delta() if self._is_held else self._give(self._certain_stop())

    def _close(self, closer: Span) -> Delta:
        self.has_ended = True
        stop = closer.start
        for _ in range(self._tags.before_close):
            stop -= stop > self._given and self._text[stop - 1] == "\n"
        return Delta(self._text[closer.stop :], self._shown(self._given, max(stop, self._given)))

    def _give(self, stop: int) -> Delta:
        start, self._given = self._given, max(self._given, stop)
        return Delta(reasoning=self._shown(start, self._given))

    def _shown(self, start: int, stop: int) -> str:
        """Return a stretch of reasoning without the control tokens that no client is shown."""
        shown = self._text[start:stop]
        for token in self._unseen:
            shown = shown.replace(token, "")
        return shown

    def _certain_stop(self) -> int:
        """Return how far the text cannot belong to a closer or a call."""
        held = max((size for size, _ in self._begun.at_end_of(self._text)), default=0)
        stop = len(self._text) - held
        while stop > self._given and self._text[stop - 1] == "\n" and len(self._text) - held - stop < self._breaks:
            stop -= 1
        return stop

    @property
    def _breaks(self) -> int:
        return max(self._tags.before_close, 2)

    def _skip_first_breaks(self) -> None:
        if self._may_open:
            left = self._tags.after_open
            while left and self._given < len(self._text) and self._text[self._given] == "\n":
                self._given, left = self._given + 1, left - 1
            self._may_open = self._given == len(self._text) and bool(left)

    def _is_undecided(self, closer: Span) -> bool:
        """Return whether a closer may be quoted, which what follows will tell."""
        after = self._text[closer.stop :]
        line = self._text[self._text.rfind("\n", 0, closer.start) + 1 : closer.start]
        if line.count("`") % 2 == 1 and "\n" not in after and "`" not in after:
            return True
        return bool(line) and line[-1] in _QUOTES and not after

    def _first(self, texts: tuple[str, ...], start: int) -> Span | None:
        found = [(at, -len(text)) for text in texts if (at := self._text.find(text, start)) >= 0]
        if not found:
            return None
        at, size = min(found)
        return Span(at, at - size)
