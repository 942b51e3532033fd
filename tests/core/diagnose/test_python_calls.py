"""Contents that are nothing but calls in Python, and code that is none."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject, Request, Server, Severity, Trace
from prompt_debugger.core.diagnose.calls.python_calls import python_calls, report_python
from prompt_debugger.core.diagnose.calls.written_calls import CALL_EXPECTED

TOOL: JSON = {"type": "function", "function": {"name": "f"}}


@pytest.mark.parametrize(
    ("content", "names", "shown"),
    [
        ("f(a=1)", ("f",), "f(a=1)"),
        ("  f(a=1)\ng.h(b=[1, {'c': None}])\n", ("f", "g.h"), "f(a=1)\ng.h(b=[1, {'c': None}])"),
        ("```python\nf(a=-1)\n```", ("f",), "f(a=-1)"),
        ("```\nf(a='x')", ("f",), "f(a='x')"),
    ],
)
def test_lines_that_call_with_named_plain_values_are_calls(content: str, names: tuple[str, ...], shown: str) -> None:
    found = python_calls(content)

    assert found is not None
    assert found.names == names
    assert content[slice(*found.span)] == shown


@pytest.mark.parametrize(
    "content",
    [
        "f(1)", "f()", "f(a=b)", "f(**{'a': 1})", "f(a=1, *[2])", "print(a=1)", "x = f(a=1)", "f(a=1)\nx = (1)",
        "f(a=1)(b=2)", "f(a=", "f(a=1))", "[f(a=1)]", "See f(a=1)", "", "f(a=" + "1" * 8_000 + ")",
    ],
)  # fmt: skip
def test_other_code_is_none(content: str) -> None:
    assert python_calls(content) is None


def seen(content: str, body: JSONObject, *notes: str, model: str | None = None) -> Trace:
    server = None if model is None else Server("http://127.0.0.1:1/v1", "vllm", model=model)
    return Trace(Request(body, ""), chat=ChatResult({"content": content}, "stop"), notes=notes, server=server)


ASKED: JSONObject = {"model": "m", "messages": [{"role": "user", "content": "a"}]}


def test_a_call_to_an_offered_tool_is_surely_meant_as_one() -> None:
    one = report_python(seen("f(a=1)", {**ASKED, "tools": [TOOL]}), "f(a=1)")
    two = report_python(seen("", {**ASKED, "tools": [TOOL]}), "f(a=1)\nf(a=2)")

    assert one is not None
    assert two is not None
    assert one.title == "Content is nothing but a call to `f` in Python, without a list around it."
    assert two.title == "Content is nothing but calls to `f` in Python, without a list around them."
    assert "The request is unknown" not in one.detail
    assert one.severity is Severity.WARNING
    assert one.evidence[0].quote == "f(a=1)"


def test_without_a_request_it_may_be_code_unless_words_around_it_expect_a_call() -> None:
    guessed = report_python(seen("f(a=1)", {}), "f(a=1)")
    expected = report_python(seen("f(a=1)", {}, CALL_EXPECTED), "f(a=1)")

    assert guessed is not None
    assert expected is not None
    assert (guessed.severity, expected.severity) == (Severity.NOTE, Severity.WARNING)
    assert guessed.detail.endswith("The request is unknown, so it may be code that was asked for.")


def test_code_of_another_name_is_an_answer() -> None:
    assert report_python(seen("g(a=1)", {**ASKED, "tools": [TOOL]}), "g(a=1)") is None
    assert report_python(seen("f(a=1)", ASKED), "f(a=1)") is None
    assert report_python(seen("f(1)", {**ASKED, "tools": [TOOL]}), "f(1)") is None


@pytest.mark.parametrize(
    ("model", "is_named"), [("Qwen/Qwen3-8B", True), ("meta-llama/Llama-4-Scout-17B-16E", False), (None, False)]
)
def test_a_model_that_calls_otherwise_gets_its_own_parser_named(model: str | None, *, is_named: bool) -> None:
    report = report_python(seen("f(a=1)", {**ASKED, "tools": [TOOL]}, model=model), "f(a=1)")

    assert report is not None
    words = [step if isinstance(step, str) else step.text for step in report.fix or ()]
    assert words[0].startswith("The models that call in Python write a list")
    assert any("hermes" in text for text in words) is is_named
