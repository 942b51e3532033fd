"""The worked case that loses its call, on a real server that runs the written file: nothing is lost."""

from __future__ import annotations

import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.types import Severity
from prompt_debugger.core.pipeline import Target, find_example
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.lab import LabSpec
from prompt_debugger.core.tools.plugin.write import write_plugin

pytestmark = pytest.mark.lab


async def test_the_dropped_call_comes_back_streamed_and_not(labs, tmp_path):
    file = tmp_path / "prompt_debugger_parser.py"
    file.write_text(write_plugin("kimi_k2"), encoding="utf-8")
    spec = LabSpec(tool_parser="prompt_debugger", extra_args=("--tool-parser-plugin", str(file)))
    request = read_request(find_example("dropped-call").request_text)

    trace = await pipeline.run(request, Target(lab=spec), labs)

    assert trace.verdict is not None
    assert trace.chat is not None
    assert trace.chat_stream is not None
    for answer in (trace.chat, trace.chat_stream):
        calls = answer.message["tool_calls"]
        assert [call["function"] for call in calls] == [{"name": "get_weather", "arguments": '{"city": "Paris"}'}]
        assert answer.finish_reason == "tool_calls"
        assert calls[0]["id"] == "functions.get_weather:1"
    assert trace.verdict.dropped_calls == 0
    assert "Nothing lost" in trace.verdict.sentence
    assert [finding for finding in trace.findings if finding.severity is Severity.ERROR] == []
