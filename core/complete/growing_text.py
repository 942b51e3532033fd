"""Text that arrives in pieces and is reported as a whole, less often as it grows.

Reporting the whole text at every piece takes time quadratic in its length: nothing for a sentence, but minutes and
gigabytes for a server that does not stop. Short text is reported at each piece, long text once it has grown by 1/256.
"""

from __future__ import annotations

from collections.abc import Callable

from prompt_debugger.core.base.json_values import as_text
from prompt_debugger.core.base.types import StreamDelta

_SHORT_CHARS = 20_000
_PART = 256  # long text is reported each time it has grown by one part in so many


class GrowingText:
    """One text and its listeners."""

    def __init__(self, on_text: Callable[[str], None] | None = None) -> None:
        """Begin empty; `on_text` is called with all the text so far."""
        self._on_text = on_text
        self._pieces: list[str] = []
        self._reported = 0
        self.length = 0

    @property
    def text(self) -> str:
        """All of it."""
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    def add(self, piece: str) -> None:
        """Add a piece, and report the text if it has grown enough since it was last reported."""
        self._pieces.append(piece)
        self.length += len(piece)
        step = 1 if self.length < _SHORT_CHARS else self.length // _PART
        if self._on_text is not None and self.length - self._reported >= step:
            self._reported = self.length
            self._on_text(self.text)


class VisibleText:
    """The text of a streamed chat that a reader sees: content, or reasoning while there is none."""

    def __init__(self, on_text: Callable[[str], None] | None = None) -> None:
        """Begin empty; `on_text` is called with all the text so far."""
        self._content = GrowingText(on_text)
        self._reasoning = GrowingText(on_text)

    def add(self, delta: StreamDelta) -> None:
        """Add what an event brings."""
        content = as_text(delta.delta.get("content"))
        reasoning = as_text(delta.delta.get("reasoning")) or as_text(delta.delta.get("reasoning_content"))
        if reasoning and not self._content.length:
            self._reasoning.add(reasoning)
        if content:
            self._content.add(content)
