"""Answers and streams of the APIs besides chat completions: read as messages, nothing lost in silence."""

import json

import pytest

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete.dialects import DIALECTS, responses
from prompt_debugger.core.evidence import Form, Part, gather_evidence, read_evidence, show_evidence
from prompt_debugger.core.evidence.evidence import trace_of
from tests.attacks.growth import grows_linearly

ARGUMENTS = '{"city": "Oslo"}'


def lines(*events):
    return "\n".join(json.dumps(event) for event in events)


def sse(*events, named=True):
    head = (lambda event: f"event: {event['type']}\n") if named else (lambda _: "")
    return "".join(f"{head(event)}data: {json.dumps(event)}\n\n" for event in events)


def calls_of(evidence):
    calls = evidence.chat.message.get("tool_calls", [])
    return [(call["function"]["name"], call["function"]["arguments"]) for call in calls]


def ollama(message, **fields):
    return {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", **message}, **fields}


OLLAMA_CALL = {"function": {"name": "weather", "arguments": {"city": "Oslo"}}}
OLLAMA_DONE = {"done": True, "done_reason": "stop", "prompt_eval_count": 20, "eval_count": 7}
OLLAMA_STREAM = lines(
    ollama({"content": "", "thinking": "Hm"}, done=False),
    ollama({"content": "Let me", "thinking": ""}, done=False),
    ollama({"content": "", "tool_calls": [OLLAMA_CALL]}, done=False),
    ollama({"content": ""}, **OLLAMA_DONE),
)


def test_ollamas_chat_is_read():
    evidence = read_evidence(
        json.dumps(ollama({"content": "", "thinking": "Hm", "tool_calls": [OLLAMA_CALL]}, **OLLAMA_DONE))
    )

    assert evidence.form is Form.ANSWER
    assert evidence.words == "an answer of Ollama's /api/chat, 1 tool call"
    assert calls_of(evidence) == [("weather", ARGUMENTS)]
    assert evidence.chat.message["reasoning"] == "Hm"
    assert (evidence.finish_reason, evidence.chat.usage.completion_tokens) == ("tool_calls", 7)


def test_ollamas_generate_keeps_its_thinking_and_says_what_the_context_is():
    body = {"model": "m", "response": "", "thinking": "All of it.", "context": [1, 2, 3], **OLLAMA_DONE}

    evidence = read_evidence(json.dumps(body))

    assert evidence.words == "an answer of Ollama's /api/generate"
    assert (evidence.chat.message["content"], evidence.chat.message["reasoning"]) == ("", "All of it.")
    assert evidence.token_ids is None
    assert any("3 ids of prompt and answer together" in note for note in evidence.notes)


def test_ollamas_lines_are_a_stream():
    evidence = read_evidence(OLLAMA_STREAM)

    assert evidence.form is Form.STREAM
    assert Part.STREAM in evidence.holds
    assert (evidence.chat.message["content"], evidence.chat.message["reasoning"]) == ("Let me", "Hm")
    assert calls_of(evidence) == [("weather", ARGUMENTS)]
    assert evidence.chat.error is None


def test_ollamas_cut_stream_is_kept_as_far_as_it_came():
    evidence = read_evidence("\n".join(OLLAMA_STREAM.splitlines()[:2]))

    assert evidence.chat.message["content"] == "Let me"
    assert "without" in evidence.chat.error


ANTHROPIC = {
    "content": [
        {"type": "thinking", "thinking": "Hm", "signature": "x"},
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Oslo"}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 9, "cache_read_input_tokens": 4, "output_tokens": 3},
}


@pytest.mark.parametrize("around", [{}, {"type": "message", "role": "assistant"}, {"role": "assistant"}])
def test_a_message_of_anthropics_needs_no_role(around):
    evidence = read_evidence(json.dumps({**around, **ANTHROPIC}))

    assert evidence.words.startswith("an answer of Anthropic's Messages API")
    assert calls_of(evidence) == [("weather", ARGUMENTS)]
    assert (evidence.chat.message["reasoning"], evidence.finish_reason) == ("Hm", "tool_calls")
    assert evidence.chat.usage.prompt_tokens == 13


def test_a_chat_message_with_parts_is_not_anthropics():
    evidence = read_evidence(json.dumps({"role": "assistant", "content": [{"type": "text", "text": "Hi"}]}))

    assert evidence.words == "a message"


def anthropic_stream(*deltas, end=True):
    events = [
        {"type": "message_start", "message": {"role": "assistant", "usage": {"input_tokens": 9, "output_tokens": 0}}},
        {"type": "ping"},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "t", "name": "weather", "input": {}},
        },
        *(
            {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": part}}
            for part in deltas
        ),
    ]
    if end:
        events += [
            {"type": "content_block_stop", "index": 1},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        ]
    return sse(*events)


def test_anthropics_stream_is_put_together():
    evidence = read_evidence(anthropic_stream('{"city":', ' "Oslo"}'))

    assert evidence.words == "a stream of Anthropic's Messages API, 1 tool call"
    assert calls_of(evidence) == [("weather", ARGUMENTS)]
    assert (evidence.finish_reason, evidence.chat.usage.completion_tokens) == ("tool_calls", 5)
    assert evidence.chat.error is None


async def test_a_call_without_any_delta_is_found():
    evidence = read_evidence(anthropic_stream())

    assert calls_of(evidence) == [("weather", "{}")]
    assert "PD480" in [finding.code for finding in (await show_evidence(evidence)).findings]


async def test_a_call_whose_deltas_were_cut_off_is_not_said_to_be_empty():
    evidence = read_evidence(anthropic_stream(end=False))

    assert calls_of(evidence) == [("weather", "")]
    assert "PD480" not in [finding.code for finding in (await show_evidence(evidence)).findings]


async def test_an_error_inside_anthropics_stream_is_found():
    text = anthropic_stream('{"ci', end=False) + sse({"type": "error", "error": {"message": "Overloaded"}})

    trace = await show_evidence(read_evidence(text))

    assert "Overloaded" in trace.chat.error
    assert next(finding.code for finding in trace.findings) == "PD310"


def response(*output, **fields):
    return {"object": "response", "status": "completed", "output": list(output), **fields}


RESPONSE_CALL = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": ARGUMENTS}


def test_a_response_that_is_incomplete_says_why():
    details = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}

    evidence = read_evidence(json.dumps(response({**RESPONSE_CALL, "arguments": '{"ci'}, **details)))

    assert (evidence.finish_reason, calls_of(evidence)) == ("length", [("weather", '{"ci')])


def test_a_response_with_its_messages_shows_prompt_raw_output_and_ids():
    kind = "raw_message_tokens"
    body = response(
        RESPONSE_CALL,
        input_messages=[{"type": kind, "message": "<|im_start|>user", "tokens": [1, 2]}],
        output_messages=[{"type": kind, "message": "<tool_call>", "tokens": [3, 4]}],
    )

    evidence = read_evidence(json.dumps(body))

    assert (evidence.prompt, evidence.raw, evidence.token_ids) == ("<|im_start|>user", "<tool_call>", (3, 4))
    assert (evidence.chat.prompt_text, evidence.chat.prompt_token_ids) == ("<|im_start|>user", (1, 2))
    assert trace_of(evidence).prompt.note.startswith("The answer itself shows this prompt")


def test_the_prompt_of_an_answer_is_not_the_one_that_was_pasted_beside_it():
    kind = "raw_message_tokens"
    shown = {name: [{"type": kind, "message": "a", "tokens": [1]}] for name in ("input_messages", "output_messages")}
    text = json.dumps(response(RESPONSE_CALL, **shown))

    pasted = trace_of(gather_evidence([text], prompt="mine")).prompt

    assert (pasted.text, pasted.note) == ("mine", "The prompt was pasted.")
    assert trace_of(gather_evidence([text])).prompt.text == "a"


def test_a_chat_completion_that_shows_its_prompt_likewise():
    choice = {"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}
    text = json.dumps({"object": "chat.completion", "choices": [choice], "prompt_text": "<|im_start|>user"})

    prompt = trace_of(read_evidence(text)).prompt

    assert prompt.text == "<|im_start|>user"
    assert prompt.note.startswith("The answer itself shows this prompt")


def responses_events(*, content_index=lambda number: 0):
    return [
        {"type": "response.created", "response": {}},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "m"}},
        *(
            {"type": "response.output_text.delta", "output_index": 0, "content_index": content_index(at), "delta": text}
            for at, text in enumerate(("Hel", "lo", "!"))
        ),
        {"type": "response.output_item.added", "output_index": 1, "item": {**RESPONSE_CALL, "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"city":'},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": ' "Oslo"}'},
        {"type": "response.output_item.done", "output_index": 1, "item": RESPONSE_CALL},
        {"type": "response.completed", "response": response(RESPONSE_CALL, usage={"input_tokens": 3})},
    ]


def test_a_stream_of_responses_is_put_together():
    evidence = read_evidence(sse(*responses_events()))

    assert evidence.chat.message["content"] == "Hello!"
    assert (calls_of(evidence), evidence.finish_reason) == ([("weather", ARGUMENTS)], "tool_calls")


async def test_a_part_index_that_rises_with_every_delta_is_found():
    evidence = read_evidence(sse(*responses_events(content_index=lambda number: 90 + number)[2:5]))

    assert evidence.chat.message["content"] == "Hello!"
    assert "PD481" in [finding.code for finding in (await show_evidence(evidence)).findings]
    assert any("without its beginning" in note for note in evidence.notes)


def gemini(*parts, **fields):
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **fields}], "modelVersion": "g"}


GEMINI_CALL = {"functionCall": {"name": "weather", "args": {"city": "Oslo"}}, "thoughtSignature": "x"}


def test_geminis_answer_is_read():
    thought = {"thought": True, "text": "Hm"}
    body = {
        **gemini(thought, {"text": "Sure."}, GEMINI_CALL, finishReason="STOP"),
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 3, "thoughtsTokenCount": 4},
    }

    evidence = read_evidence(json.dumps(body))

    assert evidence.words == "an answer of Gemini's generateContent, 1 tool call"
    assert (evidence.chat.message["reasoning"], evidence.chat.message["content"]) == ("Hm", "Sure.")
    assert (calls_of(evidence), evidence.finish_reason) == ([("weather", ARGUMENTS)], "tool_calls")
    assert evidence.chat.usage.completion_tokens == 7


async def test_a_call_that_gemini_could_not_read_is_found():
    body = {"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"}]}

    trace = await show_evidence(read_evidence(json.dumps(body)))

    assert trace.chat.finish_reason == "MALFORMED_FUNCTION_CALL"
    assert any("could not parse" in note for note in trace.notes)


@pytest.mark.parametrize("form", ["events", "list"])
def test_geminis_stream_is_put_together(form):
    chunks = [gemini({"text": "Su"}), gemini({"text": "re."}), gemini(GEMINI_CALL, finishReason="STOP")]
    text = sse(*chunks, named=False) if form == "events" else json.dumps(chunks)

    evidence = read_evidence(text)

    assert evidence.form is Form.STREAM
    assert (evidence.chat.message["content"], calls_of(evidence)) == ("Sure.", [("weather", ARGUMENTS)])


def test_the_python_clients_names_are_known():
    body = {"candidates": [{"content": {"parts": [{"text": "Hi", "function_call": None}]}, "finish_reason": "STOP"}]}

    assert read_evidence(json.dumps(body)).chat.message["content"] == "Hi"


@pytest.mark.parametrize(
    "near_miss",
    [
        {"done": True, "result": 3},
        {"output": [1, 2]},
        {"candidates": ["a"]},
        {"content": [{"kind": "x"}]},
        {"type": "something", "index": 0},
    ],
)
def test_near_misses_belong_to_no_api(near_miss):
    assert not any(one.is_answer(near_miss) or one.is_event(near_miss) for one in DIALECTS.values())


def test_the_text_of_a_custom_tool_is_a_call_whole_and_streamed():
    item = {"type": "custom_tool_call", "id": "i", "call_id": "c", "name": "patch", "input": "*** Begin"}
    whole = {"object": "response", "status": "completed", "output": [item]}
    stream = [
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "input": ""}},
        {"type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": "*** Begin"},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    call = {"id": "c", "type": "function", "function": {"name": "patch", "arguments": '{"input": "*** Begin"}'}}
    responses = DIALECTS["responses"]

    assert responses.read_answer(whole).chat.message["tool_calls"] == [call]
    assert responses.read_events(stream, "").chat.message["tool_calls"] == [call]
    assert responses.read_events(stream, "").chat.finish_reason == "tool_calls"


@pytest.mark.parametrize(("namespace", "name"), [("crm", "crm__find"), ("", "find"), (None, "find"), (3, "find")])
def test_a_call_of_a_namespace_has_the_name_that_the_model_writes(namespace, name):
    item = {"type": "function_call", "call_id": "c", "namespace": namespace, "name": "find", "arguments": "{}"}
    whole = {"object": "response", "status": "completed", "output": [item]}
    added = {"type": "response.output_item.added", "output_index": 0, "item": {**item, "arguments": ""}}
    stream = [added, {"type": "response.output_item.done", "output_index": 0, "item": item}]
    responses = DIALECTS["responses"]

    for answer in (responses.read_answer(whole), responses.read_events(stream, "")):
        assert [call["function"]["name"] for call in answer.chat.message["tool_calls"]] == [name]


def test_a_stream_that_ends_each_text_many_times_is_read_in_linear_time() -> None:
    piece: JSONObject = {"type": "response.output_text.delta", "output_index": 0, "delta": "a"}
    end: JSONObject = {"type": "response.output_text.done", "output_index": 0, "text": "So: a"}

    assert grows_linearly(lambda size: responses.DIALECT.read_events([piece, end] * size, ""), first=100)


@pytest.mark.parametrize(
    ("reason", "last", "is_said"), [("max_tokens", "tool_use", True), ("tool_use", "tool_use", False),
                                    ("max_tokens", "text", False)]
)  # fmt: skip
def test_of_a_call_at_which_a_limit_ended_a_message_it_is_said_that_its_input_may_lack_something(reason, last, is_said):
    blocks = {
        "text": {"type": "text", "text": "I"},
        "tool_use": {"type": "tool_use", "id": "t", "name": "f", "input": {}},
    }
    answer = {"type": "message", "role": "assistant", "content": [blocks[last]], "stop_reason": reason}

    notes = read_evidence(json.dumps(answer)).notes

    assert any("its input may lack" in note for note in notes) is is_said
