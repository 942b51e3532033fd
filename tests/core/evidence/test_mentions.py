"""Which server, parser and model a text names beside what it holds, and what that does to advice."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.evidence.evidence import Part
from prompt_debugger.core.evidence.reports.mentions import mentioned_server
from tests.core.evidence.pasted import shown

CALL = '<tool_call>\n{"name": "find_book", "arguments": {"isbn": "7"}}\n</tool_call>'


def message(content: str, **fields: object) -> str:
    return json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": content}, **fields}]})


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The call stays in content with Ollama 0.30.", "ollama"),
        ("I start mlx_lm.server and ask it.", "mlx-lm"),
        ("LM Studio shows the call as text.", "lm-studio"),
        ('{"message": {"content": "x"}, "done": true, "done_reason": "stop"}', "ollama"),
        ("curl http://localhost:11434/v1/chat/completions", "ollama"),
        ('"finish_reason": "stop", "matched_stop": 1', "sglang"),
    ],
)
def test_the_only_software_that_a_text_names_or_shows_is_the_server(text, kind):
    assert mentioned_server(text).kind == kind


@pytest.mark.parametrize("text", ["It works in vLLM, in Ollama it does not.", "my-vllm streams it.", "No name at all."])
def test_two_names_or_none_are_no_server(text):
    assert mentioned_server(text) is None


def test_parser_and_model_are_read_of_words_unless_someone_advises_them():
    named = mentioned_server("vLLM with Qwen/Qwen2.5-7B-Instruct and the `hermes` tool parser drops it.")
    advised = mentioned_server("With vLLM you should use the `hermes` tool parser.")

    assert (named.kind, named.tool_parser, named.served_models) == ("vllm", "hermes", ("Qwen/Qwen2.5-7B-Instruct",))
    assert advised.tool_parser is None


def test_models_of_two_families_name_none():
    assert mentioned_server("Qwen2.5-7B works, Mistral-7B-Instruct-v0.3 does not, both in vLLM.").served_models == ()


@pytest.mark.parametrize(
    ("server", "says", "never"),
    [
        ("Ollama", "Ollama chooses its parser by the model's template", "--enable-auto-tool-choice"),
        ("LM Studio", "LM Studio extracts calls only if it knows", "--enable-auto-tool-choice"),
        ("mlx_lm.server", '"tool_parser_type": "json_tools"', "--enable-auto-tool-choice"),
        ("lmdeploy", "--tool-call-parser qwen3", "--enable-auto-tool-choice"),
        ("vLLM", "--enable-auto-tool-choice --tool-call-parser hermes", "SGLang"),
    ],
)
def test_advice_is_for_the_server_that_the_text_names(server, says, never):
    trace = shown(f"{server} leaves the call in content:\n\n```json\n{message(CALL)}\n```\n")

    fixes = " ".join(finding.fix for finding in trace.findings)
    assert says in fixes
    assert never not in fixes


def test_a_mention_is_no_flag():
    evidence = read_evidence(f"Ollama leaves the call in content:\n\n```json\n{message(CALL)}\n```\n")

    assert Part.FLAGS not in evidence.holds


def test_a_parser_that_runs_already_is_not_advised():
    text = "vllm serve Qwen/Qwen3-Coder-30B-A3B-Instruct --enable-auto-tool-choice --tool-call-parser hermes"
    trace = shown(f"{text}\n\n{message(CALL, finish_reason='stop')}")

    fix = next(finding.fix for finding in trace.findings if finding.code == "PD426")
    assert "Check that the request had its tools" in fix
    assert "Have the server parse" not in fix


@pytest.mark.parametrize(
    ("text", "parser"),
    [
        ("`Internlm2ToolParser.extract_tool_calls_streaming` loses it.", "internlm"),
        ('File "vllm/tool_parsers/qwen3_coder_tool_parser.py", line 3, in extract_tool_calls', "qwen3_coder"),
        ("`OtherToolParser.extract_tool_calls` loses it.", None),
    ],
)
def test_parsers_are_known_by_their_classes_and_files(text, parser):
    server = mentioned_server(text)

    assert (server.kind, server.tool_parser) == ("vllm", parser)


def test_mlx_vlm_beside_mlx_lm_is_mlx_lm():
    assert mentioned_server("Both `mlx_lm.server` and `mlx_vlm.server` do it.").kind == "mlx-lm"
