"""Run in a process of its own: an engine's parsers called as its own code calls them, beside what our helper makes.

    python by_hand.py ENGINE FOLDER < cases.json

Each case has `raw` and `tools`; every tool parser is asked, whole and token by token. Prints a JSON object: how many
comparisons were made, and those that differ.
"""

from __future__ import annotations

import functools
import importlib
import json
import logging
import re
import sys
from collections.abc import Callable
from typing import Any

Calls = list[tuple[str | None, str]]
Read = tuple[str, Calls]  # content and calls


def main(engine: str, folder: str) -> None:
    sys.path.insert(0, folder)
    logging.disable(logging.CRITICAL)
    module = importlib.import_module(f"prompt_debugger.core.parse.engines.wheel_worker.{engine}")
    module.load()
    outcomes = importlib.import_module("prompt_debugger.core.parse.engines.wheel_worker.outcomes")
    readers = importlib.import_module("prompt_debugger.core.parse.engines.wheel_worker.readers")
    piece = importlib.import_module("prompt_debugger.core.parse.engines.vllm_worker.piece").Piece
    by_hand: Callable[..., tuple[Callable[[], Read], Callable[[], Read]]] = {"sglang": _sglang, "mlx_lm": _mlx_lm}[
        engine
    ]
    differing: list[dict[str, object]] = []
    count = 0
    for case in json.load(sys.stdin):
        for tool in module.tool_parsers():
            asked = readers.Asked(tool, None, {"tools": case["tools"]}, case["raw"])
            parts = re.findall(r"<[^<>\n]{1,60}>|\w+|\s+|.", case["raw"], re.DOTALL)
            pieces = [piece(0, part, part, is_marker=False) for part in parts]
            ours = (
                lambda asked=asked: module.reader(asked).whole(asked.raw),
                lambda asked=asked, pieces=pieces: outcomes._stream(
                    module.reader(asked).stream, pieces, range(1, len(pieces) + 1)
                ),
            )
            for how, read, hand in zip(("whole", "streamed"), ours, by_hand(tool, case, parts), strict=True):
                found, expected = _try(functools.partial(_read_from, read)), _try(hand)
                if expected == "NotImplementedError":
                    continue
                count += 1
                if found != expected:
                    differing.append({"parser": tool, "how": how, "raw": case["raw"], "ours": found, "hand": expected})
    print(json.dumps({"count": count, "differing": differing}))


def _read_from(read: Callable[[], Any]) -> Read:
    message = read()
    return message.content or "", [(call["name"], call["arguments"]) for call in message.calls]


def _try(read: Callable[[], object]) -> object:
    try:
        return read()
    except Exception as error:  # noqa: BLE001 - a parser may raise anything, and then both must
        return type(error).__name__


def _sglang(tool: str, case: dict[str, Any], parts: list[str]) -> tuple[Callable[[], Read], Callable[[], Read]]:
    protocol: Any = importlib.import_module("sglang.srt.entrypoints.openai.protocol")
    parser: Any = importlib.import_module("sglang.srt.function_call.function_call_parser").FunctionCallParser
    tools = [protocol.Tool(**tool) for tool in case["tools"]]

    def whole() -> Read:
        content, calls = parser(tools, tool).parse_non_stream(case["raw"])
        return content, [(call.name, call.parameters) for call in calls]

    def streamed() -> Read:
        asked = parser(tools, tool)
        content = ""
        found: dict[int, list[str]] = {}
        for part in parts:
            text, calls = asked.parse_stream_chunk(part)
            content += text
            _gather(found, calls)
        text, calls = asked.parse_stream_end()
        _gather(found, calls)
        arguments = getattr(asked.detector, "prev_tool_call_arr", None)
        sent = getattr(asked.detector, "streamed_args_for_tool", None)
        if arguments and sent and len(arguments) <= len(sent):  # what the server sends last
            last = len(arguments) - 1
            known = arguments[last].get("arguments", {})
            known = known if isinstance(known, str) else json.dumps(known, ensure_ascii=False)
            if known.startswith(sent[last]):
                found.setdefault(last, ["", ""])[1] += known[len(sent[last]) :]
        return content + text, [(name or None, text) for _, (name, text) in sorted(found.items())]

    return whole, streamed


# What the state machine of its server looks at besides: an output that has it is not compared.
_ALSO_NEEDED = ("think>", "<|channel>", "<|open|>", "<|message|>", "<|eom|>", "<|eot|>", "think:")


def _gather(found: dict[int, list[str]], calls: Any) -> None:
    for call in calls:
        kept = found.setdefault(call.tool_index, ["", ""])
        kept[0] += call.name or ""
        kept[1] += call.parameters or ""


def _mlx_lm(tool: str, case: dict[str, Any], parts: list[str]) -> tuple[Callable[[], Read], Callable[[], Read]]:
    """Take the text between the markers by hand; outputs with reasoning or a response format are not compared."""
    del parts
    module = importlib.import_module(f"mlx_lm.tool_parsers.{tool}")

    def read() -> Read:
        if any(mark in case["raw"] for mark in _ALSO_NEEDED):
            raise NotImplementedError
        outside, *bodies = case["raw"].split(module.tool_call_start)
        calls: Calls = []
        for body in bodies:
            inside, _, after = body.partition(module.tool_call_end) if module.tool_call_end else (body, "", "")
            outside += after
            try:
                parsed = module.parse_tool_call(inside, case["tools"]) if inside else []
            except ValueError:
                parsed = []
            for call in parsed if isinstance(parsed, list) else [parsed]:
                calls.append((call["name"], json.dumps(call["arguments"], ensure_ascii=False)))
        return outside, calls

    return read, read


if __name__ == "__main__":
    main(*sys.argv[1:])
