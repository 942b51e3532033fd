"""Views of strangers' texts: drawn in threads, never by the event loop, in time that grows as the texts do."""

from __future__ import annotations

import ast
import functools
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import (
    ChatResult,
    Completion,
    JSONObject,
    Prompt,
    PromptSpan,
    Request,
    Span,
    SpanKind,
    Token,
    TokenKind,
    Trace,
)
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.pipeline.census import read_raw
from prompt_debugger.core.request import read_request
from prompt_debugger.ui.present.notices import notices_payload
from prompt_debugger.ui.present.run import RunView
from tests.attacks.growth import grows_linearly
from tests.conftest import ROOT

# What models and strangers write that is hard to read, to align, to cut or to escape.
SHAPES = {
    "words": "some plain words and more ",
    "one letter": "a",
    "lines": "\n",
    "right to left": "\u202eabc\u200b",
    "combining": "e\u0301\u0302\u0303",
    "halves": "\ud800x",
    "families": "👩‍👩‍👧‍👦",
    "controls": "\x00\x1b[31m",
    "calls": '<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>\n',
    "begun calls": '<tool_call>\n{"name": ',
    "brackets": "[",
    "quotes": '"\\',
    "thoughts": "<think>a</think>",
    "parameters": "<function=f><parameter=a>b</parameter></function>",
    "markup": "<img src=x onerror=alert(1)>",
    "objects": '{"a":[',
}
# Drawn whatever a visitor sent: a sentence of ours, or an error, whose words are cut.
SMALL = {
    "bench_error_payload", "edit_error_payload", "error_payload", "live_error_payload", "look_failed_payload",
    "no_server_payload", "running_payload", "server_look_payload", "tool_error_payload", "unserved_payload",
    "waiting_payload", "lab_payload", "too_long_payload", "trial_payload", "trial_error_payload",
    "check_running_payload", "asking_payload", "lab_awaited_payload",
}  # fmt: skip

# What reads or judges a text, in the process that asks for it.
JUDGING = {
    "diagnose_trace",
    "render_case",
    "render_on_server",
    "CaseParser",
    "gather_evidence",
    "read_evidence",
    "take_census",
}


@functools.lru_cache(maxsize=8)
def run_of(shape: str, size: int) -> Trace:
    """Return a run whose every text is of one shape; its message differs from the raw output in the middle."""
    text = (SHAPES[shape] * (size // len(SHAPES[shape]) + 1))[:size]
    message: JSONObject = {"role": "assistant", "content": text[: size // 2] + "!" + text[size // 2 + 1 :]}
    parse = read_raw(text, ReadContext(finish_reason="stop"), message=message)
    tokens = tuple(
        Token(start % 50_000, text[start : start + 4], Span(start, min(start + 4, size)), TokenKind.TEXT, b"abcd")
        for start in range(0, size, 4)
    )
    spans = tuple(
        PromptSpan(Span(start, min(start + 7, size)), list(SpanKind)[start % 8], f"messages[{start}].content")
        for start in range(0, size, 7)
    )
    trace = Trace(
        request=Request(body={"messages": [{"role": "user", "content": text}], text[:9]: [text]}, text=text),
        prompt=Prompt("server", text, spans, tokens, template=text),
        local_prompt=Prompt("local", text + "x", (*spans, PromptSpan(Span(size, size + 1), SpanKind.TEMPLATE)), None),
        raw=Completion(text, None, "stop", tokens=tokens),
        chat=ChatResult(message, "stop"),
        parse=parse,
    )
    return replace(trace, findings=diagnose_trace(trace))


@pytest.mark.parametrize("shape", SHAPES)
def test_drawing_a_run_grows_as_its_texts_do(shape: str) -> None:
    assert grows_linearly(lambda size: RunView(1).finish(run_of(shape, size)), first=8_000, tries=2, doublings=1)


@pytest.mark.parametrize("shape", ["halves", "families", "quotes", "markup"])
def test_drawing_what_comes_grows_as_the_text_does(shape: str) -> None:
    def draw(size: int) -> object:
        text = SHAPES[shape] * (size // len(SHAPES[shape]) + 1)
        return RunView(1).update(Trace(Request({}, "")), "Reading", raw_text=text, chat_text=text)

    assert grows_linearly(draw, first=100_000, tries=2, doublings=0)


@pytest.mark.parametrize("shape", ["calls", "begun calls", "thoughts", "parameters"])
def test_diagnosis_grows_as_the_output_does(shape: str) -> None:
    assert grows_linearly(lambda size: diagnose_trace(run_of(shape, size)), first=8_000, tries=2, doublings=1)


@pytest.mark.parametrize("end", ["<|end|>", "<|call|>", "</think>", "<tool_call>"])
def test_diagnosis_of_spaces_after_a_tag_grows_as_they_do(end: str) -> None:
    def diagnose(size: int) -> object:
        raw = f"<|channel|>analysis<|message|>a{end}{' ' * size}x"
        parse = read_raw(raw, ReadContext(finish_reason="stop"), message={"role": "assistant", "content": "a"})
        return diagnose_trace(Trace(Request({}, ""), raw=Completion(raw, None, "stop"), parse=parse))

    assert grows_linearly(diagnose, first=8_000, tries=2, doublings=3)


@pytest.mark.parametrize("opener", ["<think>", "[THINK]", "<|channel|>analysis<|message|>"])
def test_diagnosis_of_a_request_grows_as_its_texts_do(opener: str) -> None:
    """Each tag that nothing closes was followed to the end of the text: 35 s for one message."""

    def diagnose(size: int) -> object:
        text = opener * (size // len(opener))
        request = Request({"messages": [{"role": "assistant", "content": text}, {"role": "user", "content": "x"}]}, "")
        prompt = Prompt("local", f"assistant: {text}\nuser: x", (), None)
        return diagnose_trace(Trace(request, prompt=prompt, local_prompt=prompt))

    assert grows_linearly(diagnose, first=8_000, tries=2, doublings=4)


@pytest.mark.parametrize("kind", ["messages", "tools", "names"])
def test_the_lines_under_the_editor_grow_as_the_request_does(kind: str) -> None:
    def draw(size: int) -> object:
        body: JSONObject = {
            "messages": [{"role": f"r{n if kind == 'messages' else 0}", "content": "a"} for n in range(size)],
            "tools": [
                {"type": "function", "function": {"name": f"f{n}"}} for n in range(size if kind == "tools" else 0)
            ],
            **{f"name{n}": n for n in range(size if kind == "names" else 0)},
        }
        return notices_payload(read_request(json.dumps(body)), is_public=True)

    assert grows_linearly(draw, first=1_000, tries=2, doublings=2)


def test_an_error_shows_a_piece_of_what_was_sent() -> None:
    sent = "x" * 1_000_000

    assert len(notices_payload(RequestError(f"it is {sent}", sent)) or "") < 4_000_000


def test_the_event_loop_draws_nothing_of_what_visitors_sent() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{call.lineno}: {name}"
        for file in sorted((ROOT / "ui" / "web").rglob("*.py"))
        for call, name in calls_on_the_loop(ast.parse(file.read_text(encoding="utf-8")))
        if (name.endswith("_payload") and name not in SMALL) or name in ("finish", "fail", "pack_payload")
    ]

    assert found == []


def test_the_page_judges_strangers_texts_in_the_sandbox_alone() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{call.lineno}: {name}"
        for file in sorted((ROOT / "ui" / "web").rglob("*.py"))
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        and not any(isinstance(one, ast.Call) for one in function.decorator_list)  # `@job(...)`
        for statement in function.body
        for call, name in own_calls(statement)
        if name in JUDGING
    ]

    assert found == []


def test_a_call_on_the_loop_is_seen() -> None:
    lines = (
        "async def f():",
        " yield ledger_payload(t)",
        " await in_thread(ledger_payload, t)",
        " lambda: v.finish(t)",
    )

    assert [name for _, name in calls_on_the_loop(ast.parse("\n".join(lines)))] == ["ledger_payload", "in_thread"]


def calls_on_the_loop(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """Yield the calls that coroutines make themselves, with their names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AsyncFunctionDef):
            for statement in node.body:
                yield from own_calls(statement)


def own_calls(node: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return
    if isinstance(node, ast.Call):
        yield node, getattr(node.func, "attr", getattr(node.func, "id", ""))
    for child in ast.iter_child_nodes(node):
        yield from own_calls(child)
