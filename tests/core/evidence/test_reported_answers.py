"""What people say of thoughts and schemas in answers that they do not show."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Finding
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.evidence import read_evidence, trace_of
from prompt_debugger.core.evidence.reports.said_of_answers import reported_answers
from tests.attacks.growth import grows_linearly

COMMAND = "vllm serve Qwen/Qwen3-32B --reasoning-parser deepseek_r1"


def found_in(text: str) -> dict[str, Finding]:
    return {finding.code: finding for finding in diagnose_trace(trace_of(read_evidence(text)))}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("With our model content is always null and the whole answer is in `reasoning_content`.", "came as reasoning"),
        ("`message.content` comes back empty, but reasoning_content has the JSON.", "came as reasoning"),
        ("All output is put into reasoning_content after the second turn.", "came as reasoning"),
        ("返回的content为空，而答案在reasoning_content中。", "came as reasoning"),
        ("I start SGLang with a reasoning parser, but the thinking process ends up in content.", "came in content"),
        ("reasoning_content is None and everything is returned in `content`.", "came in content"),
        ("The content still contains the thinking block.", "came in content"),
        ("reasoning_content为空，思考过程都在content里。", "came in content"),
        ("We send a `json_schema`, and `response_format` is silently ignored by the gateway.", "schema"),
        ("The server does not respect the schema, the keys are others.", "schema"),
        ("Our proxy accepts response_format but silently ignores it.", "schema"),
        ("With guided_json the model returns plain text all the time.", "schema"),
        ("When thinking is off:\n- content is null, and the JSON is in `reasoning_content`", "came as reasoning"),
    ],
)
def test_what_is_said_of_an_answer_is_an_inference(text: str, words: str) -> None:
    finding = found_in(text)["PD469"]

    assert words in finding.title
    assert finding.certainty.value == "inferred"


@pytest.mark.parametrize(
    "text",
    [
        "If the parser is another model's, content is null and the answer is in `reasoning_content`.",
        "The thinking should end up in reasoning_content and not in content.",
        "With the newer release the thinking no longer ends up in content.",
        "Please add a feature that puts the whole answer in reasoning_content.",
        "Is response_format ignored by this server?",
        "| `response_format` | is ignored |",
        "Thinking is expected to be returned in the content for this model.",
        "This fixes that the thinking was returned in content.",
        "The content type is empty in my reasoning benchmark.",
        "In these cases `reasoning` will be `None` and all output goes to `content`.",
        "When the option is not given, the server behaves as before:\n- Thinking tags are included in `content`",
        "### Reasoning appears in content\n\n- Try another parser (`qwen3` or `deepseek_r1`)",
        "未指定解析器时，服务器行为与之前一致：thinking 标签包含在 `content` 字段中。",
        "The thinking process is returned via `reasoning_content` in the streaming response.",
        "Thinking text is separated into `message.reasoning_content` when the model emits its tags.",
        "Keep the parser on so that the thoughts are split into `message.reasoning_content`.",
        "Enable the parser to separate thinking from the final answer into `reasoning_content` and `content`.",
        "Thoughts are leaking into content on Qwen 3.6 — upgrade the client",
        "Do **not** use the old parser: with it the thoughts stay in `content`.",
    ],
)
def test_what_may_or_ought_to_happen_is_not(text: str) -> None:
    with pytest.raises(RequestError):
        read_evidence(text)


def test_beside_a_command_it_is_said_in_place_of_what_would_be_needed() -> None:
    said = "When I switch thinking off, the content is null and the answer is in reasoning_content.\n\n"
    evidence = read_evidence(f"{said}```\n{COMMAND}\n```\n")

    assert evidence.server is not None
    assert evidence.server.reasoning_parser == "deepseek_r1"
    assert not any("were not read" in note for note in evidence.notes)
    assert "PD469" in [finding.code for finding in diagnose_trace(trace_of(evidence))]


def test_beside_the_answer_itself_the_words_are_not_needed() -> None:
    text = 'The whole answer is in reasoning_content:\n\n```json\n{"choices": [{"message": {"role": "assistant", '
    text += '"content": null, "reasoning_content": "Oslo."}, "finish_reason": "stop"}]}\n```\n'

    assert "PD469" not in found_in(text)
    assert "PD459" in found_in(text)


@pytest.mark.parametrize(
    "piece",
    [
        "content is ",
        "reasoning_content is empty ",
        "the thinking ",
        "response_format ",
        "in content ",
        "ignores ",
        "思考",
    ],
)
def test_a_flood_takes_no_longer(piece: str) -> None:
    line = piece * (480 // len(piece))

    assert grows_linearly(lambda size: [*reported_answers(piece * (size // len(piece)))], first=4_000)
    assert grows_linearly(lambda size: [*reported_answers(f"{line}\n" * (size // 480))], first=4_000)
