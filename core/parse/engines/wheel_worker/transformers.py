# ruff: noqa: ANN401 - the objects of transformers are untyped
"""How `transformers serve` reads an output: by a response template, which the model has or its type stands for.

No template can be chosen there. `response_template` is the one in the tokenizer's files; each other name is the first
model type of a template that the server itself has. An end token is part of what it reads, calls come whole, and
arguments are not cast by the tools' schemas, which its server does not hand over.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from prompt_debugger.core.parse.engines.vllm_worker.message import Message
from prompt_debugger.core.parse.engines.wheel_worker.readers import Asked, Delta, Reader, call_part

NAME = "transformers"
OWN = "response_template"
_ANY_END = ("",)


def load() -> str:
    """Import the parser and the server's templates; return the version of transformers."""
    _parsing()
    _templates()
    return str(importlib.import_module("transformers").__version__)


def tool_parsers() -> list[str]:
    """Return what stands for a response template: the model's own, and those of the server."""
    return [OWN, *_templates()]


def reasoning_parsers() -> list[str]:
    """Return nothing: a response template splits the reasoning, too."""
    return []


def reader(asked: Asked) -> Reader:
    """Return a reader with a response template.

    Raises:
        ValueError: The model's own is asked for, and its tokenizer has none.
    """
    template = getattr(asked.tokenizer, OWN, None) if asked.tool == OWN else _templates().get(asked.tool or "")
    if asked.tool == OWN and template is None:
        why = "no tokenizer was given" if asked.tokenizer is None else "the model's tokenizer has none"
        raise ValueError(f"a response template comes with the model, and {why}")
    new_parser = functools.partial(_parsing().ResponseParser, template, prefix=asked.prompt_end)
    return Reader(
        whole=functools.partial(_read_whole, new_parser, asked.sampled),
        stream=functools.partial(_Streamed, new_parser),
        kept_ends=_ANY_END,
    )


class _Streamed:
    """One output as its server streams it."""

    def __init__(self, new_parser: Callable[[], Any]) -> None:
        self._parser = new_parser()
        self._calls = 0

    def feed(self, text: str, *, is_last: bool) -> Iterator[Delta]:
        """Yield what the next piece of text brings; at the end also what was held back."""
        yield from self._deltas(self._parser.feed(text))
        if is_last:
            yield from self._deltas(self._parser.finalize()[1])

    def _deltas(self, events: Sequence[dict[str, Any]]) -> Iterator[Delta]:
        for item in _serving().response_events_to_chunks(events):
            if hasattr(item, "arguments"):
                part = call_part(self._calls, f"call_{self._calls}", item.name, item.arguments)
                self._calls += 1
                yield Delta(tool_calls=(part,))
            elif type(item) is str:
                yield Delta(content=item)
            else:
                yield Delta(reasoning=str(item))


def _read_whole(new_parser: Callable[[], Any], sampled: str | None, text: str) -> Message:
    parser = new_parser()
    parser.feed(text)
    parsed, _ = parser.finalize()
    calls = [_serving()._normalize_tool_call(one) for one in parsed.get("tool_calls") or ()]
    found = [{"id": f"call_{at}", "name": one.name, "arguments": one.arguments} for at, one in enumerate(calls)]
    reason = "tool_calls" if found else sampled
    return Message(parsed.get("thinking"), parsed.get("content") or None, found, reason, tools_called=bool(found))


@functools.lru_cache(maxsize=1)
def _templates() -> dict[str, Any]:
    return {types[0]: template for types, template in _serving()._RESPONSE_TEMPLATE_FALLBACKS.items()}


def _serving() -> Any:
    return importlib.import_module("transformers.cli.serving.utils")


def _parsing() -> Any:
    return importlib.import_module("transformers.utils.chat_parsing")
