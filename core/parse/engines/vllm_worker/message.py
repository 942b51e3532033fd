"""An assistant message, and one that grows delta by delta. No vLLM here."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from prompt_debugger.core.base.json_values import same_json_text

Call = dict[str, str | None]
# What a part of text belongs to: a field of the message, or the index of a call and a field of it.
Place = tuple[int | None, str]


@dataclass
class Message:
    """What came out: an assistant message before serialisation.

    Attributes:
        reasoning: Its reasoning; `None` for none.
        content: Its content; `None` for none.
        calls: Its tool calls: `id`, `name`, `arguments` each.
        finish_reason: The server's, where its own code was run.
        tools_called: What the tool parser said about having found calls, where it was heard.
    """

    reasoning: str | None = None
    content: str | None = None
    calls: list[Call] = field(default_factory=list)
    finish_reason: str | None = None
    tools_called: bool | None = None

    @property
    def size(self) -> int:
        """Number of characters."""
        texts = [self.reasoning, self.content, *(text for call in self.calls for text in call.values())]
        return sum(len(text) for text in texts if text)


class GrowingMessage:
    """A message that is streamed. Its texts are kept in parts: to join them at every delta costs a square.

    Calls may come in any order; each goes where its index puts it.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._texts: dict[Place, list[str]] = {}
        self._calls: dict[int, str | None] = {}  # id by index
        self._indexes: list[int] = []  # of the calls, in order: so that they need not be sorted at every delta
        self._updates: list[tuple[Place, str]] = []

    def add(self, delta: Any, *, first_only: bool) -> None:  # noqa: ANN401 - an object of vLLM
        """Add what one delta brings; of the calls only the first, if so asked."""
        if delta.content:
            self._grow((None, "content"), delta.content)
        if delta.reasoning:
            self._grow((None, "reasoning"), delta.reasoning)
        for part in delta.tool_calls or []:
            if not (first_only and part.index != 0):
                self._add_call(part)

    def message(self) -> Message:
        """Return the message so far."""
        calls: list[Call] = [
            {"id": call_id, "name": self._text((index, "name")), "arguments": self._text((index, "arguments")) or ""}
            for index, call_id in sorted(self._calls.items())
        ]
        return Message(self._text((None, "reasoning")), self._text((None, "content")), calls)

    @property
    def call_indexes(self) -> list[int]:
        """The indexes of its calls, in their order; the list grows with it."""
        return self._indexes

    def take_updates(self) -> list[tuple[Place, str]]:
        """Return the parts that came since this was last asked."""
        updates, self._updates = self._updates, []
        return updates

    def parts(self) -> Iterator[tuple[Place, str]]:
        """Yield all parts, those of one text in their order."""
        return ((place, part) for place, parts in self._texts.items() for part in parts)

    def _add_call(self, part: Any) -> None:  # noqa: ANN401 - an object of vLLM
        if part.index not in self._calls:
            insort(self._indexes, part.index)
        self._calls[part.index] = self._calls.get(part.index) or part.id
        function = part.function
        if function is None:
            return
        name, arguments = (
            (function.get("name"), function.get("arguments"))
            if isinstance(function, dict)
            else (function.name, function.arguments)
        )
        if name:
            self._grow((part.index, "name"), name)
        if arguments:
            self._grow((part.index, "arguments"), arguments)

    def _grow(self, place: Place, part: str) -> None:
        self._texts.setdefault(place, []).append(part)
        self._updates.append((place, part))

    def _text(self, place: Place) -> str | None:
        parts = self._texts.get(place)
        return None if parts is None else "".join(parts)


def trimmed(message: Message) -> Message:
    """Return a message without the whitespace around its texts, which belongs to nothing once a call is cut out."""
    reasoning, content = (text.strip() or None if text else None for text in (message.reasoning, message.content))
    return replace(message, reasoning=reasoning, content=content)


def written_like(message: Message, other: Message) -> Message:
    """Return a message with the arguments of another where they are the same JSON, however it is written."""
    calls = [
        {**call, "arguments": like["arguments"]} if same_json_text(call["arguments"], like["arguments"]) else call
        for call, like in zip(message.calls, other.calls, strict=False)
    ]
    return replace(message, calls=[*calls, *message.calls[len(calls) :]])
