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
    ways: dict[str, Callable[..., tuple[Callable[[], Read], Callable[[], Read]]]]
    ways = {"sglang": _sglang, "mlx_lm": _mlx_lm, "lmdeploy": _lmdeploy, "transformers": _transformers}
    by_hand = ways[engine]
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
        start = module.tool_call_start
        begun = next((n for n in range(len(start) - 1, 0, -1) if case["raw"].endswith(start[:n])), 0)
        outside, *bodies = case["raw"][: len(case["raw"]) - begun].split(start)  # what may begin a call goes at a stop
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


def _lmdeploy(tool: str, case: dict[str, Any], parts: list[str]) -> tuple[Callable[[], Read], Callable[[], Read]]:
    """Make the response parser as its `set_parsers` does for the whole server, and call it as its endpoint does."""
    base: Any = importlib.import_module("lmdeploy.serve.parsers.response_parser").BaseResponseParser
    protocol: Any = importlib.import_module("lmdeploy.serve.openai.protocol")

    def made() -> Any:
        base.set_parsers(tool_parser_name=tool)
        request = protocol.ChatCompletionRequest(
            model="m", messages=[{"role": "user", "content": "hi"}], tools=case["tools"]
        )
        return base(request)

    def whole() -> Read:
        content, calls, _ = made().parse_complete(case["raw"], [1, 2])
        return content or "", [(call.function.name, call.function.arguments) for call in calls or []]

    def streamed() -> Read:
        content = ""
        found: dict[int, list[str]] = {}
        parser = made()
        for number, part in enumerate(parts, 1):
            for delta, _ in parser.stream_chunk(part, [1], final=number == len(parts)):
                content += delta.content or ""
                for call in delta.tool_calls or []:
                    kept = found.setdefault(call.index, ["", ""])
                    kept[0] += call.function.name or ""
                    kept[1] += call.function.arguments or ""
        return content, [(name or None, text) for _, (name, text) in sorted(found.items())]

    return whole, streamed


def _transformers(tool: str, case: dict[str, Any], parts: list[str]) -> tuple[Callable[[], Read], Callable[[], Read]]:
    """Call `parse_response`, and gather the events of a `ResponseParser` by hand."""
    parsing: Any = importlib.import_module("transformers.utils.chat_parsing")
    serving: Any = importlib.import_module("transformers.cli.serving.utils")

    def template() -> Any:
        return next(one for types, one in serving._RESPONSE_TEMPLATE_FALLBACKS.items() if tool in types)

    def called(calls: Any) -> Calls:
        texts = []
        for call in calls:
            arguments = call["function"]["arguments"]
            texts.append((call["function"]["name"], arguments if isinstance(arguments, str) else json.dumps(arguments)))
        return texts

    def whole() -> Read:
        if tool == "response_template":
            raise NotImplementedError
        parsed = parsing.parse_response(case["raw"], template(), prefix="")
        return parsed.get("content", ""), called(parsed.get("tool_calls") or [])

    def streamed() -> Read:
        if tool == "response_template":
            raise NotImplementedError
        parser = parsing.ResponseParser(template(), prefix="")
        events = [event for part in parts for event in parser.feed(part)]
        events += parser.finalize()[1]
        chunks = (one for one in events if one["type"] == "region_chunk" and not one["dirty"])
        closed = [one["value"] for one in events if one["type"] == "region_close" and one["field"] == "tool_calls"]
        return "".join(one["text"] for one in chunks if one["field"] == "content"), called(closed)

    return whole, streamed


if __name__ == "__main__":
    main(*sys.argv[1:])
