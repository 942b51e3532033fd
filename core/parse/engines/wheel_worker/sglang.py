# ruff: noqa: ANN401 - the objects of SGLang are untyped
"""SGLang's tool and reasoning parsers, without its server.

Read at once: the reasoning parser, then the tool parser on what it leaves, as the chat server does. Ids and finish
reason are made as the server makes them. What its server does besides is not run, and outcomes say so (`layer`).
The packages around the parsers import the whole engine in their `__init__`; they are replaced by empty ones.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import json
import logging
import sys
import types
import unittest
import uuid
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from prompt_debugger.core.parse.engines.vllm_worker.message import Message
from prompt_debugger.core.parse.engines.wheel_worker.packages import empty_packages, version_next_to
from prompt_debugger.core.parse.engines.wheel_worker.readers import Asked, Delta, Reader, call_part

NAME = "SGLang"
_EMPTY = ("sglang", "sglang.srt", "sglang.srt.entrypoints", "sglang.srt.entrypoints.openai", "sglang.srt.utils")
_ABSENT = ("IPython", "IPython.display")  # imported on the way, used by no parser
_MIN_MARKER_CHARS = 3
_LOG = logging.getLogger("sglang")
# What its server keeps in the text for these parsers, tools or not (`serving_chat`), and at its end (the detokenizer).
_KEEP_SPECIAL = ("gpt-oss", "gemma4", "apertus2509", "kimi_k3", "inkling", "muse")
_KEPT_ENDS = {"gpt-oss": ("<|call|>",)}


def load() -> str:
    """Import the parsers; return SGLang's version."""
    importlib.import_module("torch")  # whole, before anything takes the place of IPython
    folder = empty_packages(_EMPTY)
    if importlib.util.find_spec("IPython") is None:
        sys.modules.update((name, _Absent(name)) for name in _ABSENT)
    _parsers()
    _reasoning()
    return version_next_to(folder)


def prepare_own_tests(_: str) -> None:
    """Let SGLang's own tests of its parsers be imported: the module with their base class imports its benchmarks."""
    name = "sglang.test.test_utils"
    if name not in sys.modules:
        sys.modules[name] = module = types.ModuleType(name)
        module.CustomTestCase = unittest.TestCase  # type: ignore[attr-defined]


def tool_parsers() -> list[str]:
    """Return the names that `--tool-call-parser` takes."""
    return sorted(_parsers().FunctionCallParser.ToolCallParserEnum)


def reasoning_parsers() -> list[str]:
    """Return the names that `--reasoning-parser` takes."""
    return sorted(_reasoning().ReasoningParser.DetectorMap)


def reader(asked: Asked) -> Reader:
    """Return a reader with two parsers, either of which may be `None`."""
    request = _request(asked.body)
    calling = asked.tool if asked.tool is not None and _reads_calls(asked.tool, request) else None
    new_tool = functools.partial(_new_tool, calling, request, _vocabulary(asked)) if calling else None
    new_reasoning = functools.partial(_new_reasoning, asked, request, calling) if asked.reasoning else None
    call_id = functools.partial(_call_id, calling, asked.earlier_calls)
    return Reader(
        whole=functools.partial(_read_whole, new_tool, new_reasoning, call_id),
        stream=functools.partial(_Streamed, new_tool, new_reasoning, call_id),
        markers=_markers(new_tool, new_reasoning),
        keeps_special=calling is not None or asked.reasoning in _KEEP_SPECIAL,
        kept_ends=_KEPT_ENDS.get(asked.tool or "", ()),
    )


class _Absent(types.ModuleType):
    """A module that has every name and does nothing."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class _JsonCalls:
    """Reads the JSON array that the server makes the model write where a call is required, as its chat does."""

    def __init__(self, tools: Any) -> None:
        self.detector: Any = importlib.import_module("sglang.srt.function_call.json_array_parser").JsonArrayParser()
        self._tools = tools

    def has_tool_call(self, text: str) -> bool:
        """Say yes: it is tried on any text."""
        return bool(text)

    def parse_non_stream(self, text: str) -> tuple[str, list[SimpleNamespace]]:
        """Return what is left of a whole text, and its calls."""
        try:
            found = json.loads(text)
            calls = [
                SimpleNamespace(
                    tool_index=index,
                    name=call["name"],
                    parameters=json.dumps(call.get("parameters", {}), ensure_ascii=False),
                )
                for index, call in enumerate(found if isinstance(found, list) else [found])
            ]
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            _LOG.error("Tool call parsing error: %s", error)
            return text, []
        return "", calls

    def parse_stream_chunk(self, text: str) -> tuple[str, Any]:
        """Return what a piece of a streamed text brings."""
        found = self.detector.parse_streaming_increment(text, self._tools)
        return found.normal_text, found.calls

    def parse_stream_end(self) -> tuple[str, Any]:
        """Return what was held back."""
        if not hasattr(self.detector, "finish"):
            return "", []
        found = self.detector.finish(self._tools)
        return found.normal_text, found.calls


class _Streamed:
    """One output as SGLang's parsers stream it."""

    def __init__(self, new_tool: Any, new_reasoning: Any, call_id: Callable[[str, int], str]) -> None:
        self._tool: Any = new_tool() if new_tool else None
        self._reasoning: Any = new_reasoning(streams=True) if new_reasoning else None
        self._call_id = call_id

    def feed(self, text: str, *, is_last: bool) -> Iterator[Delta]:
        """Yield what the next piece of text brings; at the end also what was held back."""
        reasoning, rest = self._reason(text, is_last=is_last) if self._reasoning is not None else ("", text)
        if reasoning:
            yield Delta(reasoning=reasoning)
        if self._tool is None:
            yield Delta(content=rest)
            return
        content, items = self._tool.parse_stream_chunk(rest)
        yield from self._deltas(content, items)
        if is_last:
            if hasattr(self._tool, "parse_stream_end"):
                yield from self._deltas(*self._tool.parse_stream_end())
            yield from self._left_over()

    def _reason(self, text: str, *, is_last: bool) -> tuple[str, str]:
        parser = self._reasoning
        parts = [parser.parse_stream_chunk(text)]
        if is_last and hasattr(parser, "parse_stream_end"):
            parts.append(parser.parse_stream_end())
        return "".join(part or "" for part, _ in parts), "".join(part or "" for _, part in parts)

    def _deltas(self, content: str, items: Any) -> Iterator[Delta]:
        if content:
            yield Delta(content=content)
        for item in items:
            call_id = self._call_id(item.name, item.tool_index) if item.name else None
            yield Delta(tool_calls=(call_part(item.tool_index, call_id, item.name, item.parameters),))

    def _left_over(self) -> Iterator[Delta]:
        """Yield the end of the last call's arguments where the parser knows it and has not streamed it."""
        detector = self._tool.detector
        known = getattr(detector, "prev_tool_call_arr", None) or []
        streamed = getattr(detector, "streamed_args_for_tool", None) or []
        last = len(known) - 1
        if last < 0 or last >= len(streamed):
            return
        arguments = known[last].get("arguments", {})
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        if text.startswith(streamed[last]) and len(text) > len(streamed[last]):
            yield Delta(tool_calls=(call_part(last, None, None, text[len(streamed[last]) :]),))


def _read_whole(new_tool: Any, new_reasoning: Any, call_id: Callable[[str, int], str], text: str) -> Message:
    reasoning = None
    if new_reasoning is not None:
        reasoning, text = new_reasoning(streams=False).parse_non_stream(text)
    message = Message(reasoning or None, text or None)
    if new_tool is None:
        return message
    parser = new_tool()
    message.tools_called = bool(parser.has_tool_call(text))
    if message.tools_called:
        content, items = parser.parse_non_stream(text)
        message.content = content or None
        message.calls = [
            {"id": call_id(item.name, item.tool_index), "name": item.name, "arguments": item.parameters}
            for item in items
        ]
    return message


def _call_id(tool: str | None, earlier_calls: int, name: str, index: int) -> str:
    """Return an id as the server makes it, which counts on from the calls of the conversation."""
    if tool == "kimi_k2":
        return f"functions.{name}:{earlier_calls + index}"
    return f"{name}:{earlier_calls + index}" if tool == "kimi_k3" else f"call_{uuid.uuid4().hex[:24]}"


def _reads_calls(tool: str, request: Any) -> bool:
    """Return whether the server runs its tool parser; a few read calls of tools that were never declared."""
    if request.tools:
        return bool(request.tool_choice != "none")
    made = _parsers().FunctionCallParser.ToolCallParserEnum.get(tool)
    return bool(made is not None and hasattr(made, "parses_without_tools") and made.parses_without_tools())


def _vocabulary(asked: Asked) -> Any:
    return asked.stand_in if asked.tokenizer is None else asked.tokenizer


def _new_tool(tool: str, request: Any, tokenizer: Any) -> Any:
    made = _parsers().FunctionCallParser
    more = {"tokenizer": tokenizer} if tokenizer is not None and _takes(made, "tokenizer") else {}
    tools, choice = request.tools or [], request.tool_choice
    if not tools or (isinstance(choice, str) and choice != "required"):
        return made(tools, tool, **more)
    parser = made(tools, tool, **more, **({"tool_choice": choice} if _takes(made, "tool_choice") else {}))
    return parser if hasattr(parser, "owns_tool_format") and parser.owns_tool_format() else _JsonCalls(tools)


def _new_reasoning(asked: Asked, request: Any, tool: str | None, *, streams: bool) -> Any:
    reasoning, prompt_end = asked.reasoning, asked.prompt_end
    made = _reasoning().ReasoningParser
    more = {"request": request} if _takes(made, "request") else {}
    if (vocabulary := _vocabulary(asked)) is not None and _takes(made, "tokenizer"):
        more["tokenizer"] = vocabulary
    if tool is not None and _takes(made, "tool_call_parser_active"):
        more["tool_call_parser_active"] = True
    parser = made(model_type=reasoning, stream_reasoning=streams, **more)
    opener = getattr(parser.detector, "think_start_token", None)
    if prompt_end and opener:  # whether the template opened the block is what the server goes by
        closer = getattr(parser.detector, "think_end_token", None) or "\0"
        is_open = prompt_end.rfind(opener) > prompt_end.rfind(closer)
        parser = made(model_type=reasoning, stream_reasoning=streams, force_reasoning=is_open, **more)
    return parser


def _request(body: dict[str, Any]) -> Any:
    fields = ("tools", "tool_choice", "chat_template_kwargs", "reasoning_effort")
    known = {name: body[name] for name in fields if body.get(name) is not None}
    if not known.get("tools"):
        known.pop("tools", None)
        known.pop("tool_choice", None)
    protocol: Any = importlib.import_module("sglang.srt.entrypoints.openai.protocol")
    return protocol.ChatCompletionRequest(model="model", messages=[{"role": "user", "content": ""}], **known)


def _markers(*makers: Any) -> tuple[str, ...]:
    """Return what the parsers name as their markers: those of their texts that look like one."""
    found: dict[str, None] = {}
    for make in makers:
        if make is None:
            continue
        detector = (make(streams=True) if _takes(make, "streams") else make()).detector
        for value in vars(detector).values():
            text = value.strip() if isinstance(value, str) else ""
            if len(text) >= _MIN_MARKER_CHARS and text[0] in "<[" and text[-1] in ">]":
                found[text] = None
    return tuple(found)


def _takes(make: Any, name: str) -> bool:
    """Return whether a class or function has a parameter of that name: releases differ in what they take."""
    return name in inspect.signature(make).parameters


def _parsers() -> Any:
    return importlib.import_module("sglang.srt.function_call.function_call_parser")


def _reasoning() -> Any:
    for name in ("sglang.srt.parser.reasoning_parser", "sglang.srt.reasoning_parser"):
        if importlib.util.find_spec(name) is not None:
            return importlib.import_module(name)
    raise ImportError("this SGLang has no reasoning parsers")
