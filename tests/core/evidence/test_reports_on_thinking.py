"""Reports on thinking, caches and documents, as people write them: what is read, and what is no error."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.evidence import read_evidence, trace_of

SCRIPT = """from openai import OpenAI
client = OpenAI(base_url="http://localhost:30000/v1", api_key="x")
answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Which is larger?"}])
print(answer.choices[0].message)

"""
PRINTED = "ChatCompletionMessage(content='The second.', refusal=None, role='assistant', tool_calls=None)\n"
LOG = """slot update_slots: id  0 | task 9 | n_past = 3400, slot.prompt.tokens.size() = 5093, seq_id = 0, n_swa = 1
slot update_slots: id  0 | task 9 | forcing full prompt re-processing due to lack of cache data (likely due to SWA)
slot update_slots: id  0 | task 9 | n_tokens = 0, memory_seq_rm [0, end)
"""
COMMAND = "```shell\nllama-server -m Some-Model.gguf -fa on --kv-unified -c 4096\n```\n"
OF_MLX = """$ mlx_vlm.generate --model some/gemma --prompt "Two and two?"
==========
Files: []

Prompt: <bos><start_of_turn>user
Two and two?<end_of_turn>
<start_of_turn>model

Four.{ends}
==========
"""


def codes_of(text: str) -> list[str]:
    return [finding.code for finding in diagnose_trace(trace_of(read_evidence(text)))]


def test_what_an_unfenced_script_printed_is_its_answer() -> None:
    evidence = read_evidence(SCRIPT + PRINTED)

    assert evidence.request is not None
    assert evidence.chat is not None
    assert evidence.chat.message["content"] == "The second."
    assert not any("speak of tool calls" in note for note in evidence.notes)  # a field's name is no word of a person


def test_a_printed_object_within_a_script_is_its_code() -> None:
    evidence = read_evidence(SCRIPT + "Message = dict\nprint(Message(content=1))\n")

    assert evidence.request is not None
    assert evidence.chat is None


def test_a_log_and_a_command_are_of_one_server() -> None:
    evidence = read_evidence(f"It reads everything again.\n\n{COMMAND}\n```\n{LOG}```\n")

    assert evidence.server is not None
    assert evidence.server.model == "Some-Model.gguf"  # not the value of `-fa`
    assert "PD235" in codes_of(f"It reads everything again.\n\n{COMMAND}\n```\n{LOG}```\n")


def test_a_prompt_in_the_cache_is_no_fault() -> None:
    assert "PD235" not in codes_of(LOG.replace("forcing full prompt re-processing", "restored a checkpoint"))


def test_code_within_a_sentence_ends_a_command() -> None:
    text = f"With `llama-server --jinja` in combination with a model it fails.\n\n{LOG}"

    server = read_evidence(text).server

    assert server is not None
    assert server.model is None


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "review": "The run failed with `openai_harmony.HarmonyError`.",\n  "is_valid": false\n}',
        '{\n  "review": "The run failed with `openai_harmony.HarmonyError`.",\n  "violations":\n',
        'It stops within the document:\n\n```\n{\n  "review": "It failed with `RateLimitError: too many requests for '
        'this model`.",\n  "violations":\n```\n',
        "# [API Error: Model response leaked thinking tags:.]\n\nThe agent: 0.2\nnpm unknown\nmodel: qwen3.8-max\n",
    ],
)
def test_what_a_document_mentions_is_no_error_of_a_server(text: str) -> None:
    with pytest.raises(RequestError):
        read_evidence(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"error": {"message": "RateLimitError: too many requests for this model"}}', "too many requests"),
        ("I use vLLM with gpt-oss and get `openai_harmony.HarmonyError`.", "HarmonyError"),
        ("The model `qwen3.8-max` does not exist.", "does not exist"),
    ],
)
def test_an_error_that_is_reported_is_one(text: str, said: str) -> None:
    evidence = read_evidence(text)

    assert evidence.error is not None
    assert said in evidence.error.message


@pytest.mark.parametrize(("ends", "expected"), [("<end_of_turn>" * 8, ["PD321"]), ("<end_of_turn>", [])])
def test_what_a_command_of_mlx_prints_is_prompt_and_output(ends: str, expected: Sequence[str]) -> None:
    evidence = read_evidence(OF_MLX.format(ends=ends))

    assert evidence.raw == f"\nFour.{ends}"
    assert evidence.prompt is not None
    assert evidence.prompt.endswith("<start_of_turn>model\n")
    assert [code for code in codes_of(OF_MLX.format(ends=ends)) if code == "PD321"] == expected


def test_newer_releases_of_mlx_print_the_output_alone() -> None:
    evidence = read_evidence("==========\nFour.<|im_end|>\n==========\nPrompt: 12 tokens, 30.1 tokens-per-sec\n")

    assert evidence.raw == "Four.<|im_end|>"
    assert not evidence.prompt


PLAIN = '{"prompt": "<|im_start|>user\\nHi<|im_end|>\\n", "grammar": "answer ::= \\"yes\\""}'
OF_LLAMA_CPP = (
    '{"index": 0, "content": "A hand has 5 fingers.", "stop": true, "tokens_predicted": 8, "tokens_evaluated": 25, '
    '"stop_type": "STOP", "truncated": false}'
)


@pytest.mark.parametrize(
    "text",
    [
        f"curl http://localhost:8080/completion -d '{PLAIN}'",
        f"`curl http://localhost:8080/completion -d '{PLAIN}'`",
        PLAIN,
    ],
)
def test_a_prompt_for_plain_completions_is_read_from_a_command(text: str) -> None:
    evidence = read_evidence(text)

    assert evidence.prompt == "<|im_start|>user\nHi<|im_end|>\n"
    assert evidence.request is not None
    assert "PD140" in codes_of(text)


def test_a_command_for_a_chat_stays_a_chat() -> None:
    evidence = read_evidence(
        '`curl http://h/v1/chat/completions -d \'{"messages": [{"role": "user", "content": "Hi"}]}\'`'
    )

    assert evidence.prompt is None
    assert evidence.request is not None
    assert evidence.request.body["messages"] == [{"role": "user", "content": "Hi"}]


@pytest.mark.parametrize(("word", "reason"), [("eos", "stop"), ("word", "stop"), ("limit", "length"), ("none", None)])
def test_what_llama_cpp_answers_to_a_plain_prompt_is_a_raw_output(word: str, reason: str | None) -> None:
    evidence = read_evidence(OF_LLAMA_CPP.replace("STOP", word))

    assert evidence.raw == "A hand has 5 fingers."
    assert evidence.finish_reason == reason


def test_a_prompt_with_its_answer_is_one_run() -> None:
    asked = f"`curl http://localhost:8080/completion -d '{PLAIN}'`"
    text = f"It ignores my grammar:\n\n{asked}\n\nResponse:\n\n`{OF_LLAMA_CPP}`\n"

    evidence = read_evidence(text)

    assert evidence.raw == "A hand has 5 fingers."
    assert evidence.prompt is not None


def test_a_request_without_a_users_message_is_refused_by_ollama() -> None:
    line = 'time=2026-08-27T13:43:17.125-06:00 level=ERROR source=routes.go:2702 msg="chat prompt error" '

    evidence = read_evidence(f'{line}error="no user query found in messages"\n')

    assert evidence.error is not None
    finding = diagnose_trace(trace_of(evidence))[0]
    assert "Keep the user's message" in finding.fix


def test_a_raw_output_with_its_message_may_name_its_finish_reason() -> None:
    message: JSONObject = {"role": "assistant", "content": None, "tool_calls": []}
    pair = {"raw": "<|tool_calls_section_begin|>x", "message": message, "finish_reason": "tool_calls"}

    evidence = read_evidence(json.dumps(pair))

    assert evidence.raw == pair["raw"]
    assert evidence.chat is not None
    assert evidence.finish_reason == "tool_calls"
