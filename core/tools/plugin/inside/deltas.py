"""What a stream gives out: pieces of content, reasoning and calls."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A piece of one tool call.

    Attributes:
        index: Which call of the message.
        name: Its name, given once.
        id: Its id, given with the name.
        arguments: The next characters of its arguments.
    """

    index: int
    name: str | None = None
    id: str | None = None
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Delta:
    """The next piece of a message; empty where nothing is certain yet."""

    content: str = ""
    reasoning: str = ""
    calls: tuple[CallDelta, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.content or self.reasoning or self.calls)

    def __add__(self, other: Delta) -> Delta:
        return Delta(self.content + other.content, self.reasoning + other.reasoning, self.calls + other.calls)


@dataclass(slots=True)
class WholeCall:
    """One call, assembled."""

    name: str = ""
    id: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Whole:
    """A message, assembled from deltas."""

    content: str = ""
    reasoning: str = ""
    calls: dict[int, WholeCall] = field(default_factory=dict)

    def add(self, delta: Delta) -> None:
        """Take a piece in."""
        self.content += delta.content
        self.reasoning += delta.reasoning
        for piece in delta.calls:
            call = self.calls.setdefault(piece.index, WholeCall())
            call.name = piece.name or call.name
            call.id = piece.id or call.id
            call.arguments += piece.arguments
