"""Why a server did not start: endings of real logs of vLLM 0.32."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.tools.lab.failures import KNOWN_FAILURES, explain_failure, find_known_failure
from prompt_debugger.core.tools.lab.spec import LabSpec

CASES = {
    "parser-needs-tokens": (
        "TypeError: --tool-call-parser mistral cannot be used with the tokenizer of 'tiny': "
        "Mistral parser could not locate the tool call token in the tokenizer!",
        "`mistral` cannot be used with the tokenizer of `org/m`: Mistral parser could not locate",
        "parser that belongs to this model",
    ),
    "unknown-tool-parser": (
        "KeyError: 'invalid tool call parser: kimi_k22 (chose from { granite4,hermes,kimi_k2,kimi_k3 })'",
        "not have a tool parser `kimi_k22`",
        "Did you mean `kimi_k2`? Known: granite4, hermes, kimi_k2, kimi_k3.",
    ),
    "unknown-reasoning-parser": (
        "KeyError: \"Reasoning parser 'nope' not found. Available parsers: deepseek_r1, kimi_k2, qwen3\"",
        "not have a reasoning parser `nope`",
        "Known: deepseek_r1, kimi_k2, qwen3.",
    ),
    "port-in-use": ("OSError: [Errno 98] Address already in use", "port 8131", "another port"),
    "context-too-long": (
        "  Value error, User-specified max_model_len (999999) is greater than the derived max_model_len "
        "(max_position_embeddings=4096.0 or model_max_length=None in model's config.json). To allow overriding this",
        "A context of 999999 tokens",
        "max_model_len",
    ),
    "cache-too-small": (
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when",
        "A key-value cache of 33554432 bytes is too small for a context of 2048 tokens.",
        "kv_cache_bytes",
    ),
    "no-weights": ("RuntimeError: Cannot find any model weights with `nowt`", "contains no weights", "renderer"),
    "hub-unreachable": (
        "huggingface_hub.errors.LocalEntryNotFoundError: Cannot find an appropriate cached snapshot folder for the",
        "`org/m` is not on this machine",
        "local folder",
    ),
    "unknown-architecture": (
        "  Value error, Model architectures ['NewForCausalLM'] are not supported for now. Supported architectures: …",
        "['NewForCausalLM']",
        "renderer",
    ),
    "torch-companions": ("RuntimeError: operator torchvision::nms does not exist", "torchvision", "make setup"),
    "no-vllm": (
        "/usr/bin/python: Error while finding module specification for 'vllm.entrypoints' "
        "(ModuleNotFoundError: No module named 'vllm')",
        "vLLM is not installed for `/opt/python`.",
        "make setup",
    ),
    "unknown-argument": (
        "api_server.py: error: unrecognized arguments: --enable-wings",
        "`--enable-wings`",
        "extra_args",
    ),
    "out-of-memory": ("RuntimeError: [enforce fail] DefaultCPUAllocator: can't allocate memory", "memory", "1.1 GB"),
}
SPEC = LabSpec(model_dir="org/m", python="/opt/python")


def test_every_known_failure_has_a_case() -> None:
    assert {failure.name for failure in KNOWN_FAILURES} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_known_failure_is_explained(name: str) -> None:
    line, message, hint = CASES[name]
    log = ("INFO 11-21 08:14:21 [api_utils.py:286] non-default args: {…}", "Traceback (most recent call last):", line)

    known = find_known_failure(log)
    error = explain_failure(log, 1, SPEC, 8131)

    assert known is not None
    assert known[0].name == name
    assert message in error.message
    assert hint in error.hint
    assert error.log_tail.endswith(line)


def test_a_known_failure_is_found_above_the_error_that_follows_from_it() -> None:
    consequence = "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"

    error = explain_failure((CASES["no-weights"][0], consequence), 1, SPEC, 8131)

    assert "contains no weights" in error.message


def test_an_unknown_failure_quotes_the_first_error() -> None:
    log = ("(EngineCore pid=2) ValueError: the moon is full", "RuntimeError: Engine core initialization failed")

    error = explain_failure(log, 1, SPEC, 8131)

    assert error.message == (
        "The lab server ended with exit status 1; it said '(EngineCore pid=2) ValueError: the moon is full'"
    )


@pytest.mark.parametrize(
    ("exit_status", "message"),
    [(-9, "killed from outside"), (-11, "ended by signal 11"), (0, "exit status 0"), (None, "did not become ready")],
)
def test_a_silent_end_is_named_by_its_status(exit_status: int | None, message: str) -> None:
    assert message in explain_failure((), exit_status, SPEC, 8131).message


@given(st.lists(st.text() | st.sampled_from([case[0] for case in CASES.values()]) | st.just("{braces} {0}")))
def test_any_log_gives_an_explanation(log: list[str]) -> None:
    assert explain_failure(log, 1, SPEC, 8131).message
