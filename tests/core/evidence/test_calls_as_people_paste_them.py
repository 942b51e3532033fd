"""Tool calls in the forms in which people paste them: logs of clients, loops that print pieces, calls in other code."""

from __future__ import annotations

import contextlib
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Part, read_evidence
from prompt_debugger.core.evidence.copying.wrapped import unwrap
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import shown

RPC = '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "find", "arguments": {"q": "rain"}}}'
TOOLS = [{"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {}}}}]


def answer(content: str, model: str = "m") -> str:
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps({"object": "chat.completion", "model": model, "choices": [choice]})


def asked(content: str, **body: object) -> str:
    request = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": TOOLS, **body}
    return json.dumps({"request": request, "response": json.loads(answer(content))})


def said(text: str) -> dict[str, str]:
    return {one.title: str(one.severity) for one in shown(text).findings if one.code == "PD426"}


RPC_TITLE = "A tool call to `find` is in content as a JSON-RPC request of MCP that no server parses."


@pytest.mark.parametrize("content", [RPC, f"```json\n{RPC}\n```", f"\n{RPC}\n"])
def test_a_content_that_is_a_request_to_an_mcp_server_is_a_call(content):
    assert said(answer(content)) == {RPC_TITLE: "warning"}


def test_such_a_request_below_words_may_be_an_example():
    assert said(answer(f"I will look.\n```json\n{RPC}\n```")) == {RPC_TITLE: "note"}
    assert said(asked(f"I will look.\n```json\n{RPC}\n```")) == {RPC_TITLE: "warning"}


@pytest.mark.parametrize(
    "text",
    [
        answer(f"A client sends this:\n```json\n{RPC}\n```\nThe server runs the tool."),
        answer(RPC.replace("tools/call", "resources/read")),
        asked(RPC.replace('"find"', '"other"')),
        asked(RPC, response_format={"type": "json_object"}),
    ],
)
def test_an_example_of_the_protocol_is_no_call(text):
    assert said(text) == {}


def test_a_report_that_a_model_writes_json_rpc_is_read():
    assert RPC_TITLE in said(f"The model answers with this instead of a tool call:\n\n```json\n{RPC}\n```\n")


@pytest.mark.parametrize(
    "text",
    [
        RPC,
        f"--> {RPC}",
        f'--> {RPC}\n<-- {{"jsonrpc":"2.0","id":1,"result":{{}}}}',
        f"The client sends:\n\n```\n{RPC}\n```",
    ],
)
def test_the_traffic_of_mcp_is_no_answer(text):
    with pytest.raises(RequestError):
        read_evidence(text)


JAVA = """17:53:24.340 [main] DEBUG dev.langchain4j.http.client.log.LoggingHttpClient -- HTTP request:
- method: POST
- url: http://localhost:11434/api/chat
- headers: [Content-Type: application/json]
- body: {
  "model" : "m",
  "messages" : [ { "role" : "user", "content" : "hi" } ],
  "tools" : [ { "type" : "function", "function" : { "name" : "find", "parameters" : { "type" : "object" } } } ],
  "stream" : false
}

17:53:30.513 [main] DEBUG dev.langchain4j.http.client.log.LoggingHttpClient -- HTTP response:
- status code: 200
- headers: [content-type: application/json; charset=utf-8]
- body: {"model":"m","message":{"role":"assistant","content":CONTENT},"done_reason":"stop","done":true}
"""
JAVA_RPC = f"""10:00:00 DEBUG dev.langchain4j.mcp.client.McpRequestLoggingInterceptor -- Request:
- method: POST
- url: http://localhost:8080/mcp
- headers: [Content-Type: application/json]
- body: {RPC}
"""


def test_a_log_of_langchain4j_holds_request_and_answer():
    evidence = read_evidence(JAVA.replace("CONTENT", '"Hello."'))

    assert evidence.request is not None
    assert evidence.request.body["model"] == "m"
    assert {Part.REQUEST, Part.MESSAGE} <= {*evidence.holds}


def test_a_call_that_a_log_of_langchain4j_shows_in_content_is_found():
    content = json.dumps('{"name": "find", "arguments": {}}')

    assert "Content is nothing but a call to `find`." in said(JAVA_RPC + JAVA.replace("CONTENT", content))


def test_requests_of_mcp_in_such_a_log_are_none_of_a_chat():
    with pytest.raises(RequestError):
        read_evidence(JAVA_RPC)


def test_fields_of_a_log_that_are_chunks_are_a_stream():
    deltas = [
        {"role": "assistant"},
        {"content": '<tool_call>{"name": "f", '},
        {"content": '"arguments": {}}</tool_call>'},
    ]
    chunks = [{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    lines = [f"11:0{at} DEBUG Sending chunk={json.dumps(json.dumps(one))}" for at, one in enumerate(chunks)]
    evidence = read_evidence("\n".join(lines))

    assert evidence.chat is not None
    assert evidence.chat.message["content"] == '<tool_call>{"name": "f", "arguments": {}}</tool_call>'


PRINTED = (
    "index=0 id=call_a function=find args=",
    'index=0 id=None function=None args={"q": "ra',
    'index=0 id=None function=None args=in"}',
)


def test_pieces_that_a_loop_prints_make_a_call():
    evidence = read_evidence("\n".join(PRINTED))

    assert evidence.chat is not None
    (call,) = evidence.chat.message["tool_calls"]
    assert call["function"] == {"name": "find", "arguments": '{"q": "rain"}'}


def test_two_printed_calls_on_one_index_collide():
    second = [line.replace("call_a", "call_b") for line in PRINTED]

    assert "PD417" in {one.code for one in shown("\n".join([*PRINTED, *second])).findings}


@pytest.mark.parametrize(
    "line",
    [
        "[0] index: 0 | id: '{}' | name: {} | arguments: '{}'",
        "delta index=0, id={}, type=function, name={}, arguments={}",
    ],
)
def test_pieces_may_be_printed_with_other_signs(line):
    printed = [line.format("c", "find", ""), line.format("None", "None", '{"q": 1}')]
    evidence = read_evidence("\n".join(printed))

    assert evidence.chat is not None
    assert evidence.chat.message["tool_calls"][0]["function"]["arguments"] == '{"q": 1}'


@pytest.mark.parametrize(
    "text",
    [
        "index=0 id=a function=find args={}",
        "index=0 id=None function=None args=1\nindex=0 id=None function=None args=2",
        "index=0 id=a function=find args={}\nindex=1 id=b function=find args={}",
    ],
)
def test_lines_that_are_no_pieces_are_no_stream(text):
    with contextlib.suppress(RequestError):
        assert Part.STREAM not in read_evidence(text).holds


def test_a_call_that_a_page_wrapped_is_whole():
    call = '{"name": "write", "arguments": {"path": "a.md", "content": "# Title\\n\n  more\\n\nand more"}}'

    assert unwrap(call) == call.replace("\n", " ")
    assert "Content is nothing but a call to `write`." in said(
        f"The model prints this in the chat instead of calling the tool:\n\n```json\n{call}\n```\n"
    )


def test_a_break_that_a_model_wrote_itself_stays():
    call = '{"name": "write", "arguments": {"path": "a.md", "content": "# Title\n  more\nand more"}}'

    assert unwrap(call) is None
    assert "a line break is not allowed there" in shown(call).verdict.sentence


@pytest.mark.parametrize(
    "content",
    [
        "tool_codeprint(default_api.find())",
        "```tool_code\nprint(default_api.find(q='rain'))\n```",
        "I look.\n```tool_code\nprint(default_api.find(q='rain'))\n```",
        "tool_code\nprint(default_api.find(q='rain'))\n",
    ],
)
def test_python_of_gemini_is_a_call(content):
    assert said(answer(content, "gemini-2.0-flash")) == {
        "A tool call to `find` is in content as Python text.": "warning"
    }


def test_python_of_gemma_keeps_its_own_advice():
    (found,) = shown(answer("```tool_code\nprint(default_api.find(q='rain'))\n```", "gemma-3-27b-it")).findings

    assert "Gemma 3" in found.fix


@pytest.mark.parametrize(
    "content", ["Use `default_api.find(q='rain')` in Python.", "The block `tool_code` runs print(x).", "tool_code: 3"]
)
def test_words_about_python_are_no_call(content):
    assert said(answer(content, "gemini-2.0-flash")) == {}


def test_a_sentence_that_quotes_python_of_gemini_is_read():
    text = "The agent sometimes returns ```tool_codeprint(default_api.find())``` as its text, and nothing runs."

    assert "A tool call to `find` is in content as Python text." in said(text)


REACT = "Thought: look\nAction: find\nAction Input: "
OPEN = "The input of the call to `find` in content, in lines of `Action`, is not closed."


def test_an_input_of_react_without_an_end_is_said():
    assert said(answer(f'{REACT}{{"q": "weather in Par')) == {OPEN: "warning"}


@pytest.mark.parametrize("given", ['{"q": "rain"}', "rain in {Paris", "", '{"q": 1}\nObservation: {"a":'])
def test_an_input_with_an_end_is_not_called_open(given):
    assert OPEN not in said(answer(f"{REACT}{given}"))


@pytest.mark.parametrize("field", ["content", "reasoning_content"])
def test_a_print_that_ends_in_a_text_says_in_which(field):
    text = f"ChatCompletion(id='c', choices=[Choice(index=0, message=ChatCompletionMessage({field}='It is"

    with pytest.raises(RequestError, match=f"ends inside `{field}`"):
        read_evidence(text)


SPRING = """2026-01-30 DEBUG o.s.a.c.c.advisor.SimpleLoggerAdvisor : response: {
  "result" : {
    "output" : {
      "messageType" : "ASSISTANT",
      "toolCalls" : [CALLS],
      "text" : TEXT
    },
    "metadata" : { "finishReason" : "stop" }
  }
}
"""
ENCODED = json.dumps('<tool_call>\n{"name": "find", "arguments": {}}\n</tool_call>')
OF_JAVA = "java.lang.NullPointerException: Cannot invoke"
JAVA_CALL = '{ id = ID, name = "find", arguments = "{"q": "rain"}" }'


@pytest.mark.parametrize(
    "text",
    [
        SPRING.replace("CALLS", "").replace("TEXT", ENCODED),
        f"AssistantMessage [messageType=ASSISTANT, toolCalls=[], textContent={json.loads(ENCODED)}, metadata={{a=b}}]",
        f'AiMessage {{ text = "{json.loads(ENCODED)}" toolExecutionRequests = null }}',
        f'AiMessage {{ text = "{json.loads(ENCODED)}", thinking = null, toolExecutionRequests = [], a = {{}} }}',
    ],
)
def test_what_java_prints_of_a_message_is_its_content(text):
    assert "A tool call to `find` is in content instead of the answer's calls." in said(text)


@pytest.mark.parametrize(
    "text",
    [
        SPRING.replace("CALLS", '{"id": "", "type": "function", "name": "find", "arguments": "{}"}').replace(
            "TEXT", "null"
        ),
        f"AiMessage {{ text = null toolExecutionRequests = [ToolExecutionRequest {JAVA_CALL.replace('ID', 'null')}] }}",
    ],
)
def test_a_call_that_java_prints_is_healthy(text):
    trace = shown(text)

    assert trace.chat is not None
    assert trace.chat.message["tool_calls"][0]["function"]["name"] == "find"
    assert not trace.findings


def test_a_print_of_java_that_ends_within_a_call_is_not_read():
    with pytest.raises(RequestError):
        read_evidence('AiMessage { text = null toolExecutionRequests = [ToolExecutionRequest { id = null, name = "fi')


def test_the_exception_below_a_message_of_java_is_read_with_it():
    message = (
        f"AiMessage {{ text = null toolExecutionRequests = [ToolExecutionRequest {JAVA_CALL.replace('ID', 'null')}] }}"
    )
    raised = f'{OF_JAVA} "a.b.ToolExecutor.execute(C, Object)" because "toolExecutor" is null'

    assert {Part.MESSAGE, Part.ERROR} <= {*read_evidence(f"{message}\n\n{raised}").holds}


def test_json_within_the_brackets_of_a_tag_is_a_call():
    assert "A tool call to `find` is in content as XML that no server parses." in said(
        answer('<functioncall {"name": "find", "arguments": {"q": "rain"}}>')
    )


@pytest.mark.parametrize("content", ["<functioncall> is a tag.", '<tool_call type="a">', '<function_call {"a": 1}>'])
def test_a_tag_without_the_json_of_a_call_is_none(content):
    assert not [title for title in said(answer(content)) if "as XML" in title]


def test_the_model_that_a_print_of_pydantic_ai_names_is_known():
    call = '{"name": "add", "parameters": {"a": 5}}'
    text = (
        "[ModelRequest(parts=[UserPromptPart(content='Hi')]),"
        f" ModelResponse(parts=[TextPart(content='{call}')], model_name='llama3.1:8b')]"
    )
    (found,) = [one for one in shown(text).findings if one.code == "PD426"]

    assert found.fix.startswith("Start the server with the parser of the family of `llama3.1:8b`")


GO = 'openai.ChatCompletionMessage{Role:"assistant", Content:CONTENT, Name:"", ToolCalls:CALLS, ToolCallID:""}'
GO_CALL = 'openai.ToolCall{Index:(*int)(nil), ID:"c", Type:"function", Function:openai.FunctionCall{Name:"find", ARGS}}'
PLAIN = (
    "{Role:assistant Content: Name: ToolCalls:[{Index:<nil> ID:c Type:function Function:{Name:find Arguments:ARGS}}]}"
)
RUBY = '#<RubyLLM::Message:0x00000001\n @content=CONTENT,\n @model_id="m",\n @role=:assistant,\n @tool_calls=CALLS>'


@pytest.mark.parametrize(
    "text",
    [
        GO.replace("CONTENT", ENCODED).replace("CALLS", "[]openai.ToolCall(nil)"),
        RUBY.replace("CONTENT", ENCODED).replace("CALLS", "nil"),
    ],
)
def test_a_text_in_a_struct_is_the_content(text):
    assert "A tool call to `find` is in content instead of the answer's calls." in said(text)


def go_call(arguments: str) -> str:
    call = GO_CALL.replace("ARGS", f"Arguments:{json.dumps(arguments)}")
    return GO.replace("CONTENT", '""').replace("CALLS", f"[]openai.ToolCall{{{call}}}")


@pytest.mark.parametrize("text", [go_call('{"q": 1}'), PLAIN.replace("ARGS", '{"q": 1}')])
def test_a_call_in_a_struct_is_healthy(text):
    trace = shown(text)

    assert trace.chat is not None
    assert trace.chat.message["tool_calls"][0]["function"] == {"name": "find", "arguments": '{"q": 1}'}
    assert not trace.findings


@pytest.mark.parametrize("text", [go_call('{"q": 1}{"q": 1}'), PLAIN.replace("ARGS", '{"q": 1}{"q": 1}')])
def test_arguments_that_a_struct_has_twice_are_said(text):
    assert "PD451" in {one.code for one in shown(text).findings}


def test_arguments_that_break_off_within_a_struct_are_said():
    assert [one.code for one in shown(PLAIN.replace("ARGS", '{"q": "a')).findings] == ["PD320"]


def test_a_call_without_a_name_within_a_struct_is_said():
    text = PLAIN.replace("Name:find", "Name:").replace("ARGS", '{"q": 1}')

    assert [one.code for one in shown(text).findings] == ["PD466"]


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("ARGS", '{"q": "a}} {ID:d Type:function Function:{Name:find Arguments:{}'),
        PLAIN.replace("ARGS", '{"q": ').removesuffix("}}]}"),
        RUBY.replace("CONTENT", ENCODED).replace("CALLS", '{"c" => #<RubyLLM::ToolCall:0x0001>}'),
        GO.replace("CONTENT", '"Hello"').replace("CALLS", "[]openai.ToolCall{"),
    ],
)
def test_a_struct_that_is_cut_or_has_other_calls_says_nothing(text):
    with contextlib.suppress(RequestError):
        assert not shown(text).findings


def test_the_end_of_a_call_below_a_fence_is_no_fault_of_arguments():
    call = '<|tool_calls_begin|><|tool_call_begin|>function<|tool_sep|>find\n```json\n{"q": 1}\n```<|tool_call_end|>'
    with contextlib.suppress(RequestError):
        assert "PD452" not in {one.code for one in shown(f"The content is:\n\n{call}<|tool_calls_end|>").findings}


@pytest.mark.parametrize(
    "piece",
    [
        "index=0 id=",
        '="{\\"',
        "tool_code\n",
        "content='",
        '{"jsonrpc": "2.0", "id": 1, ',
        "AiMessage { text = ",
        "AssistantMessage [messageType=ASSISTANT, toolCalls=[], textContent=",
        "<functioncall {",
        'Role:"assistant", Content:"ToolCalls:',
        "ToolCalls:[{ID:c Type:function Function:{Name:f Arguments:{",
        '#<A::Message @content="@tool_calls=',
        "equest:\n- method: POST\n- url: a\n- headers: ",
        '{"name": "a", "arguments": {"b": "\\n\n',
    ],
)
def test_twice_the_flood_takes_twice_the_time(piece):
    def read(count: int) -> None:
        with contextlib.suppress(RequestError):
            read_evidence(piece * count)

    assert grows_linearly(read, first=500, tries=1, doublings=5)
