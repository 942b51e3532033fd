"""How thinking is switched off, and whether a request does so."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.types import ChatResult, JSONObject, Prompt, Request, Server, Trace
from prompt_debugger.core.diagnose.thinking import Switch, at_start, switched_off, think_less, thinking_switch


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
    assert think_less(trace).request == {"reasoning_effort": "low"}


def test_a_server_that_reads_template_kwargs_is_sent_them_without_more_words() -> None:
    step = think_less(served("{% if enable_thinking %}"), " first")

    assert step.text == 'Send `"chat_template_kwargs": {"enable_thinking": false}` first.'
    assert step.request == {"chat_template_kwargs.enable_thinking": False}


def test_where_no_server_is_known_the_advice_says_which_ones_read_them() -> None:
    for trace in (asked({}), served(kind="openai-compatible")):
        assert think_less(trace).text.endswith(": vLLM, SGLang and llama.cpp read it.")


@pytest.mark.parametrize(
    ("kind", "chat_body", "request_"),
    [
        ("ollama", "", {"reasoning_effort": "none"}),
        ("ollama", '{"done_reason": "stop"}', {"think": False}),
        ("lm-studio", "", {"reasoning_effort": "none"}),
        ("llama-cpp-python", "", {}),
    ],
)
def test_a_server_that_reads_no_template_kwargs_is_asked_in_its_own_way(
    kind: str, chat_body: str, request_: JSONObject
) -> None:
    step = think_less(served(kind=kind, chat_body=chat_body))

    assert step.request == request_
    assert '"chat_template_kwargs":' not in step.text


@pytest.mark.parametrize(
    ("address", "request_"),
    [
        ("https://api.groq.com/openai/v1", {"reasoning_effort": "none"}),
        ("https://openrouter.ai/api/v1", {"reasoning.enabled": False}),
        ("https://api.deepseek.com", {"thinking.type": "disabled"}),
        ("https://open.bigmodel.cn/api/paas/v4", {"thinking.type": "disabled"}),
        ("https://dashscope.aliyuncs.com/compatible-mode/v1", {"enable_thinking": False}),
        ("https://api.openai.com/v1", {"reasoning_effort": "low"}),
        ("https://generativelanguage.googleapis.com/v1beta/openai", {}),
    ],
)
def test_a_hosted_api_is_asked_by_the_field_of_its_reference(address: str, request_: JSONObject) -> None:
    step = think_less(Trace(Request({"model": "m"}, "", base_url=address)))

    assert step.request == request_
    assert "chat_template_kwargs" not in step.text


@pytest.mark.parametrize(
    ("address", "path"),
    [("https://openrouter.ai/api/v1", "reasoning.effort"), ("https://api.groq.com/openai/v1", "reasoning_effort")],
)
def test_a_model_that_always_thinks_thinks_less_at_a_hosted_api_too(address: str, path: str) -> None:
    assert think_less(Trace(Request({"model": "openai/gpt-oss-120b"}, "", base_url=address))).request == {path: "low"}


@pytest.mark.parametrize("model", ["gpt-5.1", "openai/o4-mini", "claude-sonnet-5", "gemini-3-pro", "google/gemini-3"])
def test_a_model_that_its_maker_serves_alone_is_sent_no_template_kwargs(model: str) -> None:
    assert "chat_template_kwargs" not in think_less(asked({"model": model})).text


@pytest.mark.parametrize("model", ["Qwen/Qwen3-8B", "my-gpt-4", "foo3", "proto3", "claudette"])
def test_a_model_of_another_name_is(model: str) -> None:
    assert "chat_template_kwargs" in think_less(asked({"model": model})).text


def test_a_request_that_was_copied_from_a_hosted_api_and_sent_to_vllm_is_vllms() -> None:
    server = Server("http://127.0.0.1:1/v1", "vllm")
    trace = Trace(Request({}, "", base_url="https://api.openai.com/v1"), server=server)

    assert "chat_template_kwargs" in think_less(trace).text


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("vllm", "start the server with `--default-chat-template-kwargs"),
        ("llama.cpp", "start the server with `--chat-template-kwargs"),
        ("mlx-lm", "start the server with `--chat-template-args"),
        ("openai-compatible", "start vLLM with `--default-chat-template-kwargs"),
    ],
)
def test_the_flag_for_all_requests_is_the_servers_own(kind: str, words: str) -> None:
    assert words in at_start(served(kind=kind), Switch("thinking", off=False))


def test_no_flag_is_named_where_a_server_has_none_that_is_known() -> None:
    assert at_start(served(kind="sglang"), Switch("thinking", off=False)) == ""
