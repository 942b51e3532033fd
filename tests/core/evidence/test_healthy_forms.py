"""Answers, requests and programs in which nothing is wrong, in the forms that clients print: no fault is found in them.

Each has a neighbour in which the same part is at fault, and is told.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence

LOUD = ("error", "warning")


def loud(text):
    """Return the codes of what is found beyond notes; none of a text that holds no evidence."""
    with suppress(RequestError):
        trace = asyncio.run(show_evidence(read_evidence(text)))
        return [found.code for found in trace.findings if found.severity.value in LOUD]
    return []


def mistral(call):
    return (
        "ChatCompletionResponse(id='a1', object='chat.completion', model='m', usage=UsageInfo(prompt_tokens=9, "
        "completion_tokens=8, total_tokens=17), created=1, choices=[ChatCompletionChoice(index=0, "
        f"message=AssistantMessage(content='', tool_calls=[{call}], prefix=False, role='assistant'), "
        "finish_reason='tool_calls')])"
    )


def test_a_printed_answer_of_mistrals_client_has_its_call():
    call = "ToolCall(function=FunctionCall(name='pay', arguments='{\"id\": 1}'), id='D681PevKs', type='function')"

    chat = read_evidence(mistral(call)).chat

    assert chat.message["tool_calls"][0]["function"] == {"name": "pay", "arguments": '{"id": 1}'}
    assert not loud(mistral(call))
    assert loud(mistral(call.replace('"id": 1}', "id: 1}"))) == ["PD506"]


def test_messages_of_mistrals_client_alone_have_their_calls():
    call = "ToolCall(function=FunctionCall(name='pay', arguments='{}'), id='D681PevKs', type='function')"

    evidence = read_evidence(f"[UserMessage(content='Pay'), AssistantMessage(content='', tool_calls=[{call}])]")

    assert evidence.chat.message["tool_calls"][0]["function"]["name"] == "pay"


def test_ollamas_client_prints_arguments_as_the_object_that_its_api_sends():
    call = "ToolCall(function=Function(name='search', arguments={'max_results': 3, 'query': 'engine'}))"

    assert not loud(f"Tool calls:  [{call}]")
    assert not loud(f"model='m' done=True message=Message(role='assistant', content='', tool_calls=[{call}])")
    assert loud(call.replace("ToolCall(", "ChatCompletionMessageToolCall(id='c', type='function', ")) == ["PD506"]


def test_a_printed_message_of_langchain_without_a_word_on_its_end_is_whole():
    printed = (
        "content='' additional_kwargs={'reasoning_content': 'So.'} response_metadata={'model_name': 'qwq'} "
        "id='run-1' tool_calls=[{'name': 'f', 'args': {'a': 5}, 'id': 'call_d', 'type': 'tool_call'}]"
    )

    assert not loud(printed)
    assert loud(printed.replace("'id': 'call_d'", "'id': ''")) == ["PD507"]


def test_a_program_that_makes_messages_of_pydantic_ai_is_no_run():
    program = (
        "from pydantic_ai.messages import ModelResponse\n\n\ndef model_fn(messages, info):\n"
        "    return ModelResponse(parts=[ToolCallPart('get', {'doc_id': 42}, tool_call_id='call-1')])\n"
    )
    printed = (
        "[ModelResponse(parts=[ToolCallPart(tool_name='get', args='{\"a\": ', tool_call_id='c')], kind='response')]"
    )

    assert not loud(program)
    assert loud(printed)


def test_a_tools_result_alone_answers_a_call_that_was_not_copied():
    result = "ToolMessage(content='8 °C', name='weather', tool_call_id='1')"
    asked = "HumanMessage(content='Weather?'), "

    assert not loud(result)
    assert loud(f"[{asked}{result}]") == ["PD106"]


@pytest.mark.parametrize(
    "program",
    [
        "reply = portkey.chat.completions.create(\n    messages=[{'role': 'user', 'content': 'Hi'}],\n"
        "    model='claude',\n    max_tokens=250 # Required field for Anthropic\n)\n\nprint(reply.choices)\n",
        "from x import make\n\nagent = make(model='anthropic:claude')\n\n# Default error handling\n"
        "agent.invoke({'messages': [{'role': 'user', 'content': '6 x 7?'}]})\n",
        "reply = portkey.responses.create(\n    model='@a/claude',\n    input=[{'role': 'user', 'content': [\n"
        "        {'type': 'input_image', 'image_url': 'https://x.test/a.jpg', 'detail': 'high'}]}]\n)\n",
    ],
)
def test_a_comment_or_a_value_in_a_program_is_no_error(program):
    assert "PD100" not in loud(program)
    assert "PD100" in loud(
        f"{program}# BadRequestError: Error code: 400 - {{'error': {{'message': 'No such model'}}}}\n"
    )


def test_a_body_for_speech_is_no_body_of_responses():
    body = {"model": "tts", "input": "Hello", "voice": "Kore", "response_format": "mp3"}

    assert not loud(json.dumps(body))
    assert loud(json.dumps({name: value for name, value in body.items() if name != "voice"})) == ["PD136"]


def test_the_last_event_of_ollamas_stream_is_not_said_to_have_lost_its_text():
    last = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "done_reason": "stop", "done": True, "eval_count": 15}
    text = json.dumps({**last, "message": {"role": "assistant", "content": ""}})

    found = asyncio.run(show_evidence(read_evidence(text))).findings

    assert not loud(text)
    assert "last line" in found[0].detail


def test_a_printed_plain_completion_is_whole():
    choice = "CompletionChoice(finish_reason='length', index=0, logprobs=None, text=' dwarf (dS')"
    printed = f"Result: Completion(id='cmpl-1', choices=[{choice}], created=1, model='m', object='text_completion')"

    assert not any("ends inside" in note for note in read_evidence(printed).notes)
    assert any("ends inside" in note for note in read_evidence(printed[: printed.index(")], created")]).notes)


LANGCHAIN = (
    "content='Sunny.' additional_kwargs={'refusal': None} response_metadata={'token_usage': {'completion_tokens': 2}, "
    "'finish_reason': 'stop'} id='run-1' tool_calls=[] usage_metadata={'output_tokens': 2}"
)
ABOVE = "model = make(model='m', max_tokens=15)\nprint(model.invoke('Weather?'))\n\n"


@pytest.mark.parametrize("above", [ABOVE, f"{ABOVE}'''\n", "=====> messages <=====\nfinal_response:\n", "Answer: "])
def test_a_message_printed_below_the_program_that_prints_it_is_read(above):
    assert read_evidence(above + LANGCHAIN).chat.message["content"] == "Sunny."
    cut = LANGCHAIN.replace("'Sunny.'", "''").replace("'stop'", "'length'")
    assert loud(above + cut) == ["PD302"]


def test_ollamas_message_printed_as_fields_has_its_call_in_content():
    printed = "First run:\nrole='assistant' content='[TOOL_CALLS] [{\"name\":\"now\"}]' images=None tool_calls=None"

    assert loud(printed) == ["PD426"]
    assert not loud(printed.replace('[TOOL_CALLS] [{"name":"now"}]', "It is noon."))


def test_arguments_of_a_class_in_a_program_are_no_printed_message():
    program = (
        "message = AIMessage(\ncontent='',\nadditional_kwargs={},\ntool_calls=[{'name': 'f', 'args': {}, 'id': ''}],\n)"
    )

    assert not loud(f"import langchain\n{program}\n")


def test_an_answer_of_plain_completions_that_was_cut_is_told():
    choices = [{"text": " dwarf (dS", "index": 0, "finish_reason": "length", "logprobs": None}]
    printed = f"Answer: {{'id': 'c', 'object': 'text_completion', 'choices': {choices!r}, 'model': 'm'}}"

    assert loud(printed) == ["PD322"]
    assert loud(f"{printed}]}}".replace(" dwarf (dS", "")) == ["PD322"]  # with brackets too many
    assert not loud(printed.replace("length", "stop"))


def test_strings_of_a_program_below_one_another_are_one_text():
    said = '\'Failed to parse input at pos 13: \'\n      \'<tool_use>{"name": "read", "arguments": {}}</tool_use>\',\n'

    evidence = read_evidence(said)

    assert evidence.raw == '<tool_use>{"name": "read", "arguments": {}}</tool_use>'
    assert read_evidence('{"raw": "a"}\n').raw == "a"


def test_a_conversation_in_a_program_is_answered_by_no_one():
    said = "[{'role': 'user', 'content': 'Date?'}, {'role': 'assistant', 'content': '<think>So.</think>Noon.'}]"
    program = (
        f"from swift import get_template\n\ndata = {{'messages': {said}}}\ninputs = get_template('m').encode(data)\n"
    )

    assert not loud(program)
    assert loud(f"This is what I got back:\n\n```json\n{said}\n```\n".replace("'", '"')) == ["PD409"]


def test_a_call_in_the_older_form_that_langchain_printed_is_read():
    call = "{'function_call': {'arguments': '{\"code\": \"SFO\"}', 'name': 'weather'}}"
    end = "response_metadata={'finish_reason': 'function_call'} id='run-1'"
    nodes = f"{{'messages': [AIMessage(content='', additional_kwargs={call})]}}\n"
    result = "{'messages': [FunctionMessage(content='Fog.', name='weather')]}"

    chat = read_evidence(f"# O/P:\n# content='' additional_kwargs={call} {end}").chat

    assert chat.message["tool_calls"][0]["function"]["name"] == "weather"
    assert not loud(f"{nodes}---\n{result}")
    assert loud(f"{nodes.replace(call, '{}')}---\n{result}") == ["PD122"]


def test_blocks_of_anthropics_client_printed_one_a_line_are_one_answer():
    said = "TextBlock(citations=None, text='I look it up.', type='text')\n"
    call = "ToolUseBlock(id='toolu_1', input={'place': 'Oslo'}, name='look_up', type='tool_use')\n"

    chat = read_evidence(f"{said}{call}").chat

    assert chat.message["content"] == "I look it up."
    assert chat.message["tool_calls"][0]["function"]["name"] == "look_up"
    assert not loud(f"{said}{call}")
    assert not loud(f"ToolsBetaMessage(id='msg_1', content=[{call.strip()}], role='assistant', stop_reason='tool_use')")


@pytest.mark.parametrize(
    ("said", "helps"),
    [
        ("Please use a valid role: user, model.", "Write `model` for `assistant`"),
        ('Invalid JSON payload received. Unknown name "tools": Cannot find field.', "`v1beta`"),
    ],
)
def test_words_of_gemini_have_their_remedy(said, helps):
    body = {"error": {"code": 400, "message": said, "status": "INVALID_ARGUMENT"}}
    found = asyncio.run(show_evidence(read_evidence(json.dumps(body)))).findings[0]

    assert helps in found.fix
    other = json.dumps(body).replace("tools", "toolz").replace("role: user", "voice: user")
    assert helps not in asyncio.run(show_evidence(read_evidence(other))).findings[0].fix


def test_a_call_of_ollama_that_was_copied_alone_has_its_arguments_as_an_object():
    call = {"function": {"name": "weather", "arguments": {"city": "Oslo"}}}

    assert not loud(json.dumps([call]))
    assert not loud(json.dumps({"role": "assistant", "content": "", "tool_calls": [call]}))
    assert not loud(
        '  "content": "",\n' + json.dumps({"tool_calls": [call]})[1:] + ',\n  "done": true,\n  "eval_count": 33\n}'
    )
    assert loud(json.dumps([{"id": "c", "type": "function", **call}])) == ["PD506"]
