"""Logs of servers without a prompt or an output: whose they are, what they show, and nothing that no model wrote."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.core.evidence import Form, Part, parts_of, read_evidence, show_evidence
from prompt_debugger.core.evidence.logs.server import is_server_log

UVICORN = 'INFO:     127.0.0.1:48530 - "POST /v1/chat/completions HTTP/1.1" 400 Bad Request\n'
VLLM = (
    "(APIServer pid=7) INFO 01-02 16:25:27 [loggers.py:123] Engine 000: Avg prompt throughput: 24.0 tokens/s, "
    "Running: 1 reqs\n"
)
LLAMA = (
    "print_info: EOS token        = 151645 '<|im_end|>'\n"
    "main: chat template, built_in: 1, chat_example: '<|im_start|>system\nBe kind<|im_end|>\n<|im_start|>user\n"
    "Hello<|im_end|>\n'\n"
    "main: server is listening on http://127.0.0.1:8080 - starting the main loop\n"
)
SLOT = "slot update_slots: id  0 | task 0 | new prompt, n_ctx_slot = {}, n_keep = 0, n_prompt_tokens = {}\n"
CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>\n'

LOGS = {
    "vLLM": (VLLM + "(APIServer pid=7) " + UVICORN, "a log of vLLM", "--enable-log-outputs"),
    "SGLang": (
        "[2026-01-02 10:00:00] Prefill batch. #new-seq: 1, #new-token: 8\n[2026-01-02 10:00:01] " + UVICORN,
        "a log of SGLang",
        "--log-requests-level 3",
    ),
    "llama.cpp": (LLAMA, "a log of llama.cpp", "--verbose"),
    "Ollama": (
        '[GIN] 2026/01/02 - 10:00:00 | 500 |  1.5s |  127.0.0.1 | POST     "/api/chat"\n',
        "a log of Ollama",
        "OLLAMA_DEBUG=2",
    ),
    "LM Studio": (
        "2026-01-02 10:00:00  [INFO] [LM STUDIO SERVER] Streaming response...\n", "a log of LM Studio", "lms log stream"
    ),
    "any": (UVICORN, "a log of a server", "Let the server log requests"),
}  # fmt: skip


@pytest.mark.parametrize("name", LOGS)
def test_whose_log_it_is_and_how_to_log_more(name):
    text, words, advice = LOGS[name]

    evidence = read_evidence(text)

    assert (evidence.form, evidence.words) == (Form.LOG, words)
    assert evidence.raw is None
    assert any(advice in note and "capture" in note for note in evidence.notes)


def test_answers_and_ignored_fields_are_reported():
    ignored = (
        "WARNING 01-02 18:56:53 [protocol.py:116] The following fields were present in the request but ignored: "
        "{'strict'}\n"
    )

    evidence = read_evidence(ignored + UVICORN + UVICORN.replace("400 Bad Request", "200 OK") * 2)
    notes = " ".join(evidence.notes)

    assert "`POST /v1/chat/completions` answered with 200 (2 times), 400." in notes
    assert "The reason for a 4xx is in the body of its answer" in notes
    assert "{'strict'}" in evidence.server.log_warnings[0]


def test_the_pieces_of_an_output_are_put_together_and_may_not_be_all():
    line = "INFO 01-02 13:29:36 [logger.py:92] Generated response c-1 (streaming delta): output: {!r}, "
    line += "output_token_ids: [1], finish_reason: {}\n"
    ends = [("<tool_call>\n{", None), ('"name": "f"', None), ("}", "stop")]
    pieces = "".join(line.format(text, end) for text, end in ends)

    evidence = read_evidence(VLLM + pieces)

    assert evidence.raw == '<tool_call>\n{"name": "f"}'
    assert evidence.finish_reason == "stop"
    assert "may have been left out" in evidence.raw_reason


@pytest.mark.parametrize(
    ("pieces", "raw"),
    [
        (["[reasoning: I look it", "[reasoning:  up]", '[tool_calls: {"place": "Oslo"}]'], None),
        (["[reasoning: I look.]", "All", " good"], None),
        (["[reasoning: I look.]", "<tool_call>\n{", '"name": "f"}'], '<tool_call>\n{"name": "f"}'),
        (["[draft]", " <b>"], "[draft] <b>"),
    ],
)
def test_what_a_parser_made_of_a_stream_is_not_its_output(pieces, raw):
    line = "INFO 01-02 13:29:36 [logger.py:92] Generated response c-1 (streaming delta): output: {!r}, "
    log = "".join(f"{line.format(piece)}output_token_ids: [1], finish_reason: None\n" for piece in pieces)

    evidence = read_evidence(VLLM + log)

    assert evidence.raw == raw
    assert any("after its parsers" in note for note in evidence.notes) == pieces[0].startswith("[reasoning")


def test_deltas_that_were_printed_as_they_are_keep_their_line_breaks():
    log = "INFO 01-02 08:42:03 [async_llm.py:269] Added request chatcmpl-1.\n" + "".join(
        f"DELTA TEXT: {piece}\n" for piece in ("I look.", "\n", "[get", "_time(", ")]", "")
    )

    assert read_evidence(log).raw == "I look.\n[get_time()]"


@pytest.mark.parametrize(("context", "prompt", "is_reported"), [(4096, 39846, True), (4096, 96, False)])
def test_a_prompt_that_is_longer_than_its_slot(context, prompt, is_reported):
    trace = asyncio.run(show_evidence(read_evidence(LLAMA + SLOT.format(context, prompt))))

    assert ("PD231" in {finding.code for finding in trace.findings}) == is_reported


def test_an_error_in_the_log_keeps_what_it_quotes_of_the_output():
    quoted = "Failed to parse input at pos 12: </tool_call>"
    error = 'srv    operator(): got exception: {"error":{"code":500,"message":"' + quoted + '"}}\n'

    for text in (SLOT.format(4096, 96) + error, LLAMA + error):
        trace = asyncio.run(show_evidence(read_evidence(text)))

        assert {Part.RAW, Part.ERROR} <= {*parts_of(trace)}
        assert trace.raw is not None
        assert trace.raw.text.strip() == "</tool_call>"


@pytest.mark.parametrize("text", [UVICORN + CALL, VLLM + "\n" + CALL, CALL + UVICORN])
def test_an_output_among_lines_of_a_log_is_still_read(text):
    evidence = read_evidence(text)

    assert evidence.raw is not None
    assert "<tool_call>" in evidence.raw


@pytest.mark.parametrize(
    "text", ["INFO  2026-06-06T23:07:03 +1ms service=llm modelID=qwen\n", "2026-01-02 10:00:00 [INFO] started\n"]
)
def test_a_log_of_something_else_is_not_taken_for_a_servers(text):
    assert not is_server_log(text)
