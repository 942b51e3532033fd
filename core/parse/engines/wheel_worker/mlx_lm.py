# ruff: noqa: ANN401 - the objects of mlx-lm are untyped
"""mlx-lm's tool parsers, without MLX and without its server.

Its server splits the text at the markers that the parser's module names, hands the text between them to the parser,
and drops a call that the parser refuses. The split is made here in the same way, since the server's own needs MLX;
outcomes say that the parser alone was asked (`layer`). A call is never streamed in pieces.
"""

from __future__ import annotations

import functools
import importlib
import json
import logging
import sys
import uuid
from pathlib import Path
from typing import Any

from prompt_debugger.core.parse.engines.vllm_worker.message import Call, Message
from prompt_debugger.core.parse.engines.wheel_worker.packages import empty_packages, version_beside
from prompt_debugger.core.parse.engines.wheel_worker.readers import Reader

NAME = "mlx-lm"
_EMPTY = ("mlx_lm", "mlx_lm.tool_parsers")
# The pairs of reasoning markers that its server knows, from mlx-lm 0.32.
_THINKING = (
    ("<think>", "</think>"), ("<longcat_think>", "</longcat_think>"), ("<|think:start|>", "<|think:end|>"),
    ("<|channel>thought", "<channel|>"), ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
)  # fmt: skip
_LOG = logging.getLogger("mlx_lm")


def load() -> str:
    """Import the parsers; return mlx-lm's version."""
    folder = empty_packages(_EMPTY)
    for name in tool_parsers():
        _parser(name)
    return version_beside(folder)


def tool_parsers() -> list[str]:
    """Return the names of the modules that hold a parser."""
    folder = Path(next(iter(sys.modules["mlx_lm.tool_parsers"].__path__)))
    return sorted(file.stem for file in folder.glob("*.py") if not file.stem.startswith("_"))


def reasoning_parsers() -> list[str]:
    """Return nothing: its server finds reasoning by the vocabulary's own markers."""
    return []


def reader(
    tool: str | None, reasoning: str | None, body: dict[str, Any], prompt_end: str, tokenizer: Any = None
) -> Reader:
    """Return a reader with a tool parser; the other arguments are those of every engine."""
    del reasoning, tokenizer
    module = _parser(tool) if tool is not None else None
    opener, closer = _thinking(prompt_end)
    read = functools.partial(_read_whole, module, body.get("tools") or None, (opener, closer), prompt_end)
    marks = () if module is None else (module.tool_call_start, module.tool_call_end)
    return Reader(read, None, tuple(mark for mark in (*marks, opener, closer) if mark))


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
    """Return the text outside the markers, and what lies between each pair; the last may lack its end."""
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
