# ruff: noqa: ANN401 - the objects of SGLang are untyped
"""Replay SGLang's own parser tests through our helper, and compare every verdict.

python scripts/sglang_tests.py VERSION FILE …    files of `test/registered/unit/function_call` in SGLang's repository

The tests are run as they are, in the wheel of that release, and each text that a passing test gives to a parser is
given to our helper, too: whole texts as an order, streamed ones in the test's own pieces. What the test's parser
returned is what the test wants. Nothing of the tests is kept. Prints the counts and each difference.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import logging
import os
import runpy
import subprocess
import sys
import unittest
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_WORKER = "prompt_debugger.core.parse.engines.wheel_worker"
_LIMITS = {"limit_s": 10.0, "cpu_s": 60.0, "memory_mb": 2048}
_ENVIRONMENT = {"CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
Calls = list[tuple[str, str]]


@dataclass
class Given:
    """One text that a test gave to a parser.

    Attributes:
        test: The test's name.
        parser: SGLang's name of the parser.
        pieces: The text, in the pieces in which it was streamed.
        tools: What the test declares, as the request has them.
        is_streamed: Whether it was streamed.
        content: What the parser returned as text.
        calls: The calls that it returned, by index: name and arguments.
    """

    test: str
    parser: str
    pieces: list[str]
    tools: list[dict[str, Any]]
    is_streamed: bool
    content: str = ""
    calls: dict[int, list[str]] = field(default_factory=dict)

    @property
    def read(self) -> tuple[str, Calls]:
        """Content and calls as they are compared."""
        return self.content, [(name, arguments) for _, (name, arguments) in sorted(self.calls.items())]

    def take(self, result: Any) -> None:
        """Add what a parser returned."""
        self.content += result.normal_text or ""
        for call in result.calls or ():
            kept = self.calls.setdefault(call.tool_index if self.is_streamed else len(self.calls), ["", ""])
            kept[0] += call.name or ""
            kept[1] += call.parameters or ""


class Recorder:
    """Takes down what the tests give to the parsers of one SGLang."""

    def __init__(self, classes: dict[str, Any]) -> None:
        self.test = ""
        self.given: list[Given] = []
        self._streams: dict[int, tuple[Any, Given]] = {}
        self._depth = 0
        seen: set[Any] = set()
        for name, made in classes.items():
            if made not in seen:
                seen.add(made)
                made.detect_and_parse = self._whole(name, made.detect_and_parse)
                made.parse_streaming_increment = self._streamed(name, made.parse_streaming_increment)
                if hasattr(made, "finish"):
                    made.finish = self._finished(made.finish)

    def begin(self, test: str) -> None:
        """Start a test."""
        self.test, self._streams = test, {}

    def _whole(self, name: str, inner: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(inner)
        def call(detector: Any, text: str, tools: Any, *more: Any, **named: Any) -> Any:
            result = self._inside(inner, detector, text, tools, *more, **named)
            if not self._depth and isinstance(text, str):
                given = Given(self.test, name, [text], _dumped(tools), is_streamed=False)
                given.take(result)
                self.given.append(given)
            return result

        return call

    def _streamed(self, name: str, inner: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(inner)
        def call(detector: Any, new_text: str, tools: Any, *more: Any, **named: Any) -> Any:
            result = self._inside(inner, detector, new_text, tools, *more, **named)
            if not self._depth and isinstance(new_text, str):
                if id(detector) not in self._streams:
                    given = Given(self.test, name, [], _dumped(tools), is_streamed=True)
                    self._streams[id(detector)] = (detector, given)
                    self.given.append(given)
                given = self._streams[id(detector)][1]
                given.pieces.append(new_text)
                given.take(result)
            return result

        return call

    def _finished(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(inner)
        def call(detector: Any, *arguments: Any, **named: Any) -> Any:
            result = self._inside(inner, detector, *arguments, **named)
            if not self._depth and id(detector) in self._streams:
                self._streams[id(detector)][1].take(result)
            return result

        return call

    def _inside(self, inner: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        self._depth += 1
        try:
            return inner(*arguments, **named)
        finally:
            self._depth -= 1


def _dumped(tools: Any) -> list[dict[str, Any]]:
    return [tool.model_dump(exclude_none=True) for tool in tools or ()]


def replay(folder: str, files: Sequence[str]) -> dict[str, Any]:
    """Run the tests of some files in the wheel of a folder, and return how our helper compares."""
    sys.path[:0] = [folder, str(ROOT)]
    logging.disable(logging.CRITICAL)
    module = importlib.import_module(f"{_WORKER}.sglang")
    version = module.load()
    module.prepare_own_tests(files[0])
    parsers: Any = importlib.import_module("sglang.srt.function_call.function_call_parser")
    recorder = Recorder(dict(parsers.FunctionCallParser.ToolCallParserEnum))
    passed: list[Given] = []
    counts = {"passed": 0, "failed": 0}
    for file in files:
        for case in _cases(runpy.run_path(file)):
            recorder.begin(f"{Path(file).stem}.{case.id().rpartition('.')[2]}")
            recorder.given = []
            result = unittest.TestResult()
            case.run(result)
            for _, told in (*result.failures, *result.errors, *result.skipped):
                print(recorder.test, told.strip().splitlines()[-1][:200], file=sys.stderr)
            if result.wasSuccessful() and not result.skipped:
                counts["passed"] += 1
                passed += recorder.given
            else:
                counts["failed"] += 1
    helper = _Helper(module)
    differing = []
    for given in passed:
        ours = helper.streamed(given) if given.is_streamed else helper.whole(given)
        if ours != given.read:
            differing.append({**vars(given), "wants": given.read, "ours": ours})
    of_streams = sum(given.is_streamed for given in passed)
    return {
        "version": version,
        "tests": counts,
        "whole": len(passed) - of_streams,
        "streamed": of_streams,
        "parsers": sorted({given.parser for given in passed}),
        "differing": differing,
    }


def _cases(made: dict[str, Any]) -> Iterator[unittest.TestCase]:
    for kind in made.values():
        if isinstance(kind, type) and issubclass(kind, unittest.TestCase):
            yield from (kind(name) for name in unittest.TestLoader().getTestCaseNames(kind))


class _Helper:
    """What answers our orders, in this process."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._outcomes: Any = importlib.import_module(f"{_WORKER}.outcomes")
        self._readers: Any = importlib.import_module(f"{_WORKER}.readers")
        self._piece: Any = importlib.import_module("prompt_debugger.core.parse.engines.vllm_worker.piece").Piece

    def whole(self, given: Given) -> object:
        """Return what an order for the whole text is answered with."""
        name = f"sglang:{given.parser}"
        order = {
            "parsers": [[name, given.parser, None]],
            "raw": given.pieces[0],
            "request": {"tools": given.tools} if given.tools else {},
            "markers": [],
            "streaming": False,
            "seed": 0,
            **_LIMITS,
        }
        outcome = self._outcomes.parse_with_all("sglang", order)[name]
        if outcome.get("error"):
            return outcome["error"]
        functions = [call["function"] for call in outcome["tool_calls"] or ()]
        return outcome["content"] or "", [(one["name"], one["arguments"]) for one in functions]

    def streamed(self, given: Given) -> object:
        """Return what our reader makes of the test's own pieces."""
        asked = self._readers.Asked(given.parser, None, {"tools": given.tools}, "".join(given.pieces))
        pieces = [self._piece(0, part, part, is_marker=False) for part in given.pieces]
        ends = range(1, len(pieces) + 1)
        try:
            message = self._outcomes._stream(self._module.reader(asked).stream, pieces, ends)
        except Exception as error:  # noqa: BLE001 - a parser may raise anything
            return f"{type(error).__name__}: {error}"
        return message.content or "", [(call["name"] or "", call["arguments"]) for call in message.calls]


def main(arguments: Sequence[str]) -> int:
    """Replay the tests in a process of their own, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", help="a release that was fetched, such as 0.5.23")
    parser.add_argument("files", nargs="+", metavar="FILE", help="a file of SGLang's own tests")
    parser.add_argument("--json", action="store_true", help="print everything as one JSON document")
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(ROOT))
    from prompt_debugger.core.base.interpreter import python_with
    from prompt_debugger.core.parse.engines.wheels import bring_wheel

    folder = bring_wheel("sglang", options.version)
    command = [python_with("torch"), __file__, "--in-wheel", str(folder), *options.files]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, **_ENVIRONMENT})
    found = json.loads(done.stdout.splitlines()[-1])
    if options.json:
        print(json.dumps(found, ensure_ascii=False, indent=1))
        return 0
    tests = found["tests"]
    print(f"SGLang {found['version']}: {tests['passed']} of its tests pass, {tests['failed']} do not or are skipped.")
    print(f"{found['whole']} whole texts and {found['streamed']} streams of {len(found['parsers'])} parsers compared.")
    for one in found["differing"]:
        how = "streamed" if one["is_streamed"] else "whole"
        print(f"{one['test']} ({one['parser']}, {how}): wants {one['wants']!r}, ours {one['ours']!r}")
    print(f"{len(found['differing'])} differ.")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--in-wheel"]:
        print(json.dumps(replay(sys.argv[2], sys.argv[3:]), default=str))
    else:
        sys.exit(main(sys.argv[1:]))
