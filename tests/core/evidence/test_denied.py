"""What a person denies, and which server they say works, is not taken for the fault."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence
from prompt_debugger.core.evidence.no_errors.denied import drop_denied
from prompt_debugger.core.evidence.reports.mentions import mentioned_server
from tests.attacks.growth import grows_linearly

WORDS = "Error in extracting tool call from response"


def error_of(text: str) -> str:
    try:
        evidence = read_evidence(text)
    except RequestError:
        return ""
    return "" if evidence.error is None else evidence.error.message


@pytest.mark.parametrize(
    "text",
    [
        f'I do not get the error "{WORDS}" anymore.',
        f"The server never logs `{WORDS}`.",
        f'There is no "{WORDS}" in the log.',
        "It doesn't raise jinja2.exceptions.TemplateError: Conversation roles must alternate user/assistant.",
        "Calls are lost, without any error: no `Error in extracting tool call from response` shows up.",
    ],
)
def test_an_error_that_a_person_denies_is_nobodys(text):
    assert error_of(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        f'I do not get a call, only "{WORDS}".',
        f'I never see anything but "{WORDS}"',
        f"I do not see why `{WORDS}` is raised.",
        f"It does not work and I get `{WORDS}`.",
        f'I no longer get a call. It fails with "{WORDS}"',
    ],
)
def test_an_error_beside_a_denial_counts(text):
    assert WORDS in error_of(text)


@pytest.mark.parametrize(
    "piece", ["not get ", 'no "', "never see the ", '"x" not log `', "n't raise a.b.", "no an any "]
)
def test_a_denial_is_looked_for_once(piece):
    assert grows_linearly(lambda size: drop_denied((piece * size)[:60_000]), first=100)


BOTH = (
    "lmdeploy serve api_server Qwen/Qwen2.5-7B --server-port 1\n\nvllm serve Qwen/Qwen2.5-7B --tool-call-parser hermes"
)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("The same works with vLLM.", "lmdeploy"),
        ("With vLLM, it works.", "lmdeploy"),
        ("但相同的代码，如果使用vllm部署，模型能自动选择tools。", "lmdeploy"),
        ("It does not work with vLLM.", "vllm"),
        ("It works with Qwen2.5 on both.", "vllm"),
        ("使用vllm部署，模型不能选择tools。", "vllm"),
    ],
)
def test_the_command_of_the_server_that_works_is_not_the_one_at_fault(words, kind):
    evidence = read_evidence(f"# [Bug] no tool calls\n\n{words}\n\n```bash\n{BOTH}\n```\n")

    assert evidence.server is not None
    assert evidence.server.kind == kind


def test_the_boxes_of_a_form_name_the_tracker():
    box = "- [x] Otherwise, see https://github.com/sgl-project/sglang/discussions\n"
    link = "Same as https://github.com/sgl-project/sglang/issues/7.\n"
    answer = "The call `chatcmpl-tool-0123456789ab` has no reasoning."

    named = mentioned_server(box + answer)
    linked = mentioned_server(link + answer)

    assert named is not None
    assert named.kind == "sglang"
    assert linked is not None
    assert linked.kind == "vllm"


MESSAGE = '{"role": "assistant", "content": "It is 4.", "tool_calls": %s}'
ANSWER = '{"choices": [{"finish_reason": "stop", "message": ' + MESSAGE + "}]}"


@pytest.mark.parametrize(
    ("words", "calls", "is_said"),
    [
        ("The server sends an empty `tool_calls` list, and the client fails.", "[]", True),
        ("Clients fail on `tool_calls: []` here.", "[]", True),
        ("The tool call is missing, it fails.", "[]", False),
        ("The server sends an empty `tool_calls` list, and the client fails.", "null", False),
    ],
)
def test_an_empty_list_that_the_words_complain_of_is_explained(words, calls, is_said):
    evidence = read_evidence(f"# [Bug]: calls\n\n{words}\n\n```json\n{ANSWER % calls}\n```\n")

    assert any("empty list" in note for note in evidence.notes) is is_said


STRING = r'"<|tool_call|>[{\"arguments\": {\"a\": \"1\"}, \"name\": \"f\"}]"'


def test_words_that_lead_to_an_output_as_a_string_are_not_part_of_it():
    report = "### What is the issue?\n\nCalls of granite are not read.\n\n```\n{}\n\n{}\n```\n"

    led = read_evidence(report.format("This is what it wrote:", STRING))
    written = read_evidence("I will call it:\n\n" + '<|tool_call|>[{"arguments": {"a": "1"}, "name": "f"}]')

    assert led.raw is not None
    assert led.raw.startswith("<|tool_call|>")
    assert written.raw is not None
    assert written.raw.startswith("I will call it:")


def test_what_is_shown_of_an_empty_list_blames_nobody():
    text = f"# [Bug]: calls\n\nAn empty `tool_calls` list fails.\n\n```json\n{ANSWER % '[]'}\n```\n"

    trace = asyncio.run(show_evidence(read_evidence(text)))

    assert trace.verdict is not None
    assert trace.verdict.stage is None


REASONING = (
    '{"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": null, '
    '"reasoning_content": "The answer is 4."}}]}'
)


@pytest.mark.parametrize(
    ("words", "is_off"),
    [
        ("I set enable_thinking to false in chat_template_kwargs.", True),
        ("The answer is empty with `enable_thinking=False`.", True),
        ("`enable_thinking` is set to false, and the content is null.", True),
        ("It works with enable_thinking=false.", False),
        ("If I set enable_thinking to false, it is empty.", False),
        ("I did not set enable_thinking to false.", False),
        ("I set enable_thinking to true, then I set enable_thinking to false.", False),
        ("You should set enable_thinking to false.", False),
    ],
)
def test_a_switch_that_the_words_name_is_not_advised_again(words, is_off):
    text = f"# [Bug]: content is null\n\n{words}\n\n```json\n{REASONING}\n```\n"

    trace = asyncio.run(show_evidence(read_evidence(text)))

    found = next(finding for finding in trace.findings if finding.code == "PD459")
    assert ("According to the surrounding text" in found.detail) is is_off
    assert ("enable_thinking" in (found.fix or "")) is not is_off


@pytest.mark.parametrize(
    ("flags", "is_said"), [("--enable-auto-tool-choice --tool-call-parser hermes", True), ("", False)]
)
def test_a_server_whose_parser_runs_needs_tools_in_the_request(flags, is_said):
    log = (
        "ERROR 05-01 10:00:00 [serving_chat.py:912] Error in chat_completion_full_generator - cannot determine if "
        "tools should be extracted. Returning a standard chat completion."
    )

    trace = asyncio.run(show_evidence(read_evidence(f"vllm serve Qwen/Qwen3-8B {flags}\n\n{log}\n")))

    found = next(finding for finding in trace.findings if finding.code == "PD445")
    assert ("the parser `hermes` runs" in (found.fix or "")) is is_said
    assert ("start the server with a tool parser" in (found.fix or "")) is not is_said
