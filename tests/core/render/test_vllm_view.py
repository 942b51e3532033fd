"""Our account of what vLLM does to a request, against vLLM itself."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.render.inspect import inspect_template
from prompt_debugger.core.render.kwargs import explain_kwargs
from prompt_debugger.core.render.request_variables import read_variables
from prompt_debugger.core.render.trace.derive import unwrap
from prompt_debugger.core.render.trace.values import wrap
from prompt_debugger.core.render.vllm_view import apply_causes, usual_causes
from tests.core.render.shapes import SHAPES, WEATHER, assistant, call, result, user
from tests.patience import PATIENCE_S
from tests.warm.labs import FORKED

REFERENCE = Path(__file__).with_name("vllm_reference.py")
ROOT = Path(__file__).resolve().parents[3]

ODDITIES: dict[str, JSONObject] = {
    "parts-of-every-kind": {
        "messages": [
            user(
                [
                    {"type": "text", "text": "a", "cache_control": {"x": 1}},
                    {"type": "text", "text": ""},
                    {"type": "thinking", "thinking": "t"},
                    {"type": "refusal", "refusal": "r"},
                    {"text": "b", "type": "text"},
                    "plain",
                ]
            )
        ]
    },
    "both-reasonings": {
        "messages": [
            assistant("x", reasoning_content="old", reasoning="new", partial=True),
            assistant("y", reasoning_content="old"),
            assistant("z", reasoning=""),
            user("u") | {"reasoning": "lost", "tool_call_id": "lost"},
        ]
    },
    "call-keys": {
        "messages": [
            assistant(
                None,
                tool_calls=[
                    {
                        "type": "function",
                        "index": 0,
                        "function": {"name": "f", "arguments": '{"a": 1.10, "a": 2, "b": "\\u00e9\\n"}', "extra": 1},
                        "id": "c1",
                    }
                ],
            ),
            result([{"type": "text", "text": "p"}, {"type": "text", "text": ""}, {"type": "text", "text": "q"}], "f"),
            {"role": "tool", "tool_call_id": "q"},
        ]
    },
    "broken-arguments": {"messages": [assistant("", tool_calls=[call("f", "[]"), call("f", "oops"), call("f", "")])]},
    "empty-calls": {"messages": [assistant("", tool_calls=[]), assistant("q", tool_calls=None), user("z")]},
    "no-content": {"messages": [{"role": "assistant", "refusal": "nope"}, user("?")]},
    "developers": {
        "messages": [
            {"role": "developer", "content": "dd", "tools": [{"type": "function", "function": {"name": "f"}}]},
            user("u"),
            {"role": "system", "content": "mid"},
            {
                "role": "developer",
                "content": [{"type": "text", "text": "d1"}, {"type": "text", "text": "d2"}],
                "name": "n",
            },
        ]
    },
    "billing-header": {
        "messages": [
            {"role": "system", "content": "x-anthropic-billing-header: v\nrest"},
            {"role": "system", "content": "x-anthropic-billing-header: v"},
            {"role": "critic", "content": "c", "reasoning": "x", "task": "t"},
        ]
    },
    "tools-of-every-kind": {
        "messages": [user("u")],
        "tools": [
            {
                "function": {"parameters": {"type": "object"}, "name": "a", "zz": 1, "strict": False},
                "type": "function",
                "yy": 2,
            },
            {"type": "function", "function": {"name": "b", "description": "d"}, "defer_loading": True},
            {"type": "function", "function": {"name": "c", "description": None, "strict": None, "parameters": {}}},
            WEATHER,
        ],
    },
}


def _bodies() -> Iterator[tuple[str, JSONObject]]:
    """Yield the requests that vLLM accepts; it wants arguments as text and documents with text ids."""
    for name, body in (SHAPES | ODDITIES).items():
        if name == "tools-not-wrapped":
            continue
        made: Any = copy.deepcopy(body)
        for message in made["messages"]:
            for one in message.get("tool_calls") or ():
                if not isinstance(one["function"]["arguments"], str):
                    one["function"]["arguments"] = json.dumps(one["function"]["arguments"])
        made.pop("documents", None)
        yield name, {key: made[key] for key in ("messages", "tools") if key in made}


BODIES = dict(_bodies())

_SETTINGS: list[JSONObject] = [
    {},
    {"chat_template_kwargs": {"thinking": True, "x": [1]}},
    {"chat_template_kwargs": {"enable_thinking": None, "y": "auto", "add_generation_prompt": False}},
    {"reasoning_effort": "none"},
    {"reasoning_effort": "high", "chat_template_kwargs": {"reasoning_effort": "low", "enable_thinking": False}},
    {"add_generation_prompt": False, "continue_final_message": True},
    {"documents": [{"title": "t", "text": "d"}]},
]
_DEFAULTS: list[JSONObject] = [{}, {"enable_thinking": False, "y": 2, "z": None, "add_generation_prompt": False}]
# Requests with the kwargs that the server was started with.
KWARGS = [(setting | {"messages": [user("u")]}, defaults) for setting in _SETTINGS for defaults in _DEFAULTS]


@pytest.fixture(scope="module")
def templates(corpus_dir: Path) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(corpus_dir.glob("*.jinja"))]


@pytest.fixture(scope="module")
def reference(templates: list[str]) -> Any:
    pytest.importorskip("vllm", reason="vLLM is not installed")
    task = json.dumps({"bodies": list(BODIES.values()), "templates": templates, "kwargs": KWARGS})
    done = subprocess.run(
        [sys.executable, str(REFERENCE)],
        input=task,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
        cwd=ROOT,
        env=os.environ | FORKED,
    )
    return json.loads(done.stdout)


def _ours(body: JSONObject, causes: tuple[str, ...]) -> tuple[JSON, JSON]:
    variables = {"messages": wrap(body["messages"], None, "messages"), "tools": wrap(body.get("tools"), None, "tools")}
    made, _ = apply_causes(variables, causes)
    return unwrap(made["messages"]), unwrap(made["tools"])


@pytest.mark.vllm
@pytest.mark.corpus
@pytest.mark.parametrize("content_format", ["string", "openai"])
def test_messages_and_tools_become_what_vllm_makes_of_them(reference: Any, content_format: str) -> None:
    for (name, body), answer in zip(BODIES.items(), reference["bodies"], strict=True):
        theirs = answer[content_format]

        messages, tools = _ours(body, usual_causes(content_format, knows_developer=True))
        merged, _ = _ours(body, usual_causes(content_format, knows_developer=False))

        assert json.dumps(theirs["messages"]) == json.dumps(messages), name
        assert json.dumps(theirs["merged"]) == json.dumps(merged), name
        assert json.dumps(theirs["tools"]) == json.dumps(tools), name


@pytest.mark.vllm
@pytest.mark.corpus
def test_kwargs_reach_parser_and_template_as_in_vllm(reference: Any) -> None:
    for (body, defaults), (for_parser, for_template) in zip(KWARGS, reference["kwargs"], strict=True):
        variables = read_variables(body, special_tokens={}, template_kwargs=defaults, add_generation_prompt=None)
        kwargs = explain_kwargs(variables, body, special_tokens={}, server_defaults=defaults)

        del for_template["tools"], for_template["continue_final_message"]
        assert variables.effective_kwargs() == for_template, (body, defaults)
        assert {one.name: one.value for one in kwargs if one.reaches_parser} == for_parser, (body, defaults)


@pytest.mark.vllm
@pytest.mark.corpus
def test_content_format_is_detected_as_vllm_does(reference: Any, templates: list[str]) -> None:
    assert reference["formats"] == [inspect_template(source).content_format for source in templates]
    assert {"openai", "string"} == set(reference["formats"])
