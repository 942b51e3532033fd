"""How thinking is switched off, and whether a request does so."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.types import ChatResult, JSONObject, Prompt, Request, Server, Trace
from prompt_debugger.core.diagnose.thinking import Switch, switched_off, think_less, thinking_switch


def asked(body: JSONObject) -> Trace:
    return Trace(Request(body, ""))


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"chat_template_kwargs": {"enable_thinking": False}}, "chat_template_kwargs.enable_thinking"),
        ({"think": False}, "think"),
        ({"enable_thinking": False}, "enable_thinking"),
        ({"think": False, "enable_thinking": False}, "think"),
        ({"thinking": {"type": "disabled"}}, "thinking.type"),
        ({"reasoning": {"enabled": False}}, "reasoning.enabled"),
        ({"reasoning_effort": "none"}, "reasoning_effort"),
    ],
    ids=json.dumps,
)
def test_each_field_that_switches_thinking_off_is_named(body: JSONObject, field: str) -> None:
    assert switched_off(asked(body)) == field


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"chat_template_kwargs": {"enable_thinking": True}},
        {"chat_template_kwargs": {"enable_thinking": None}},
        {"chat_template_kwargs": {"tools_in_user_message": False}},
        {"think": True},
        {"enable_thinking": 0},
        {"thinking": {"type": "enabled"}},
        {"reasoning": {"enabled": True}},
        {"reasoning_effort": "low"},
    ],
    ids=json.dumps,
)
def test_fields_that_leave_it_on_are_not(body: JSONObject) -> None:
    assert switched_off(asked(body)) is None


def served(template: str | None = None, kind: str = "vllm", parser: str | None = None, chat_body: str = "") -> Trace:
    prompt = None if template is None else Prompt("local", "Hi.", (), None, template=template)
    server = Server("http://127.0.0.1:1/v1", kind, reasoning_parser=parser)
    return Trace(Request({}, ""), server=server, local_prompt=prompt, chat=ChatResult({}, None, body=chat_body))


def test_the_switch_is_the_one_that_the_template_reads() -> None:
    assert thinking_switch(served("{% if enable_thinking %}")) == Switch("enable_thinking", off=False)
    assert thinking_switch(served("{% if thinking %}")) == Switch("thinking", off=False)
    assert thinking_switch(served("{% if not_thinking_at_all %}")) == thinking_switch(served())


def test_ollama_at_its_openai_route_takes_the_effort_alone() -> None:
    assert thinking_switch(served(kind="ollama")) == Switch("reasoning_effort", "none")
    assert thinking_switch(served(kind="ollama", chat_body='{"done_reason": "stop"}')).name != "reasoning_effort"


def test_gpt_oss_can_only_think_less() -> None:
    trace = Trace(Request({"model": "openai/gpt-oss-20b"}, ""))

    assert thinking_switch(trace) == Switch("reasoning_effort", "low")
    assert think_less(thinking_switch(trace)).request == {"reasoning_effort": "low"}


def test_a_step_sets_what_it_says() -> None:
    template = think_less(Switch("enable_thinking", off=False), " first")
    ollama = think_less(Switch("reasoning_effort", "none"))

    assert template.text == 'Send `"chat_template_kwargs": {"enable_thinking": false}` first.'
    assert template.request == {"chat_template_kwargs.enable_thinking": False}
    assert ollama.text.startswith('Send `"reasoning_effort": "none"`: at `/v1`, Ollama ignores')
    assert ollama.request == {"reasoning_effort": "none"}
