# ruff: noqa: ANN401 - the objects of vLLM are untyped
"""A pytest plugin for vLLM's own tests: writes down what a parser was given and what it answered.

Only passed tests are written: what their parser answered is what they expect.
Where a test asks for a tokenizer that is not here, it gets a stand-in.
"""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

import pytest

_seen: list[dict[str, Any]] = []
_depth = [0]


def pytest_configure() -> None:
    """Put the stand-in in place, and a listener on every parser."""
    import transformers
    import vllm.tokenizers
    from vllm.reasoning import ReasoningParserManager
    from vllm.tool_parsers import ToolParserManager

    from prompt_debugger.core.parse.engines.vllm_worker import vocabulary

    def stand_in(*_: Any, **__: Any) -> Any:
        return vocabulary.StandIn(vocabulary.byte_tokenizer())

    transformers.AutoTokenizer.from_pretrained = stand_in
    vllm.tokenizers.get_tokenizer = stand_in
    for manager, method, note in (
        (ToolParserManager, "extract_tool_calls", _note_calls),
        (ReasoningParserManager, "extract_reasoning", _note_reasoning),
    ):
        for name in manager.list_registered():
            try:
                parser = (
                    manager.get_tool_parser(name)
                    if manager is ToolParserManager
                    else manager.get_reasoning_parser(name)
                )
            except Exception:  # noqa: BLE001 - a parser that cannot be imported has no tests that pass
                continue
            _listen(parser, method, note)


def _listen(parser: Any, method: str, note: Any) -> None:
    original = getattr(parser, method)
    if getattr(original, "is_heard", False):
        return

    @functools.wraps(original)
    def heard(self: Any, text: Any, request: Any = None, *rest: Any, **named: Any) -> Any:
        _depth[0] += 1
        try:
            answer = original(self, text, request, *rest, **named)
        finally:
            _depth[0] -= 1
        if not _depth[0] and isinstance(text, str):
            _seen.append({"family": type(self).__name__, "raw": text, **_tools(self, request), **note(answer)})
        return answer

    heard.is_heard = True  # type: ignore[attr-defined]
    setattr(parser, method, heard)


def _tools(parser: Any, request: Any) -> dict[str, Any]:
    tools = getattr(request, "tools", None) or getattr(parser, "tools", None)
    if not isinstance(tools, list):
        return {"tools": []}
    return {"tools": [t if isinstance(t, dict) else t.model_dump(exclude_none=True) for t in tools]}


def _note_calls(answer: Any) -> dict[str, Any]:
    calls = [[c.function.name, c.function.arguments] for c in answer.tool_calls]
    return {"calls": calls, "content": answer.content or ""}


def _note_reasoning(answer: Any) -> dict[str, Any]:
    reasoning, content = answer
    return {"reasoning": reasoning or "", "content": content or ""}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Any:
    """Write down what was heard in a test, once it has passed."""
    report = (yield).get_result()
    if report.when == "setup":
        _seen.clear()
    elif report.when == "call" and report.passed and not hasattr(report, "wasxfail"):
        with Path(os.environ["PEER_RECORD"]).open("a", encoding="utf-8") as record:
            for heard in _seen:
                try:
                    record.write(json.dumps({"origin": item.nodeid, **heard}) + "\n")
                except (TypeError, ValueError):
                    continue
