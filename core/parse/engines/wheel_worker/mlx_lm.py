# ruff: noqa: ANN401 - the objects of mlx-lm are untyped
"""mlx-lm's tool parsers with the parts of its server that decide what they get, without MLX.

Its server walks through the text with a state machine (reasoning, tool, normal), hands the text between a parser's
markers to the parser, and drops a call that the parser refuses; a call comes whole, also in a stream. State machine and
formatter are its own, taken from the files that need MLX; the loop between them is restated here, so that outcomes
say that the parser was asked (`layer`). Releases before 0.32 have another one: there the text is split at the markers.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import json
import logging
import sys
import uuid
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from prompt_debugger.core.parse.engines.vllm_worker.message import Call, GrowingMessage, Message
from prompt_debugger.core.parse.engines.wheel_worker.packages import empty_packages, version_next_to
from prompt_debugger.core.parse.engines.wheel_worker.readers import Asked, Delta, Reader, call_part, finish_reason

NAME = "mlx-lm"
_EMPTY = ("mlx_lm", "mlx_lm.tool_parsers", "mlx_lm.chat_templates")
# The pairs of reasoning markers that its server knows, from mlx-lm 0.32.
_THINKING = (
    ("<think>", "</think>"), ("<longcat_think>", "</longcat_think>"), ("<|think:start|>", "<|think:end|>"),
    ("<|channel>thought", "<channel|>"), ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
)  # fmt: skip
# Its vocabulary's tokens for them, as far as they tell which pair a model has.
_TOKENS = (*_THINKING[:3], ("<|channel>", "<channel|>"), ("<|open|>", "<|close|>"))
_OWN = {
    "generate.py": ("_build_trie", "TextStateMachine", "make_text_state_machine"),
    "server.py": ("ToolCallFormatter",),
    "tokenizer_utils.py": ("_infer_thinking", "_is_xtml_vocab", "_infer_structural_markers"),
}
_LOG = logging.getLogger("mlx_lm")


def load() -> str:
    """Import the parsers; return mlx-lm's version."""
    folder = empty_packages(_EMPTY)
    for name in tool_parsers():
        _parser(name)
    _own_code()
    return version_next_to(folder)


def tool_parsers() -> list[str]:
    """Return the names of the modules that contain a parser."""
    folder = Path(next(iter(sys.modules["mlx_lm.tool_parsers"].__path__)))
    return sorted(file.stem for file in folder.glob("*.py") if not file.stem.startswith("_"))


def reasoning_parsers() -> list[str]:
    """Return nothing: its server finds reasoning by the vocabulary's own markers."""
    return []


def reader(asked: Asked) -> Reader:
    """Return a reader with a tool parser; what else is asked for, its server does not know."""
    module = _parser(asked.tool) if asked.tool is not None else None
    pair = _thinking(asked.prompt_end + asked.raw)
    marks = () if module is None else (module.tool_call_start, module.tool_call_end)
    markers = tuple(mark for mark in (*marks, *pair) if mark)
    own = _own_code()
    if own is None:
        tools = asked.body.get("tools") or None
        return Reader(functools.partial(_read_whole, module, tools, pair, asked.prompt_end), None, markers)
    new_stream = functools.partial(_Served, own, module, asked)
    return Reader(functools.partial(_serve_whole, new_stream, asked.sampled), new_stream, markers)


class _Served:
    """One output as its server's loop takes it."""

    def __init__(self, own: SimpleNamespace, module: Any, asked: Asked) -> None:
        self._machine = own.TextStateMachine
        parse = None if module is None else module.parse_tool_call
        self._format = own.ToolCallFormatter(parse, asked.body.get("tools") or None, streaming=True)
        words = _vocabulary(own, module, asked)
        self._last = words.response_initial_state or (
            "reasoning" if _is_thinking(words, asked.prompt_end) else "normal"
        )
        self._state = own.make_text_state_machine(words, None).make_state(self._last)
        self._is_cut = asked.sampled == "length"
        self._tool_text = ""
        self.tools_called = False

    def feed(self, text: str, *, is_last: bool) -> Iterator[Delta]:
        """Yield what the next piece of text brings; what may begin a marker at the end counts only if it was cut."""
        self._state, segments = self._machine.split(self._state, text)
        if is_last and self._is_cut:
            self._state, flushed, state = self._machine.flush(self._state)
            segments.append((state, flushed))
        elif is_last:
            self._state, state = self._machine.discard(self._state)
            segments.append((state, ""))
        for state, part in segments:
            yield from self._take(state, part)
        if is_last and self._last == "tool" and self._tool_text:
            yield from self._call()

    def _take(self, state: str, part: str) -> Iterator[Delta]:
        if state == "tool":
            self._tool_text += part
        elif state == "reasoning" and part:
            yield Delta(reasoning=part)
        elif state == "normal":
            if self._last == "tool":
                yield from self._call()
            if part:
                yield Delta(content=part)
        self._last = state

    def _call(self) -> Iterator[Delta]:
        text, self._tool_text, self.tools_called = self._tool_text, "", True
        for call in self._format([text]):
            function = call["function"]
            yield Delta(tool_calls=(call_part(call["index"], call["id"], function["name"], function["arguments"]),))


def _serve_whole(new_stream: Callable[[], _Served], sampled: str | None, text: str) -> Message:
    stream, growing = new_stream(), GrowingMessage()
    for delta in stream.feed(text, is_last=True):
        growing.add(delta, first_only=False)
    message = growing.message()
    message.tools_called = stream.tools_called
    message.finish_reason = finish_reason(sampled, is_calling=stream.tools_called)
    return message


def _vocabulary(own: SimpleNamespace, module: Any, asked: Asked) -> SimpleNamespace:
    """Return what the state machine reads of a tokenizer; without one, the markers that prompt and output show."""
    if asked.tokenizer is None:
        shown = asked.prompt_end + asked.raw
        words = {mark: 0 for marks in _TOKENS if any(mark in shown for mark in marks) for mark in marks}
        if "<|open|>" in words:
            words |= {"<|sep|>": 0, "<|end_of_msg|>": 0}  # a vocabulary with that one has these, too
        tokenizer: Any = SimpleNamespace(get_vocab=lambda: words, encode=lambda text, **_: [text])
    else:
        tokenizer = asked.tokenizer
    opener, closer, *_ = own._infer_thinking(tokenizer)
    form = _response_format(asked)
    return SimpleNamespace(
        has_thinking=opener is not None,
        think_start=opener,
        think_end=closer,
        has_tool_calling=module is not None,
        tool_call_start=getattr(module, "tool_call_start", None),
        tool_call_end=getattr(module, "tool_call_end", None),
        structural_markers=own._infer_structural_markers(tokenizer),
        response_transitions=form.get("transitions", {}),
        response_initial_state=form.get("initial_state"),
    )


def _is_thinking(words: SimpleNamespace, prompt_end: str) -> bool:
    return bool(words.has_thinking and prompt_end.rfind(words.think_start) > prompt_end.rfind(words.think_end))


def _response_format(asked: Asked) -> dict[str, Any]:
    """Return the states that the template module of the parser's name adds, where the output has one of its marks."""
    module = f"mlx_lm.chat_templates.{asked.tool}"
    if asked.tool is None or importlib.util.find_spec(module) is None:
        return {}
    form: dict[str, Any] = getattr(importlib.import_module(module), "RESPONSE_FORMAT", None) or {}
    marks = (mark for edges in form.get("transitions", {}).values() for mark, _ in edges)
    return form if any(mark in asked.raw for mark in marks) else {}


@functools.lru_cache(maxsize=1)
def _own_code() -> SimpleNamespace | None:
    """Return the parts of its server that need no MLX; `None` in a release that has others."""
    folder = Path(next(iter(sys.modules["mlx_lm"].__path__)))
    found: dict[str, Any] = {}
    for file, names in _OWN.items():
        made = _definitions(folder / file, names, {"deque": deque, "json": json, "logging": logging, "uuid": uuid})
        if made is None:
            return None
        found |= made
    return SimpleNamespace(**found)


def _definitions(file: Path, names: Collection[str], around: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return some top-level functions and classes of a file, which is not run besides.

    Args:
        file: A Python file.
        names: What is wanted of it.
        around: What these _definitions use of the rest of the file and of its imports.

    Returns:
        The _definitions by name; `None` where the file lacks one of them.
    """
    if not file.is_file():
        return None
    tree = ast.parse(file.read_text(encoding="utf-8"))
    tree.body = [one for one in tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef) and one.name in names]
    if len({one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef)}) < len(set(names)):
        return None
    namespace = dict(around)
    code = compile(tree, str(file), "exec", flags=annotations.compiler_flag)
    exec(code, namespace)
    return {name: namespace[name] for name in names}


def _read_whole(module: Any, tools: Any, thinking: tuple[str, str], prompt_end: str, text: str) -> Message:
    opener, closer = thinking if thinking[0] in text + prompt_end or thinking[1] in text else _thinking(text)
    is_open = prompt_end.rfind(opener) > prompt_end.rfind(closer)
    reasoning, rest = _cut(text, "" if is_open else opener, closer) if is_open or opener in text else ("", text)
    if module is None:
        return Message(reasoning or None, rest or None)
    content, bodies = _split(rest, module.tool_call_start, module.tool_call_end)
    calls = [call for body in bodies for call in _calls(module, body, tools)]
    return Message(reasoning or None, content or None, calls, tools_called=bool(bodies))


def _split(text: str, start: str, end: str) -> tuple[str, list[str]]:
    """Return the text outside the markers, and what is between each pair; the last may lack its end."""
    outside, *parts = text.split(start)
    bodies = []
    for part in parts:
        body, found, after = part.partition(end) if end else (part, "", "")
        bodies.append(body)
        outside += after if found else ""
    return outside, [body for body in bodies if body]


def _cut(text: str, opener: str, closer: str) -> tuple[str, str]:
    """Return the reasoning and what is left; reasoning begins at once where there is no opener."""
    before, _, after = text.partition(opener) if opener else ("", "", text)
    reasoning, _, rest = after.partition(closer)
    return reasoning, before + rest


def _calls(module: Any, body: str, tools: Any) -> list[Call]:
    try:
        parsed = module.parse_tool_call(body, tools)
    except ValueError as error:
        _LOG.warning("Failed to parse tool call (%s: %s)", type(error).__name__, error)
        return []
    found = parsed if isinstance(parsed, list) else [parsed]
    return [
        {
            "id": one.get("id") or str(uuid.uuid4()),
            "name": one["name"],
            "arguments": json.dumps(one["arguments"], ensure_ascii=False),
        }
        for one in found
    ]


def _thinking(text: str) -> tuple[str, str]:
    return next(((opener, closer) for opener, closer in _THINKING if opener in text or closer in text), _THINKING[0])


def _parser(name: str) -> Any:
    return importlib.import_module(f"mlx_lm.tool_parsers.{name}")
