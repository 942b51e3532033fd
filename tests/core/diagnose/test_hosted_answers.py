"""Answers of hosted APIs: no flag of a server is advised, and what their models do at times is no fault of a parser."""

import json

import pytest

from prompt_debugger.core.evidence import read_evidence, show_evidence


async def found(value):
    trace = await show_evidence(read_evidence(value if isinstance(value, str) else json.dumps(value)))
    return {finding.code: finding for finding in trace.findings}


def claudes(*content, model="claude-haiku-4-5", tokens=30):
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": list(content),
        "stop_reason": "end_turn", "usage": {"input_tokens": 9, "output_tokens": tokens},
    }  # fmt: skip


def words_of(finding):
    return f"{finding.detail} {finding.fix}"


async def test_an_empty_answer_of_claude_was_taken_by_no_parser():
    claude, other = await found(claudes()), await found(claudes(model="qwen3-8b"))

    assert claude["PD312"].title.startswith("The answer is empty")
    assert "pars" not in words_of(claude["PD312"])
    assert "a parser removed it" in words_of(other["PD312"])


async def test_an_answer_of_the_vendors_own_tools_alone_is_not_empty():
    used = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "advisor", "input": {}}
    back = {"type": "advisor_tool_result", "tool_use_id": "srvtoolu_1", "content": {"type": "advisor_result"}}

    assert "PD312" not in await found(claudes(used, back))


async def test_thoughts_that_claude_wrote_as_text_have_no_parser():
    text = {"type": "text", "text": "<thinking>\nThe tool fits.\n</thinking>\n\nI update the list."}

    claude, other = await found(claudes(text)), await found(claudes(text, model="qwen3-8b"))

    assert "--reasoning-parser" not in words_of(claude["PD409"])
    assert "--reasoning-parser" in words_of(other["PD409"]) or "Split the answer" in words_of(other["PD409"])


@pytest.mark.parametrize(("model", "is_found"), [("gemini-2.5-flash", False), ("gemma-4-31b-it", True)])
async def test_a_thought_of_gemini_is_no_stripped_channel_of_gemma(model, is_found):
    content = {"role": "model", "parts": [{"text": "thought\nThe image is a gem.\n\nIt is a gem."}]}
    answer = {"candidates": [{"content": content, "finishReason": "STOP"}], "modelVersion": model}

    assert ("PD457" in await found(answer)) is is_found


def thinking(thought, content="It is 40 °C."):
    message = {"role": "assistant", "content": content, "reasoning_content": thought}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


TOLD = 'I already made a call: <function_call>{"action": "f", "at": "Rome"}</function_call>'


async def test_a_call_that_a_thought_tells_of_is_no_missed_end():
    goes_on = f"{TOLD}. Now the result is there, and I can answer the user at once."

    assert "PD458" not in await found(thinking(goes_on))
    assert "PD458" in await found(thinking(TOLD))
    assert "PD458" in await found(thinking(goes_on.replace("</function_call>", "")))


async def test_an_error_event_of_responses_is_shown_by_its_words():
    response = {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}
    error = {"code": "rate_limit", "message": "Too many tokens per minute for this account."}
    events = [
        {"type": "response.created", "response": response},
        {"type": "error", "error": error},
        {"type": "response.failed", "response": {**response, "status": "failed", "error": error}},
    ]

    codes = await found("".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events))

    assert set(codes) == {"PD310"}
    assert "Too many tokens" in codes["PD310"].title
    assert "{" not in codes["PD310"].title


@pytest.mark.parametrize("piece", ["", '{"city": '])
async def test_claude_streams_one_empty_piece_for_a_call_without_arguments(piece):
    block = {"type": "tool_use", "id": "toolu_1", "name": "now", "input": {}}
    events = [
        {"type": "message_start", "message": {**claudes(), "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]

    assert bool(await found("\n".join(map(json.dumps, events)))) is bool(piece)


@pytest.mark.parametrize(("content", "is_broken"), [({"a": 1}, False), ("So: it is 1.", True)])
async def test_json_that_the_server_decoded_keeps_the_promise(content, is_broken):
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    request = {
        "model": "m", "messages": [{"role": "user", "content": "Hi"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
    }  # fmt: skip

    codes = await found(f"{json.dumps(request)}\n\n{json.dumps(thinking('Hm.', content))}")

    assert ("PD505" in codes) is is_broken


def writing(model):
    call = '<tool_call>\n{"name": "find", "arguments": {"q": "rain"}}\n</tool_call>'
    message = {"role": "assistant", "content": call}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"object": "chat.completion", "model": model, "choices": [choice]}


@pytest.mark.parametrize(
    ("model", "vendor"),
    [
        ("anthropic.claude-sonnet-4-20250514-v1:0", "Amazon Bedrock"),
        ("bedrock/us.amazon.nova-lite-v1:0", "Amazon Bedrock"),
        ("qwen.qwen3-32b-v1:0", "Amazon Bedrock"),
        ("gpt-4o-mini-2024-07-18", "OpenAI"),
        ("gemini-2.5-flash", "Google"),
    ],
)
async def test_no_flag_of_a_server_is_advised_where_the_models_name_shows_a_hosted_api(model, vendor):
    fix = (await found(writing(model)))["PD426"].fix

    assert "--" not in fix
    assert vendor in fix


@pytest.mark.parametrize(
    "model", ["devquasar/qwen.qwen3-32b", "qwen3:8b", "gpt-4", "gpt-oss-120b", "org.team.model-7b"]
)
async def test_a_name_that_any_server_can_give_a_model_shows_no_hosted_api(model):
    assert "--tool-call-parser hermes" in (await found(writing(model)))["PD426"].fix


async def test_the_model_that_a_request_asks_for_shows_bedrock():
    tool = {"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {}}}}
    request = {
        "model": "eu.anthropic.claude-haiku-4-5-20251001-v1:0",
        "messages": [{"role": "user", "content": "Rain?"}],
        "tools": [tool],
    }

    codes = await found(json.dumps(request) + "\n\n" + json.dumps(writing("m")))

    assert "Amazon Bedrock" in codes["PD426"].fix


SIGNS = {
    "MiniMax": {"base_resp": {"status_code": 0, "status_msg": ""}},
    "SambaNova": {"usage": {"completion_tokens": 9, "completion_tokens_after_first_per_sec": 90.1}},
    "Perplexity": {"usage": {"completion_tokens": 9, "search_context_size": "low"}},
    "xAI": {"usage": {"completion_tokens": 9, "num_sources_used": 0}},
    "DeepInfra": {"usage": {"completion_tokens": 9, "estimated_cost": 0.0002}},
}


@pytest.mark.parametrize("vendor", SIGNS)
async def test_no_flag_of_a_server_is_advised_where_a_field_shows_a_hosted_api(vendor):
    call = '<tool_call>\n{"name": "find", "arguments": {"q": "rain"}}\n</tool_call>'
    fix = str((await found({**thinking("", call), **SIGNS[vendor]}))["PD426"].fix)

    assert vendor in fix
    assert "--tool-call-parser" not in fix


async def test_thoughts_in_content_are_split_off_by_minimaxs_own_field():
    told = thinking("", "<think>They ask.</think>It is sunny.")

    hosted, served = await found({**told, **SIGNS["MiniMax"]}), await found(told)

    assert "`reasoning_split: true`" in str(hosted["PD409"].fix)
    assert "reasoning_split" not in str(served["PD409"].fix)
