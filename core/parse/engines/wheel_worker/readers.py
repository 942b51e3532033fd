"""What every engine's module hands to `outcomes`: a reader of one output. No engine here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Protocol

from prompt_debugger.core.parse.engines.vllm_worker.message import Message


@dataclass(frozen=True)
class Asked:
    """What a reader is made for.

    Attributes:
        tool: Name of the tool parser, `None` for none.
        reasoning: Name of the reasoning parser, `None` for none.
        body: The request, without its messages.
        raw: The output that will be read.
        prompt_end: The end of the prompt, "" where it is not known; it says whether reasoning was open already.
        tokenizer: The model's; `None` where an approximate vocabulary takes its place.
        stand_in: An approximate vocabulary for parsers that look up how a checkpoint spells its tags; `None` where they
            are spelled as usual.
        sampled: The sampler's word, `stop` or `length`, where known.
        earlier_calls: How many calls the conversation has already.
    """

    tool: str | None
    reasoning: str | None
    body: dict[str, Any]
    raw: str
    prompt_end: str = ""
    tokenizer: Any = None
    stand_in: Any = None
    sampled: str | None = None
    earlier_calls: int = 0


@dataclass(frozen=True)
class Delta:
    """What one step of a stream brings.

    Attributes:
        content: New content, "" for none.
        reasoning: New reasoning, "" for none.
        tool_calls: New parts of calls: `index`, `id`, `function` with `name` and `arguments`.
    """

    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[SimpleNamespace, ...] = ()


class Stream(Protocol):
    """One output as it is streamed."""

    def feed(self, text: str, *, is_last: bool) -> Iterable[Delta]:
        """Yield what the next piece of text brings."""
        ...


@dataclass(frozen=True)
class Reader:
    """A pair of parsers made ready for one request.

    Attributes:
        whole: Reads an output at once.
        stream: Begins to read an output in pieces; `None` where the engine reads whole calls only.
        markers: Texts that an approximate vocabulary takes for one token each.
        keeps_special: Whether the server leaves special tokens in the text that its parser gets.
        kept_ends: Tokens that end generation and that the server leaves there all the same.
    """

    whole: Callable[[str], Message]
    stream: Callable[[], Stream] | None
    markers: tuple[str, ...] = ()
    keeps_special: bool = True
    kept_ends: tuple[str, ...] = ()


def call_part(index: int, call_id: str | None, name: str | None, arguments: str | None) -> SimpleNamespace:
    """Return a part of a call in the form that it has in a delta."""
    return SimpleNamespace(index=index, id=call_id, function={"name": name, "arguments": arguments})


def finish_reason(sampled: str | None, *, is_calling: bool) -> str | None:
    """Return the finish reason as the servers write it: a stop after calls becomes `tool_calls`.

    >>> finish_reason("length", is_calling=True)
    'length'
    """
    return "tool_calls" if is_calling and sampled in (None, "stop") else sampled
