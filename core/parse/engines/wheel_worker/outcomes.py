# ruff: noqa: ANN401 - the objects of engines are untyped
"""One order → the outcome of every parser of one engine that it names. Whatever a parser does is an outcome."""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from prompt_debugger.core.parse.engines.vllm_worker.judging import (
    Lines,
    arm_time_limit,
    compare_outcome,
    outcome_of,
    unknown,
)
from prompt_debugger.core.parse.engines.vllm_worker.message import GrowingMessage, Message
from prompt_debugger.core.parse.engines.vllm_worker.piece import Piece
from prompt_debugger.core.parse.engines.vllm_worker.pieces import pieces_of_output
from prompt_debugger.core.parse.engines.vllm_worker.vocabulary import (
    StandIn,
    absent_tokens,
    plain_byte_tokenizer,
    suffixed_tags,
)
from prompt_debugger.core.parse.engines.wheel_worker.readers import Asked, Reader, finish_reason

_LINES = Lines()
_ANY_TOOL = {"type": "function", "function": {"name": "any_tool", "parameters": {"type": "object"}}}


def describe(engine: str) -> dict[str, Any]:
    """Import an engine's parsers; return its version and their names, and take over its log."""
    log = logging.getLogger()
    log.handlers = [_LINES]
    arm_time_limit()
    module, version = _module(engine), _module(engine).load()
    plain_byte_tokenizer()
    with contextlib.suppress(Exception):  # imported when a tokenizer is first used, and makes a folder
        importlib.import_module("torch._dynamo")
    return {
        "version": version,
        "layer": "parser",
        "tool_parsers": module.tool_parsers(),
        "reasoning_parsers": module.reasoning_parsers(),
    }


def parse_with_all(engine: str, order: dict[str, Any]) -> dict[str, Any]:
    """Return the outcome of every parser that an order names, by name."""
    return {
        name: outcome_of(functools.partial(_parse, engine, tool, reasoning, order), order, _LINES)
        for name, tool, reasoning in order["parsers"]
    }


def _parse(
    engine: str, tool: str | None, reasoning: str | None, order: dict[str, Any], outcome: dict[str, Any]
) -> None:
    module = _module(engine)
    outcome["error"] = unknown(module.NAME, "tool", tool, module.tool_parsers()) or unknown(
        module.NAME, "reasoning", reasoning, module.reasoning_parsers()
    )
    if outcome["error"]:
        return
    request = dict(order.get("request") or {})
    request.setdefault("tools", [_ANY_TOOL])
    folder = order.get("tokenizer")
    tokenizer: Any = _tokenizer(folder) if folder else None
    tags = [] if folder else suffixed_tags("\n".join((order["raw"], *order["markers"])))
    sampled = order.get("finish_reason")
    reader = module.reader(
        Asked(
            tool,
            reasoning,
            request,
            order["raw"],
            prompt_end=_prompt_end(order),
            tokenizer=tokenizer,
            stand_in=StandIn(plain_byte_tokenizer(), markers=tags) if tags else None,
            sampled=sampled,
            earlier_calls=order.get("earlier_calls") or 0,
        )
    )
    if tokenizer is None:
        tokenizer = StandIn(
            plain_byte_tokenizer(), absent_tokens(order["raw"]), [*order["markers"], *tags, *reader.markers]
        )
        outcome["stand_in"] = "no tokenizer was given"
    pieces = pieces_of_output(
        tokenizer, order["raw"], order.get("token_ids"), order.get("prompt_token_ids") or (), folder,
        _detokenizing(request, reader, order["raw"]),
    )  # fmt: skip
    whole = reader.whole("".join(piece.text for piece in pieces))
    outcome["finish_reason"] = whole.finish_reason or finish_reason(sampled, is_calling=bool(whole.calls))
    is_streamed = reader.stream is not None and order.get("streaming")
    stream = functools.partial(_stream, reader.stream, pieces)
    compare_outcome(whole, pieces, stream, {**order, "streaming": is_streamed}, outcome)


def _stream(
    open_stream: Callable[[], Any],
    pieces: Sequence[Piece],
    ends: Sequence[int],
    watch: Callable[[int, GrowingMessage], None] | None = None,
) -> Message:
    """Stream the output in deltas that end after so many pieces each, and assemble what comes."""
    stream, growing, start = open_stream(), GrowingMessage(), 0
    for index, end in enumerate(ends):
        text = "".join(piece.text for piece in pieces[start:end])
        for delta in stream.feed(text, is_last=end == ends[-1]):
            growing.add(delta, first_only=False)
        start = end
        if watch is not None:
            watch(index, growing)
    return growing.message()


def _prompt_end(order: dict[str, Any]) -> str:
    """Return the end of the prompt as text, "" where it is not known."""
    if order.get("prompt_text"):
        return str(order["prompt_text"])
    ids, folder = order.get("prompt_token_ids"), order.get("tokenizer")
    return str(_tokenizer(folder).decode(ids[-64:], skip_special_tokens=False)) if ids and folder else ""


def _detokenizing(request: dict[str, Any], reader: Reader, raw: str) -> Any:
    """Return the part of a request that decides what text a parser gets."""
    return SimpleNamespace(
        skip_special_tokens=not reader.keeps_special and request.get("skip_special_tokens", True),
        include_stop_str_in_output=bool(request.get("no_stop_trim")) or raw.endswith(reader.kept_ends),
        stop=request.get("stop"),
        stop_token_ids=request.get("stop_token_ids"),
    )


@functools.lru_cache(maxsize=4)
def _tokenizer(folder: str) -> Any:
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    made = PreTrainedTokenizerFast if Path(folder, "tokenizer.json").is_file() else AutoTokenizer
    return made.from_pretrained(folder, local_files_only=True, trust_remote_code=False)  # else it would ask, and wait


def _module(engine: str) -> Any:
    return importlib.import_module(f"prompt_debugger.core.parse.engines.wheel_worker.{engine}")
