"""The examples of docs/python.md, run as a reader would: in one notebook, from top to bottom."""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any

import pytest

import prompt_debugger
from scripts.public_api import broken
from tests.attacks.page import echoing
from tests.conftest import ROOT
from tests.programs import output_in

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"(?:<!-- needs: ([\w ]+) -->\n)?```python\n(.*?)```", PAGE, re.S)


def _run(needs: tuple[str, ...], endpoint: str = "") -> dict[str, Any]:
    names: dict[str, Any] = {}
    for need, code in BLOCKS:
        if need in needs:
            code = code.replace("http://localhost:8000/v1", endpoint)
            exec(code, names)
    return names


def test_the_page_has_examples_of_every_function() -> None:
    assert {need for need, _ in BLOCKS} == {"", "a server", "the lab", "vLLM"}
    for name in ("render", "parse", "run", "run_async", "diagnose", "check", "verify", "to_json"):
        assert any(re.search(rf"import .*\b{name}\b", code) for _, code in BLOCKS), name


def test_what_needs_no_server_runs() -> None:
    names = _run(("",))

    assert names["prompt"].text.endswith(names["token"].text)
    assert names["parsed"].findings


def test_what_needs_a_server_runs() -> None:
    with echoing() as url:
        names = _run(("", "a server"), url)

    assert names["trace"].chat.message["content"] == "ECHO Weather in Paris?"
    assert [row["status"] for row in names["verified"].rows] == ["success", "success"]
    assert prompt_debugger.to_json(names["verified"])["success_count"] == 2


@pytest.mark.lab
def test_what_needs_the_lab_runs() -> None:
    names = _run(("", "the lab"))

    assert names["first"].verdict is not None


@pytest.mark.vllm
def test_what_needs_vllm_runs() -> None:
    names = _run(("", "vLLM"))

    assert {name: one.account.is_right for name, one in names["parsed"].parse.parsers.items()} == {
        "vllm:hermes": True,
        "vllm:kimi_k2": False,
    }
    assert "vllm:kimi_k2" in names["checked"].cells
    assert prompt_debugger.to_json(names["checked"])["parsers"]


def test_a_gate_of_verify_fails_where_it_holds() -> None:
    request = {"messages": [{"role": "user", "content": "hi"}]}
    with echoing() as url:
        verified = prompt_debugger.verify([request], url, fail_if=["success_count >= 1", "failure_count > 0"])

    assert verified.failed_gates == ("success_count >= 1",)


def test_every_function_has_a_twin_of_the_same_signature() -> None:
    for name in ("check", "diagnose", "parse", "render", "run", "verify"):
        plain, twin = getattr(prompt_debugger, name), getattr(prompt_debugger, f"{name}_async")

        assert inspect.signature(plain) == inspect.signature(twin), name
        assert (plain.__name__, twin.__name__) == (name, f"{name}_async")
        assert inspect.iscoroutinefunction(twin)


def test_an_engine_is_asked_with_all_its_parsers(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def note(case: Any) -> Any:
        asked.append(case["parsers"])
        return "parsed"

    monkeypatch.setattr("prompt_debugger.core.api._parse_case", note)

    prompt_debugger.parse("", parsers=["vllm:hermes"], engines=["vllm", "sglang==0.5.23", "vllm@0.11.0"])

    assert asked == [["vllm:hermes", "vllm:*", "sglang@0.5.23:*", "vllm@0.11.0:*"]]


def test_a_notebook_shows_the_report_in_a_frame_that_asks_nothing_of_the_network() -> None:
    trace = prompt_debugger.diagnose('<tool_call>{"name": "f", "arguments": {}}</tool_call><script>alert(1)</script>')

    view = trace._repr_html_
    assert view is not None
    shown = view()

    assert shown.startswith("<iframe ")
    assert 'sandbox="allow-scripts"' in shown
    assert shown.count("<") == 2  # the frame's own: the report is its attribute
    assert "default-src &amp;#x27;none&amp;#x27;" in shown


def test_no_public_name_or_signature_of_the_stored_list_has_changed() -> None:
    assert not broken(), "If this change is meant: python scripts/public_api.py, and a line in CHANGELOG.md."


def test_importing_the_library_loads_nothing_heavy() -> None:
    code = "import prompt_debugger, sys; print(*sorted(name.partition('.')[0] for name in sys.modules))"

    loaded = set(output_in(ROOT, [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, '.'); {code}"]).split())

    heavy = {"gradio", "transformers", "tokenizers", "vllm", "torch", "numpy", "httpx", "pydantic", "jinja2", "asyncio"}
    assert not heavy & loaded


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "prompt_debugger" / "py.typed").is_file()


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
def test_what_is_not_a_request_is_one_clear_error(request_: Any) -> None:
    with pytest.raises(prompt_debugger.DebuggerError) as caught:
        prompt_debugger.render(request_, tokenizer="lab-model")

    assert caught.value.message
