"""What KoboldCpp prints for a request: the request, counts, and the output."""

from __future__ import annotations

import asyncio
import time

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence

ASKED = '{"messages": [{"role": "user", "content": "What is the time in Bern?"}], "max_length": 64}'
COUNTS = """Processing Prompt (20 / 20 tokens)
Generating (9 / 64 tokens)
(EOS token triggered! ID:2)
[09:30:00] CtxLimit:29/4096, Amt:9/64, Init:0.00s, Process:0.1s (200.00T/s), Generate:0.3s (30.0T/s), Total:0.40s"""
CALL = '<tool_call>\n{"name": "clock", "arguments": {"city": "Bern"}}\n</tool_call>'


def test_request_and_output_are_those_of_the_last_request():
    text = f"Input: {{}}\n\n{COUNTS}\nOutput: Hi.\n\nInput: {ASKED}\n\n{COUNTS}\nOutput: {CALL}\n"
    evidence = read_evidence(text)

    assert evidence.raw == CALL
    assert evidence.request is not None
    assert evidence.request.body["messages"][0]["content"] == "What is the time in Bern?"
    assert {one.code for one in asyncio.run(show_evidence(evidence)).findings} == {"PD463"}


def test_the_line_of_the_web_server_below_is_no_output():
    text = f'{COUNTS}\nOutput: It is noon.\n127.0.0.1 - - [01/Jan/2026 09:30:01] "POST /v1/chat/completions" 200 -\n'

    assert read_evidence(text).raw == "It is noon."


@pytest.mark.parametrize("text", ["Output: It is noon.", f"{COUNTS}\nOutput:\n"])
def test_a_word_alone_or_nothing_is_no_console(text):
    with pytest.raises(RequestError):
        read_evidence(text)


def test_a_flood_is_read_in_linear_time():
    started = time.perf_counter()
    read_evidence(f"{COUNTS}\n" + "Output: a\n" * 20_000)

    assert time.perf_counter() - started < 20
