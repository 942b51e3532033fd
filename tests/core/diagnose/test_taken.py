"""A remedy names fields and flags that the server of the run has: never those that it is known not to read."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import JSONObject, Request, Server, Trace
from prompt_debugger.core.diagnose.advice import KEEP_SPECIAL_TOKENS, Step, advise, applied
from prompt_debugger.core.diagnose.fixes import setting
from prompt_debugger.core.diagnose.own_settings import longer_context, penalty, stop_at
from prompt_debugger.core.diagnose.taken import reads

OTHER = Step("Split the text in the client.")


def served_by(kind: str) -> Trace:
    return Trace(Request({}, ""), server=Server("http://127.0.0.1:1/v1", kind))


def hosted_at(address: str) -> Trace:
    return Trace(Request({}, "", base_url=address))


@pytest.mark.parametrize("kind", ["ollama", "lm-studio", "llama.cpp", "llama-cpp-python", "mlx-lm", "transformers"])
def test_a_field_that_the_server_does_not_read_is_not_advised(kind: str) -> None:
    assert advise(served_by(kind), (KEEP_SPECIAL_TOKENS, OTHER)) == OTHER.text
    assert advise(served_by(kind), (OTHER, KEEP_SPECIAL_TOKENS)) == OTHER.text


@pytest.mark.parametrize("kind", ["vllm", "sglang", "lmdeploy", "openai-compatible", ""])
def test_it_is_where_the_server_reads_it_or_is_not_known(kind: str) -> None:
    assert advise(served_by(kind), (KEEP_SPECIAL_TOKENS, OTHER)).startswith(KEEP_SPECIAL_TOKENS.text)
    assert advise(Trace(Request({}, "")), (KEEP_SPECIAL_TOKENS,)) == KEEP_SPECIAL_TOKENS.text


def test_the_only_step_is_kept_rather_than_no_words_at_all() -> None:
    assert advise(served_by("ollama"), (KEEP_SPECIAL_TOKENS,)) == KEEP_SPECIAL_TOKENS.text


def test_members_of_tools_and_of_template_kwargs_count_too() -> None:
    assert not reads(served_by("ollama"), ("tools[].function.strict",))
    assert not reads(hosted_at("https://api.groq.com/openai/v1"), ("chat_template_kwargs.thinking",))
    assert reads(hosted_at("https://api.groq.com/openai/v1"), ("tools[].function.strict", "reasoning_effort"))
    assert reads(hosted_at("https://api.together.xyz/v1"), ("chat_template_kwargs.thinking",))


def test_a_change_that_a_server_does_not_read_is_none() -> None:
    change = setting(skip_special_tokens=False)
    ollama, vllm = served_by("ollama"), served_by("vllm")

    assert change(ollama, None) is ollama.request.body  # type: ignore[arg-type]  # the finding is not looked at
    assert change(vllm, None) == {"skip_special_tokens": False}  # type: ignore[arg-type]  # likewise


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, {"a": {"b": 1}}),
        ({"a": {"c": 2}, "d": 3}, {"a": {"c": 2, "b": 1}, "d": 3}),
        ({"a": "no object"}, {"a": {"b": 1}}),
    ],
)
def test_a_step_is_applied_to_what_is_there(body: JSONObject, expected: JSONObject) -> None:
    assert applied(body, Step("", {"a.b": 1})) == expected


@pytest.mark.parametrize(
    ("kind", "context", "punished", "stopped"),
    [
        ("vllm", "`--max-model-len`)", "`repetition_penalty` a little", "`stop_token_ids`"),
        ("sglang", "`--context-length`)", "`repetition_penalty` a little", "`stop_token_ids`"),
        ("llama.cpp", "`--ctx-size`)", "`repeat_penalty` a little", "`<end>` in `stop`"),
        ("ollama", "`num_ctx`)", "`repeat_penalty` (of the model", "`<end>` in `stop`"),
        ("mlx-lm", "(`--max-model-len` of vLLM,", "`repetition_penalty` a little", "`<end>` in `stop`"),
        (
            "",
            "(`--max-model-len` of vLLM,",
            "(`repeat_penalty` of llama.cpp)",
            "`stop_token_ids` (vLLM, SGLang) or `<end>`",
        ),
    ],
)
def test_a_setting_is_called_as_the_server_calls_it(kind: str, context: str, punished: str, stopped: str) -> None:
    trace = served_by(kind)

    assert context in longer_context(trace)
    assert punished in penalty(trace)
    assert stopped in stop_at(trace, "<end>")


def test_at_a_hosted_api_no_flag_is_named() -> None:
    trace = hosted_at("https://api.groq.com/openai/v1")

    assert "--" not in longer_context(trace)
    assert "`frequency_penalty`" in penalty(trace)
