# ruff: noqa: ANN401 - the objects of LMDeploy are untyped
"""LMDeploy's tool and reasoning parsers with the response parser around them, without its server.

Its response parser walks through the text itself (reasoning, tool block, content), and hands the text between a tool
parser's tags to that parser; both are run as they are. Its reasoning parser takes the beginning of every output for
reasoning unless `enable_thinking` is false, whatever the prompt ended with. `gpt-oss` is not among the names: its
response parser wants ids in harmony's own vocabulary. Tried with 0.14.0 and 0.18.0.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import logging
import re
import sys
import types
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from prompt_debugger.core.parse.engines.vllm_worker.message import Message
from prompt_debugger.core.parse.engines.wheel_worker.packages import empty_packages, version_next_to
from prompt_debugger.core.parse.engines.wheel_worker.readers import Asked, Delta, Reader, call_part

NAME = "LMDeploy"
_EMPTY = ("lmdeploy", "lmdeploy.serve", "lmdeploy.serve.openai")
_PARSERS = "lmdeploy.serve.parsers"
_FIELDS = ("tools", "tool_choice", "chat_template_kwargs", "enable_thinking", "skip_special_tokens")
_MARKER = re.compile(r"<[^<>]+>")


def load() -> str:
    """Import the parsers; return LMDeploy's version."""
    folder = empty_packages(_EMPTY)
    _put_in_place("mmengine", Registry=_Registry)
    _put_in_place("shortuuid", random=lambda: uuid.uuid4().hex[:22])
    _response_parsers()
    _tools()
    _reasonings()
    log = logging.getLogger("lmdeploy")  # it writes to standard output
    log.handlers, log.propagate = [], True
    log.setLevel(logging.WARNING)
    return version_next_to(folder)


def tool_parsers() -> list[str]:
    """Return the names that `--tool-call-parser` takes."""
    return sorted(_tools().ToolParserManager.module_dict)


def reasoning_parsers() -> list[str]:
    """Return the names that `--reasoning-parser` takes."""
    return sorted(_reasonings().ReasoningParserManager.module_dict)


def reader(asked: Asked) -> Reader:
    """Return a reader with two parsers, either of which may be `None`.

    Raises:
        Exception: As its server refuses to start: a reasoning parser whose tags the vocabulary lacks.
    """
    made: Any = type("_Chosen", (_response_parsers().BaseResponseParser,), {})
    made.set_parsers(asked.reasoning, asked.tool, asked.tokenizer)
    new_parser = functools.partial(made, _request(asked.body))
    parser = new_parser()
    tags = _tags(parser)
    return Reader(
        whole=functools.partial(_read_whole, new_parser),
        stream=functools.partial(_Streamed, new_parser),
        markers=tuple(marker for tag in tags if tag for marker in _MARKER.findall(tag)),
        keeps_special=not parser.request.skip_special_tokens,
    )


class _Registry:
    """What parsers are registered with, as far as these files use the one of mmengine."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.module_dict: dict[str, Any] = {}

    def register_module(self, name: str | list[str]) -> Callable[[type], type]:
        """Return a decorator that registers a class by one name or several."""
        names = [name] if isinstance(name, str) else name

        def register(made: type) -> type:
            self.module_dict |= dict.fromkeys(names, made)
            return made

        return register

    def get(self, name: str) -> Any:
        """Return a class by name."""
        return self.module_dict.get(name)


class _Streamed:
    """One output as LMDeploy streams it; what is held back at the end is lost before 0.18, as in its server."""

    def __init__(self, new_parser: Callable[[], Any]) -> None:
        self._parser = new_parser()

    def feed(self, text: str, *, is_last: bool) -> Iterator[Delta]:
        """Yield what the next piece of text brings."""
        for message, _ in self._parser.stream_chunk(text, [0], final=is_last):
            calls = tuple(
                call_part(one.index, one.id, one.function.name, one.function.arguments)
                for one in message.tool_calls or ()
            )
            yield Delta(message.content or "", message.reasoning_content or "", calls)


def _read_whole(new_parser: Callable[[], Any], text: str) -> Message:
    content, calls, reasoning = new_parser().parse_complete(text)
    found = [
        {"id": one.id, "name": one.function.name, "arguments": one.function.arguments or ""} for one in calls or ()
    ]
    return Message(reasoning, content, found, tools_called=bool(found))


def _tags(parser: Any) -> tuple[str | None, ...]:
    """Return the tags around reasoning and calls: in a profile in older releases, else with each parser."""
    if (profile := getattr(parser, "profile", None)) is not None:
        return profile.tool_open_tag, profile.tool_close_tag, profile.reasoning_open_tag, profile.reasoning_close_tag
    tool, reasoning = parser.tool_parser, parser.reasoning_parser
    of_tool = () if tool is None else (tool.get_tool_open_tag(), tool.get_tool_close_tag())
    of_reasoning = (
        () if reasoning is None else (reasoning.get_reasoning_open_tag(), reasoning.get_reasoning_close_tag())
    )
    return of_tool + of_reasoning


def _request(body: dict[str, Any]) -> Any:
    known = {name: body[name] for name in _FIELDS if body.get(name) is not None}
    protocol: Any = importlib.import_module("lmdeploy.serve.openai.protocol")
    return protocol.ChatCompletionRequest(model="model", messages=[{"role": "user", "content": ""}], **known)


def _put_in_place(name: str, **content: Any) -> None:
    """Make a module of which the wheel needs little, unless it is installed."""
    if name not in sys.modules and importlib.util.find_spec(name) is None:
        module = types.ModuleType(name)
        vars(module).update(content)
        sys.modules[name] = module


def _response_parsers() -> Any:
    return importlib.import_module(f"{_PARSERS}.response_parser")


def _tools() -> Any:
    return importlib.import_module(f"{_PARSERS}.tool_parser")


def _reasonings() -> Any:
    return importlib.import_module(f"{_PARSERS}.reasoning_parser")
