"""An error says that parameters are missing, and the answer beside it has them."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.evidence import read_evidence, trace_of

_ERROR = (
    "WARN tool_execution{tool=Write}: Parameter validation failed\n"
    "  error=The Write tool was called with invalid arguments:\n"
    "  - file_path: Missing required parameter: 'file_path'\n"
)


def _pasted(name: str, arguments: object) -> str:
    call = {
        "id": "call_1",
        "index": 0,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }
    chunk = {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}
    return f"{_ERROR}\nThe stream:\n\n```json\n{json.dumps(chunk, indent=1)}\n```\n"


def _found(text: str) -> list[str]:
    return [finding.title for finding in diagnose_trace(trace_of(read_evidence(text))) if finding.code == "PD445"]


def test_the_call_has_what_the_tool_did_not_get() -> None:
    (title,) = _found(_pasted("Write", {"file_path": "a.txt", "content": "x"}))
    assert title == "The call to `Write` has `file_path`, but its tool was run without it."


@pytest.mark.parametrize("arguments", [{}, {"content": "x"}, {"filePath": "a.txt"}])
def test_a_call_without_it_is_the_models_own(arguments: dict[str, str]) -> None:
    (title,) = _found(_pasted("Write", arguments))
    assert "do not match the tool's schema" in title


def test_without_an_answer_it_is_the_models_own() -> None:
    (title,) = _found(_ERROR)
    assert "do not match the tool's schema" in title
