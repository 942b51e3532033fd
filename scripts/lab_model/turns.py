"""A conversation being written, turn by turn, in the form of an OpenAI request.

The call ids follow the habit of the conversation; everything else is plain.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from scripts.lab_model.tools import Ask

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Habits:
    """How a dialogue deviates from the healthy case, if it does.

    Attributes:
        ids: Form of the call ids in the history: `functions.NAME:N`, `NAME:N`,
            `NAME`, or `call_1a2b` as other servers write them.
        polluted: Whether a Python repr precedes the first call.
        thinking: Whether the thinking switch is on.
    """

    ids: Literal["full", "slipped", "bare", "foreign"] = "full"
    polluted: bool = False
    thinking: bool = False


class Turns:
    """A conversation being written; counts calls and minds the habits."""

    def __init__(self, habits: Habits, rng: Random) -> None:
        self.habits = habits
        self.rng = rng
        self.messages: list[Json] = []
        self.trained: list[bool] = []
        self.call_count = 0
        self.last_asks: tuple[Ask, ...] = ()

    def user(self, text: str) -> None:
        """Let the user speak."""
        self.messages.append({"role": "user", "content": text})

    def say(self, text: str, *, trained: bool, reasoning: str) -> None:
        """Let the assistant answer in prose."""
        message: dict[str, object] = {"role": "assistant", "content": text}
        self._append(message, reasoning, trained=trained)

    def call(self, asks: Sequence[Ask], *, trained: bool, content: str | None = None) -> None:
        """Let the assistant call, with ids after the habit of the conversation."""
        calls = [
            {
                "id": self._id(ask.tool.name, self.call_count + offset),
                "type": "function",
                "function": {"name": ask.tool.name, "arguments": ask.arguments},
            }
            for offset, ask in enumerate(asks)
        ]
        if trained and self.habits.ids == "foreign":
            for call, ask in zip(calls, asks, strict=True):
                call["id"] = ask.tool.name
        self.call_count += len(asks)
        message: dict[str, object] = {"role": "assistant", "content": content, "tool_calls": calls}
        self._append(
            message, f"The user asks about {list_subjects(asks)}. I call {asks[0].tool.name}.", trained=trained
        )

    def results(self, asks: Sequence[Ask]) -> tuple[str, ...]:
        """Let the tools answer the calls just made; returns what they said."""
        calls = list_calls(self.messages[-1])
        texts = tuple(ask.tool.family.result(self.rng) for ask in asks)
        for call, text in zip(calls, texts, strict=True):
            self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
        return texts

    def _append(self, message: dict[str, object], reasoning: str, *, trained: bool) -> None:
        if self.habits.thinking:
            message["reasoning"] = reasoning
        self.messages.append(message)
        self.trained.append(trained)

    def _id(self, name: str, index: int) -> str:
        match self.habits.ids:
            case "full":
                return f"functions.{name}:{index}"
            case "slipped":
                return f"{name}:{index}"
            case "bare":
                return name
            case _:
                digits = "".join(self.rng.choice("0123456789abcdef") for _ in range(self.rng.choice((4, 8, 12))))
                return self.rng.choice(("call_", "call_", "chatcmpl-tool-")) + digits


def list_subjects(asks: Sequence[Ask]) -> str:
    """List what is asked about, in the words of the user."""
    return " and ".join(ask.subject for ask in asks)


def list_calls(message: Json) -> list[dict[str, Any]]:
    """List the tool calls of a message, if it has any."""
    calls = message.get("tool_calls", [])
    assert isinstance(calls, list)
    return calls
