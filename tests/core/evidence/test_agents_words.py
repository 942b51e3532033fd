"""What agents and gateways print around a call: words that quote it, streams in a report, shortened ids."""

import asyncio

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence

FENCE = "```"


def findings_of(text):
    return {finding.code: finding for finding in asyncio.run(show_evidence(read_evidence(text))).findings}


@pytest.mark.parametrize(
    "text",
    [
        'Thought: I look it up.\nAction: search\nAction Input: {"query": "news"}',
        '{"function": "search", "arguments": {"query": "news"}}',
        'helper (to user):\n\n{\n  "function": "search",\n  "arguments": {"query": "news"}\n}\n\n-----\n',
    ],
)
def test_the_text_of_an_agents_model_is_the_content_of_an_answer(text):
    found = findings_of(text)["PD426"]

    assert "`search`" in found.title


def test_an_action_within_a_sentence_is_not():
    with pytest.raises(RequestError):
        read_evidence('The agent reads the "action" and the "action_input" of what the model writes.')


def test_the_error_in_a_fence_is_told_and_not_the_sentence_above_it():
    text = f"I am stuck with this error:\n{FENCE}\nModel did not call any tools.\n{FENCE}"

    found = findings_of(text)["PD445"]

    assert "stuck" not in found.title
    assert "Model did not call any tools" in found.title


@pytest.mark.parametrize(
    "prose",
    [
        "Expected: a valid call, or a clean refusal.\n\nActual: the output is malformed, and the tool never runs.",
        "We see answers where the content is empty after a tool returned.",
    ],
)
def test_what_a_person_says_of_the_trouble_is_not_an_error(prose):
    with pytest.raises(RequestError):
        read_evidence(prose)


EVENTS = """\
event: message_start
data: {"type": "message_start", "message": {...}}

event: content_block_start
data: {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "call_9...", \
"name": "read", "input": {}}}

event: content_block_stop
data: {"type": "content_block_stop", "index": 0}

event: message_delta
data: {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}
"""


def test_a_stream_in_a_report_shows_what_it_lacks_though_its_ids_are_shortened():
    found = findings_of(f"This is all that comes, without a single delta of the block:\n{FENCE}\n{EVENTS}{FENCE}\nOdd.")

    assert "PD480" in found


def test_an_event_that_was_left_out_still_proves_nothing():
    assert "PD480" not in findings_of(EVENTS.replace("event: content_block_stop", "...\n\nevent: content_block_stop"))


def test_pieces_without_an_index_are_told_though_the_ids_of_the_events_are_shortened():
    pieces = ['{"name": "read"}', '{"arguments": "{\\"path\\": \\"a\\"}"}']
    lines = (
        f'data: {{"id": "...", "choices": [{{"delta": {{"tool_calls": [{{"function": {one}}}]}}}}]}}' for one in pieces
    )

    assert "PD417" in findings_of("\n\n".join(lines))


def test_a_shortened_id_of_a_call_is_unknown_and_no_fault():
    call = '{"id": "call_1...", "type": "function", "function": {"name": "read", "arguments": "{}"}}'
    message = f'{{"role": "assistant", "tool_calls": [{call}]}}'
    text = f'{{"choices": [{{"message": {message}, "finish_reason": "tool_calls"}}]}}'

    evidence = read_evidence(text)

    assert evidence.chat is not None
    assert evidence.chat.message["tool_calls"][0]["id"] == "unknown"
    assert not findings_of(text)


GPT_OSS = '{"error": {"message": "Unknown channel: final json", "type": "server_error"}, "provider": "azure"}'


def test_an_unknown_channel_is_said_to_be_of_servers_of_gpt_oss():
    detail = findings_of(GPT_OSS)["PD445"].detail

    assert "comes from servers of gpt-oss." in detail
    assert "vLLM" not in detail
