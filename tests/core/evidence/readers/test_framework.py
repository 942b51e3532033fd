"""Messages and answers as agent frameworks hold, dump and print them: what was sent, and what was answered."""

from __future__ import annotations

import asyncio
import base64
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence

CALL = "{'name': 'seat', 'args': {'row': 12}, 'id': 'c1', 'type': 'tool_call'}"
LANGCHAIN = f"""{{'messages': [HumanMessage(content='Book a seat.', additional_kwargs={{}}, id='h'),
 AIMessage(content='', additional_kwargs={{}}, response_metadata={{}}, tool_calls=[{CALL}]),
 ToolMessage(content='done', tool_call_id='c1', name='seat'), AIMessage(content='Booked.', response_metadata={{}})]}}"""
DUMP = json.dumps(
    [
        {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "HumanMessage"],
         "kwargs": {"content": "Book a seat."}},
        {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "AIMessage"],
         "kwargs": {"content": "", "tool_calls": [{"name": "seat", "args": {"row": 12}, "id": "c1"}]}},
        {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "ToolMessage"],
         "kwargs": {"content": "done", "tool_call_id": "c1"}},
        {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "AIMessage"],
         "kwargs": {"content": "Booked."}},
    ]
)  # fmt: skip
TYPED = json.dumps(
    [
        {"type": "human", "content": "Book a seat."},
        {"type": "ai", "content": "", "tool_calls": [{"name": "seat", "args": {"row": 12}, "id": "c1"}]},
        {"type": "tool", "content": "done", "tool_call_id": "c1"},
        {"type": "ai", "content": "Booked."},
    ]
)
VERCEL = json.dumps(
    [
        {"role": "user", "content": [{"type": "text", "text": "Book a seat."}]},
        {"role": "assistant", "content": [
            {"type": "tool-call", "toolCallId": "c1", "toolName": "seat", "input": {"row": 12}}]},
        {"role": "tool", "content": [
            {"type": "tool-result", "toolCallId": "c1", "output": {"type": "text", "value": "done"}}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Booked."}]},
    ]
)  # fmt: skip
PAGE = json.dumps(
    [
        {"id": "1", "role": "user", "parts": [{"type": "text", "text": "Book a seat."}]},
        {"id": "2", "role": "assistant", "parts": [
            {"type": "tool-seat", "toolCallId": "c1", "input": {"row": 12}, "output": "done"}]},
        {"id": "3", "role": "assistant", "parts": [{"type": "text", "text": "Booked."}]},
    ]
)  # fmt: skip
BEDROCK = json.dumps(
    {
        "messages": [
            {"role": "user", "content": [{"text": "Book a seat."}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "seat", "input": {"row": 12}}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "done"}]}}]},
            {"role": "assistant", "content": [{"text": "Booked."}]},
        ],
        "toolConfig": {"tools": [{"toolSpec": {"name": "seat", "inputSchema": {"json": {"type": "object"}}}}]},
    }
)
GOOSE = "\n".join(
    json.dumps(one)
    for one in (
        {"role": "user", "content": [{"type": "text", "text": "Book a seat."}]},
        {"role": "assistant", "content": [
            {"type": "toolRequest", "id": "c1", "toolCall": {"value": {"name": "seat", "arguments": {"row": 12}}}}]},
        {"role": "user", "content": [
            {"type": "toolResponse", "id": "c1", "toolResult": {"value": [{"type": "text", "text": "done"}]}}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Booked."}]},
    )
)  # fmt: skip
KERNEL = json.dumps(
    [
        {"Role": {"Label": "user"}, "Items": [{"$type": "TextContent", "Text": "Book a seat."}]},
        {"Role": {"Label": "assistant"}, "Items": [
            {"$type": "FunctionCallContent", "Id": "c1", "FunctionName": "seat", "Arguments": {"row": 12}}]},
        {"Role": {"Label": "tool"}, "Items": [
            {"$type": "FunctionResultContent", "CallId": "c1", "Result": "done"}]},
        {"Role": {"Label": "assistant"}, "Items": [{"$type": "TextContent", "Text": "Booked."}]},
    ]
)  # fmt: skip
EXTENSIONS = json.dumps(
    [
        {"role": "user", "contents": [{"$type": "text", "text": "Book a seat."}]},
        {"role": "assistant", "contents": [
            {"$type": "functionCall", "callId": "c1", "name": "seat", "arguments": {"row": 12}}]},
        {"role": "tool", "contents": [{"$type": "functionResult", "callId": "c1", "result": "done"}]},
        {"role": "assistant", "contents": [{"$type": "text", "text": "Booked."}]},
    ]
)  # fmt: skip
LLAMA_INDEX = """[ChatMessage(role=<MessageRole.USER: 'user'>, blocks=[TextBlock(text='Book a seat.')]),
 ChatMessage(role=<MessageRole.ASSISTANT: 'assistant'>, additional_kwargs={}, blocks=[ToolCallBlock(tool_call_id='c1', \
tool_name='seat', tool_kwargs={'row': 12})]),
 ChatMessage(role=<MessageRole.TOOL: 'tool'>, additional_kwargs={'tool_call_id': 'c1'}, \
blocks=[TextBlock(text='done')]),
 ChatMessage(role=<MessageRole.ASSISTANT: 'assistant'>, additional_kwargs={}, blocks=[TextBlock(text='Booked.')])]"""
AUTOGEN = """[UserMessage(content='Book a seat.', source='user'),
 AssistantMessage(content=[FunctionCall(id='c1', arguments='{"row": 12}', name='seat')], source='helper'),
 FunctionExecutionResultMessage(content=[FunctionExecutionResult(content='done', call_id='c1')]),
 AssistantMessage(content='Booked.', source='helper')]"""
EVENTS = """source='user' models_usage=None metadata={} content='Book a seat.' type='TextMessage'
source='helper' models_usage=None metadata={} content=[FunctionCall(id='c1', arguments='{"row": 12}', name='seat')] \
type='ToolCallRequestEvent'
source='helper' models_usage=None metadata={} content=[FunctionExecutionResult(content='done', call_id='c1')] \
type='ToolCallExecutionEvent'
source='helper' models_usage=None metadata={} content='Booked.' type='TextMessage'"""
RULED = """================================ Human Message =================================

Book a seat.
================================== Ai Message ==================================
Tool Calls:
  seat (c1)
 Call ID: c1
  Args:
    row: 12
================================= Tool Message =================================
Name: seat

done
================================== Ai Message ==================================

Booked.
"""
ALL = {
    "LangChain": LANGCHAIN, "LangChain dumped": DUMP, "LangGraph": TYPED, "Vercel": VERCEL, "a page": PAGE,
    "Bedrock": BEDROCK, "Goose": GOOSE, "Semantic Kernel": KERNEL,
    "Microsoft.Extensions.AI": EXTENSIONS, "LlamaIndex": LLAMA_INDEX, "AutoGen": AUTOGEN,
    "AutoGen's events": EVENTS, "pretty_print": RULED,
}  # fmt: skip


@pytest.mark.parametrize("text", ALL.values(), ids=ALL)
def test_a_conversation_is_its_request_and_its_last_answer(text):
    evidence = read_evidence(text)

    assert evidence.request is not None
    assert evidence.chat is not None
    asked, called, back = evidence.request.body["messages"]
    call = called["tool_calls"][0]
    assert (asked["role"], asked["content"]) == ("user", "Book a seat.")
    assert (call["id"], call["function"]["name"]) == ("c1", "seat")
    assert str(json.loads(call["function"]["arguments"])["row"]) == "12"
    assert (back["role"], back["tool_call_id"], back["content"]) == ("tool", "c1", "done")
    assert evidence.chat.message["content"] == "Booked."


@pytest.mark.parametrize("text", ALL.values(), ids=ALL)
def test_nothing_is_wrong_with_a_sound_conversation(text):
    assert not asyncio.run(show_evidence(read_evidence(text))).findings


def test_tools_of_converse_are_the_requests_tools():
    evidence = read_evidence(BEDROCK)

    assert [tool["function"]["name"] for tool in evidence.request.body["tools"]] == ["seat"]


def codes_of(text):
    return {finding.code for finding in asyncio.run(show_evidence(read_evidence(text))).findings}


TWO = '{"row": 12}{"row": 13}'
HERMES = '<tool_call>{"name": "seat", "arguments": {}}</tool_call>'
CUT = "arguments='{\"row\": 1', call_id='c', name='seat', type='function_call'"
INVALID = '{"name": "seat", "args": "{\\"row\\": 1", "id": "c", "type": "invalid_tool_call"}'
LOADED = "response_metadata={'model': 'q', 'done': True, 'done_reason': 'load'}"
ANSWERS = [
    (
        f"CreateResult(finish_reason='function_calls', content=[FunctionCall(id='c', arguments='{TWO}', name='seat')])",
        "PD451",
    ),
    (f"{{ text: '{HERMES}', toolCalls: [], finishReason: 'stop' }}", "PD426"),
    (
        "ChatResponse [generations=[Generation[assistantMessage=AssistantMessage [messageType=ASSISTANT, "
        "toolCalls=[ToolCall[id=c, type=function, name=seat, arguments=]], textContent=, metadata={}]]]]",
        "PD416",
    ),
    (f'AIMessage {{\n "content": "",\n "tool_calls": [],\n "invalid_tool_calls": [{INVALID}]\n}}', "PD320"),
    (f"ModelResponse(output=[ResponseFunctionToolCall({CUT})], usage=Usage(requests=1))", "PD320"),
    (
        '{"type":"tool-input-start","id":"c","toolName":"seat"}\n'
        '{"type":"tool-input-delta","id":"c","delta":"{\\"row\\":"}\n{"type":"finish-step","finishReason":"length"}',
        "PD320",
    ),
    (
        "[{'role': 'user', 'content': 'Hi'}, {'type': 'function_call', 'call_id': 'c', 'name': 'seat', "
        "'arguments': '{}'}, {'role': 'user', 'content': 'Well?'}]",
        "PD129",
    ),
    (f"{{'messages': [AIMessage(content='', {LOADED})]}}", "PD323"),
]


@pytest.mark.parametrize(("text", "code"), ANSWERS)
def test_what_is_wrong_with_an_answer_is_found_in_each_framework(text, code):
    assert code in codes_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "The class HumanMessage(BaseMessage) is described in the docs.",
        '{"role": "assistant", "parts": []}',
        "toolCalls: the list of calls",
        "ToolCall[ is a record",
    ],
)
def test_words_about_such_objects_are_none(text):
    with pytest.raises(RequestError):
        read_evidence(text)


ADDED = (
    "RawResponsesStreamEvent(data=ResponseOutputItemAddedEvent(item=ResponseFunctionToolCall(arguments='', "
    "call_id='c', name='seat', type='function_call'), output_index=0, type='response.output_item.added'))\n"
    "RawResponsesStreamEvent(data=ResponseFunctionCallArgumentsDeltaEvent(delta='{\"row\": 1}', item_id='i', "
    "output_index=0, type='response.function_call_arguments.delta'))"
)


def test_printed_events_of_a_response_are_a_stream_and_not_its_first_item():
    assert "PD416" not in codes_of(ADDED)


def test_parts_of_a_chunk_that_were_printed_beside_it_are_not_read_twice():
    chunk = (
        "ModelResponseStream(id='m', choices=[StreamingChoices(finish_reason={}, index=0, delta=Delta(content={}))])"
    )
    lines = [chunk.format(None, "'Hel'"), "  - Delta: Delta(content='Hel')", chunk.format("'stop'", "'lo'")]

    evidence = read_evidence("\n".join(f"Chunk: {line}" for line in lines))

    assert evidence.chat is not None
    assert evidence.chat.message["content"] == "Hello"


@pytest.mark.parametrize(
    "written", ['{"row": 12}', {"row": 12}, base64.b64encode(b'{"row": 12}').decode()], ids=["text", "object", "bytes"]
)
@pytest.mark.parametrize("small", [False, True])
def test_an_answer_of_openais_package_for_dotnet_is_read(written, small):
    names = {"Content": "content", "ToolCalls": "toolCalls", "FinishReason": "finishReason"} if small else {}
    call = {"Kind": 0, "Id": "c1", "FunctionName": "seat", "FunctionArguments": written}
    answer = {"Content": [], "ToolCalls": [call], "FinishReason": 3, "Role": 2, "Model": "m"}
    chat = read_evidence(json.dumps({names.get(name, name): value for name, value in answer.items()})).chat

    assert chat.finish_reason == "tool_calls"
    assert [(one["id"], one["function"]["name"]) for one in chat.message["tool_calls"]] == [("c1", "seat")]
    assert json.loads(chat.message["tool_calls"][0]["function"]["arguments"]) == {"row": 12}


def test_a_call_in_the_content_of_dotnets_answer_is_found():
    text = '<tool_call>\n{"name": "seat", "arguments": {"row": 12}}\n</tool_call>'
    answer = {"Content": [{"Kind": 0, "Text": text}], "ToolCalls": [], "FinishReason": 0, "Role": 2, "Model": "m"}
    trace = asyncio.run(show_evidence(read_evidence(json.dumps(answer))))

    assert trace.chat.message["content"] == text
    assert [one.title for one in trace.findings] == [
        "A tool call to `seat` is in content instead of the answer's calls."
    ]


def test_arguments_that_broke_off_stay_as_they_are():
    call = {"Id": "c1", "FunctionName": "seat", "FunctionArguments": '{"row": 1'}
    chat = read_evidence(json.dumps({"Content": [], "ToolCalls": [call], "FinishReason": 1})).chat

    assert chat.finish_reason == "length"
    assert chat.message["tool_calls"][0]["function"]["arguments"] == '{"row": 1'


def test_thoughts_of_dotnets_extensions_are_reasoning():
    contents = [{"$type": "reasoning", "text": "Row 12."}, {"$type": "functionCall", "callId": "a", "name": "seat"}]
    chat = read_evidence(json.dumps([{"role": "assistant", "contents": contents}])).chat

    assert chat.message["reasoning_content"] == "Row 12."
    assert chat.message["tool_calls"][0]["function"] == {"name": "seat", "arguments": "{}"}


@pytest.mark.parametrize(
    "value",
    [
        {"Content": [], "ToolCalls": [], "Model": "m"},
        {"ToolCalls": [{"Id": "a"}]},
        {"ToolCalls": "x", "FinishReason": 3},
    ],
)
def test_what_only_has_names_like_dotnets_is_no_answer(value):
    with pytest.raises(RequestError):
        read_evidence(json.dumps(value))
