"""SGLang's own tests replayed: what a passing test wants is compared with what our helper gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.parse.engines import WHEELS, fetch
from scripts.sglang_tests import Given, main

OWN = """
import unittest
from sglang.srt.entrypoints.openai.protocol import Tool
from sglang.srt.function_call.qwen25_detector import Qwen25Detector
from sglang.test.test_utils import CustomTestCase

TOOLS = [Tool(type="function", function={"name": "f", "parameters": {"type": "object"}})]
CALL = '<tool_call>\\n{"name": "f", "arguments": {"a": 1}}\\n</tool_call>'


class TestParser(CustomTestCase):
    def test_whole(self):
        assert len(Qwen25Detector().detect_and_parse(CALL, TOOLS).calls) == 1

    def test_streamed(self):
        detector = Qwen25Detector()
        found = [detector.parse_streaming_increment(part, TOOLS) for part in CALL.split("f")]
        assert found

    def test_that_fails(self):
        assert Qwen25Detector().detect_and_parse("no call", TOOLS).calls

    def test_with_a_method_replaced(self):
        detector = Qwen25Detector()
        detector.parse_base_json = lambda *_: []
        assert detector.detect_and_parse(CALL, TOOLS).calls == []
"""


class Part:
    def __init__(self, text: str, calls: list[object]) -> None:
        self.normal_text, self.calls = text, calls


class Call:
    def __init__(self, index: int, name: str | None, parameters: str) -> None:
        self.tool_index, self.name, self.parameters = index, name, parameters


def test_the_parts_of_a_stream_are_put_together_by_index_and_whole_calls_by_place() -> None:
    streamed = Given("t", "p", [], [], is_streamed=True)
    for call in (Call(0, "f", ""), Call(0, None, '{"a"'), Call(1, "g", "{}"), Call(0, None, ": 1}")):
        streamed.take(Part("x", [call]))
    whole = Given("t", "p", [], [], is_streamed=False)
    whole.take(Part("", [Call(-1, "f", "{}"), Call(-1, "g", "{}")]))  # the index of a whole call may be unset

    assert streamed.read == ("xxxx", [("f", '{"a": 1}'), ("g", "{}")])
    assert whole.read == ("", [("f", "{}"), ("g", "{}")])


@pytest.mark.vllm
def test_what_a_passing_test_gives_to_a_parser_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    version = WHEELS["sglang"].example
    try:
        fetch(f"sglang=={version}")
    except EngineError as error:
        pytest.skip(f"sglang cannot be had: {error.message}")
    file = tmp_path / "test_own.py"
    file.write_text(OWN, encoding="utf-8")

    assert main([version, str(file)]) == 0

    shown = capsys.readouterr().out
    assert "3 of its tests pass, 1 do not or are skipped" in shown
    assert "2 whole texts and 1 streams of 1 parsers compared" in shown
    assert "test_own.test_with_a_method_replaced (qwen, whole): wants ['', []]" in shown
    assert "1 differ." in shown
