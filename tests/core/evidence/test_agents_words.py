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

    assert "known from servers of gpt-oss." in detail
    assert "vLLM" not in detail


def test_half_of_a_known_sentence_at_the_end_of_a_cut_body_is_known():
    words = "messages.3: `tool_use` ids were found without `tool_res"
    text = f'{{"type":"error","error":{{"type":"invalid_request_error","message":"{words}'

    assert "results of all calls" in findings_of(text)["PD100"].fix


def test_a_gateways_cut_body_is_read_for_the_reason_within_it():
    inner = '{\\n  "error": {\\n    "code": 400,\\n    "message": "unexpected `tool_use_id` found in `tool_result`"}}'
    text = f"{{'error': {{'message': 'Provider returned error', 'metadata': {{'raw': '{inner}', 'provider_name': 'An"

    assert "unexpected `tool_use_id`" in findings_of(text)["PD100"].title


def test_a_gateways_cut_body_without_a_reason_within_it_has_none():
    text = "{'error': {'message': 'Provider returned error', 'code': 400, 'metadata': {'raw': '', 'provider_name': 'An"

    assert "without its reason" in findings_of(text)["PD100"].title


def test_half_of_a_sentence_that_goes_on_otherwise_is_not():
    text = '{"error":{"message":"messages.3: `tool_use` ids were found without `tool_res at all"}}'

    assert "results of all calls" not in findings_of(text)["PD100"].fix


def test_arguments_whose_call_was_not_copied_have_no_name_in_a_sentence():
    title = findings_of('arguments: {"a": 1}{"b": 2}')["PD451"].title

    assert title == "The arguments of the call whose name was not copied contain 2 JSON objects end to end."


def test_a_call_without_a_name_is_given_none():
    call = '{"id": "c", "type": "function", "function": {"name": null, "arguments": "{\\"a\\": 1"}}'

    title = findings_of(f'{{"role": "assistant", "content": null, "tool_calls": [{call}]}}')["PD320"].title

    assert "the call without a name" in title


def test_one_printed_event_alone_says_nothing_of_the_rest():
    call = "ChatCompletionDeltaToolCall(id='c', function=Function(arguments='', name='read'), type='function', index=0)"

    assert not findings_of(
        f"StreamingChoices(finish_reason=None, index=0, delta=Delta(content='I', tool_calls=[{call}]))"
    )


def test_an_event_that_a_program_wrapped_is_an_event():
    chunk = '{"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": null}]}'

    assert read_evidence(f'{{"success": true, "value": {chunk}}}').stream is not None


def test_pieces_of_one_call_under_many_indexes_are_entries_without_a_name():
    piece = "[{{'name': {!r}, 'args': {!r}, 'id': {!r}, 'index': {}, 'type': 'tool_call_chunk'}}]"
    parts = [("read", "", "a", 0), ("", '{"path":', "b", 1), ("", ' "a"}', "c", 2)]

    found = findings_of("\n".join(piece.format(*part) for part in parts))

    assert found["PD466"].follows is None
    assert found["PD416"].follows is not None


def test_what_a_model_makes_up_after_its_call_is_not_the_call():
    text = "Action: look\nAction Input: {}\nTool Name: Search\nTool Arguments: {'a': 1}\nObservation: Done."

    assert "`look`" in findings_of(text)["PD426"].title


def test_a_body_whose_words_a_terminal_broke_is_read_whole():
    text = '■ {"error":{"message":"Unsupported Responses tool type:\n\'custom\'","type":"invalid_request_error"}}'

    assert "'custom'" in findings_of(text)["PD100"].title


def test_of_two_errors_in_a_report_the_one_whose_words_say_what_it_is_counts():
    text = (
        "Requests can fail with HTTP 400 when the history has `toolUse` blocks.\n\nUpstream error:\n\n"
        f"{FENCE}\nBedrock error: The toolConfig field must be defined when using toolUse and toolResult content "
        f"blocks.\n{FENCE}"
    )

    assert "toolConfig field must be defined" in findings_of(text)["PD100"].title


LOGGED = """10:14:05 DEBUG agent: response: {"id": "c-1", "object": "chat.completion", "model": "hermes-3", "choices": \
[{"index": 0, "message": {"role": "assistant", "content": "%s"}, "finish_reason": "stop"}]}
10:14:05 ERROR agent: AgentError: expected a tool call, got text
"""


def test_what_the_answer_shows_is_named_before_the_client_that_complains_of_it():
    call = r"<tool_call>\n{\"name\": \"search\", \"arguments\": {\"q\": \"gradio\"}}\n</tool_call>"
    shown, prose = (
        asyncio.run(show_evidence(read_evidence(LOGGED % text))).verdict for text in (call, "I cannot do that.")
    )

    assert shown.sentence.startswith("A tool call to `search` is in content")
    assert shown.sentence.endswith("Guilty stage: parse.")
    assert "in content" not in prose.sentence  # prose is no call: the complaint alone is told
    assert "expected a tool call, got text" in prose.sentence
