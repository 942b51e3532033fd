"""The examples of docs/python.md, run as a reader would: in one notebook, from top to bottom."""

from __future__ import annotations

import re
from typing import Any

import pytest

import prompt_debugger
from tests.attacks.page import echoing
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"(?:<!-- needs: ([\w ]+) -->\n)?```python\n(.*?)```", PAGE, re.S)


def _run(needs: tuple[str, ...], endpoint: str = "") -> dict[str, Any]:
    names: dict[str, Any] = {}
    for need, code in BLOCKS:
        if need in needs:
            exec(code.replace("http://localhost:8000/v1", endpoint), names)
    return names


def test_the_page_has_examples_of_every_function() -> None:
    assert {need for need, _ in BLOCKS} == {"", "a server", "the lab"}
    for name in ("render", "parse", "run", "run_async", "diagnose", "to_json"):
        assert any(re.search(rf"import .*\b{name}\b", code) for _, code in BLOCKS), name


def test_what_needs_no_server_runs() -> None:
    names = _run(("",))

    assert names["prompt"].text.endswith(names["token"].text)
    assert names["parsed"].findings


def test_what_needs_a_server_runs() -> None:
    with echoing() as url:
        names = _run(("", "a server"), url)

    assert names["trace"].chat.message["content"] == "ECHO Weather in Paris?"


@pytest.mark.lab
def test_what_needs_the_lab_runs() -> None:
    names = _run(("", "the lab"))

    assert names["first"].verdict is not None


async def test_the_plain_functions_work_where_a_loop_runs() -> None:
    with echoing() as url:
        trace = prompt_debugger.run({"messages": [{"role": "user", "content": "hi"}]}, url)

    assert trace.chat is not None
    assert trace.chat.message["content"] == "ECHO hi"


async def test_the_twins_give_the_same() -> None:
    request = {"messages": [{"role": "user", "content": "hi"}]}

    rendered = await prompt_debugger.render_async(request, tokenizer="lab-model")
    parsed = await prompt_debugger.parse_async("hi")

    assert rendered == prompt_debugger.render(request, tokenizer="lab-model")
    assert parsed == prompt_debugger.parse("hi")


def test_an_endpoint_needs_no_lab_and_none_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise AssertionError("a pool of labs was made")

    monkeypatch.setattr("prompt_debugger.core.api.LabPool", fail)
    with echoing() as url:
        prompt_debugger.run({"messages": [{"role": "user", "content": "hi"}]}, url)


@pytest.mark.parametrize("request_", [{}, {"messages": "x"}, {"messages": [object()]}, "no request at all"])
def test_what_is_no_request_is_one_clear_error(request_: Any) -> None:
    with pytest.raises(prompt_debugger.DebuggerError) as caught:
        prompt_debugger.render(request_, tokenizer="lab-model")

    assert caught.value.message
