"""Forms that people hold in their hands, each read as what it is; and near ones that are something else."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.reports.split import split
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import codes, shown

WRITTEN = '<tool_call>\n{"name": "sow", "arguments": {"bed": 2}}\n</tool_call>'
TOOL = {"type": "function", "function": {"name": "sow", "parameters": {"type": "object", "properties": {}}}}
ASKED = {"model": "m", "messages": [{"role": "user", "content": "Sow bed 2"}], "tools": [TOOL]}


def answered(content=None, calls=(), reason="stop"):
    message = {"role": "assistant", "content": content, "tool_calls": list(calls)}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
    }


def called(name="sow", arguments='{"bed": 2}'):
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}


def har_entry(answer):
    return {
        "startedDateTime": "2026-11-01T00:00:00Z",
        "request": {"method": "POST", "url": "http://h/v1/chat/completions", "postData": {"text": json.dumps(ASKED)}},
        "response": {"status": 200, "content": {"mimeType": "application/json", "text": json.dumps(answer)}},
    }


@pytest.mark.parametrize("is_listed", [False, True])
def test_an_entry_of_a_har_that_was_copied_alone_is_a_har(is_listed):
    entry = har_entry(answered(WRITTEN))

    evidence = read_evidence(json.dumps([entry] if is_listed else entry))

    assert (evidence.form, evidence.rows) == (Form.HAR, 1)
    assert codes(json.dumps(entry)) == ["PD426"]
    assert codes(json.dumps(har_entry(answered(None, [called()], "tool_calls")))) == []


def test_an_object_with_a_request_and_a_time_is_no_entry_of_a_har():
    value = {"startedDateTime": "now", "request": ASKED, "response": answered(WRITTEN)}

    assert read_evidence(json.dumps(value)).form is Form.EXCHANGE


def collection(*answers, folder=False):
    asked = {"method": "POST", "body": {"mode": "raw", "raw": json.dumps(ASKED)}}
    saved = [{"name": "ok", "originalRequest": asked, "code": 200, "body": json.dumps(one)} for one in answers]
    item = {"name": "chat", "request": asked, "response": saved}
    items = [{"name": "ping", "request": {"method": "GET"}, "response": []}, item]
    return json.dumps(
        {
            "info": {"_postman_id": "1", "name": "garden"},
            "item": [{"name": "folder", "item": items}] if folder else items,
        }
    )


@pytest.mark.parametrize("folder", [False, True])
def test_a_collection_of_postman_has_the_responses_that_were_saved(folder):
    text = collection(answered(None, [called()], "tool_calls"), answered(WRITTEN), folder=folder)

    evidence = read_evidence(text)

    assert (evidence.row, evidence.rows) == (1, 2)
    assert evidence.request.body["messages"] == ASKED["messages"]
    assert codes(text) == ["PD426"]  # of the second, as nothing is wrong with the first
    assert codes(collection(answered(None, [called()], "tool_calls"))) == []


def test_a_collection_without_a_saved_response_has_its_request():
    evidence = read_evidence(collection())

    assert (evidence.request is not None, evidence.chat) == (True, None)


def test_a_collection_without_a_chat_request_is_refused():
    text = json.dumps({"info": {"_postman_id": "1"}, "item": [{"request": {"method": "GET"}}]})

    with pytest.raises(RequestError, match="collection contains no request"):
        read_evidence(text)


PRINTED = (
    "ChatCompletion(id='chatcmpl-1', choices=[Choice(finish_reason='stop', index=0, logprobs=None, "
    "message=ChatCompletionMessage(content=%s, refusal=None, role='assistant', tool_calls=None))], created=1, "
    "model='m', object='chat.completion')"
)


@pytest.mark.parametrize(
    "text",
    [
        "In [3]: client.chat.completions.create(model=m, messages=msgs, tools=tools)\nOut[3]: {}",
        "In [12]: client.chat.completions.create(\n    ...:     model=m, messages=msgs)\nOut[12]:\n{}",
        "In [1]: ask()\nOut[1]: {}\n\nIn [2]: \n",
    ],
)
def test_a_session_of_ipython_is_read_as_one_of_python(text):
    printed = text.replace("{}", PRINTED % repr(WRITTEN))

    assert codes(printed) == ["PD426"]
    assert codes(text.replace("{}", PRINTED % "'Done.'")) == []


def span(content, *, tools=None):
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Sow"}]}]),
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": content}], "finish_reason": "stop"}]
        ),
    }
    if tools is not None:
        attributes["llm.tools.0.tool.json_schema"] = json.dumps(tools)
    return json.dumps({"name": "chat m", "attributes": attributes})


def test_a_span_that_records_no_tools_does_not_say_that_none_were_offered():
    assert codes(span(WRITTEN)) == ["PD426"]
    assert codes(span("It is sown.")) == []


def test_a_span_of_openinference_has_its_tools():
    evidence = read_evidence(span("It is sown.", tools=TOOL))

    assert evidence.request.body["tools"] == [TOOL]


def test_a_transcript_of_curl_in_an_indented_block_ends_where_its_answer_ends():
    lines = [
        f"$ curl -v http://h:8000/v1/chat/completions -d '{json.dumps(ASKED)}'",
        "> POST /v1/chat/completions HTTP/1.1",
        ">",
        "< HTTP/1.1 200 OK",
        "< content-type: application/json",
        "<",
        "* Connection #0 to host h left intact",
        json.dumps(answered(WRITTEN)),
    ]
    indented = "\n".join(f"    {line}" for line in lines)

    evidence = read_evidence(f"What I see:\n\n{indented}\n\nThe list of calls is empty.\n")

    assert evidence.raw is None
    assert evidence.chat.message["content"] == WRITTEN


def test_lines_of_a_log_before_the_first_answer_are_skipped():
    lines = [{"event": "start", "level": "info"}, {"event": "answer", "response": answered(WRITTEN)}]

    evidence = read_evidence("\n".join(map(json.dumps, [*lines, {"event": "end", "level": "info"}])))

    assert (evidence.row, evidence.rows) == (2, 3)
    assert evidence.chat.message["content"] == WRITTEN


def test_lines_of_a_log_without_any_answer_are_refused():
    with pytest.raises(RequestError):
        read_evidence("\n".join(json.dumps({"event": name, "level": "info"}) for name in "abc"))


@pytest.mark.parametrize("name", ["raw_output", "rawText", "model_output"])
def test_an_object_that_keeps_the_raw_output_beside_its_message_has_both(name):
    message = {"role": "assistant", "content": None, "tool_calls": [called()]}
    two = f"{WRITTEN}\n{WRITTEN.replace('sow', 'reap')}"

    assert "PD401" in codes(json.dumps({"event": "answer", name: two, "message": message}))
    assert codes(json.dumps({"event": "answer", name: WRITTEN, "message": message})) == []
    assert read_evidence(json.dumps({"event": "answer", name: "Done.", "message": message})).raw is None


@pytest.mark.parametrize(
    "head",
    [
        "2026-11-01 10:00:00.123 | DEBUG    | farm:ask:12 - completion: ",
        "[2026-11-01 10:00:00] INFO farm.agent answer=",
        "DEBUG:farm:answer = ",
    ],
)
def test_a_dict_behind_the_words_of_a_log_line_is_a_printed_answer(head):
    before = f"{head.partition('complet')[0]}asking the model\n"

    assert codes(f"{before}{head}{answered(WRITTEN)!r} retries=0\n") == ["PD426"]
    assert codes(f"{before}{head}{answered(None, [called()], 'tool_calls')!r}\n") == []


def test_a_dict_of_another_kind_in_a_log_line_is_no_answer():
    with pytest.raises(RequestError):
        read_evidence("[2026-11-01 10:00:00] INFO farm.agent config={'id': 4, 'name': 'x'}\n" * 3)


def test_an_answer_that_is_printed_below_the_logged_request_belongs_to_it():
    asked = f"DEBUG:openai._base_client:Request options: {{'method': 'post', 'json_data': {ASKED!r}}}"
    line = "DEBUG:openai._base_client:request_id: None"

    evidence = read_evidence(f"{asked}\n{line}\n{PRINTED % repr(WRITTEN)}\n")

    assert evidence.request.body["tools"] == [TOOL]
    assert evidence.chat.message["content"] == WRITTEN
    assert read_evidence(f"{asked}\n{line}\n").chat is None


COMPOSE = """services:
  llm:
    image: lmsysorg/sglang:latest
    command: >
      python3 -m sglang.launch_server
      --model-path org/m
      --port 30000
"""


def test_an_answer_below_a_file_in_yaml_is_read_with_its_command():
    evidence = read_evidence(f"{COMPOSE}\nResponse:\n\n{json.dumps(answered(WRITTEN))}\n")

    assert evidence.server.kind == "sglang"
    assert evidence.chat.message["content"] == WRITTEN
    assert read_evidence(COMPOSE).form is Form.COMMAND


def test_what_a_console_shortened_is_left_out_beside_what_it_shows_whole():
    short = "{\n  id: 'chatcmpl-1',\n  object: 'chat.completion',\n  choices: [ { index: 0, message: [Object] } ]\n}\n"
    whole = (
        "{\n  role: 'assistant',\n  content: '<tool_call>\\n' +\n    '{\"name\": \"sow\", \"arguments\": {}}\\n' +\n"
    )
    whole += "    '</tool_call>',\n  tool_calls: []\n}\n"

    assert codes(short + whole) == ["PD426"]
    with pytest.raises(RequestError):
        read_evidence(short)


def logged(output):
    head = "INFO 11-01 10:00:00 [request_logger.py:108] Generated response chatcmpl-1: output: "
    return f"{head}{output!r}, finish_reason: stop"


def test_a_logged_output_beside_the_printed_answer_is_the_raw_output():
    printed = (PRINTED % "None").replace("tool_calls=None", "tool_calls=[%s]")
    function = "Function(arguments='{\"bed\": 2}', name='sow')"
    call = f"ChatCompletionMessageToolCall(id='c1', function={function}, type='function')"
    two = f"{WRITTEN}\n{WRITTEN.replace('sow', 'reap')}"
    text = f"The client:\n\n```\n{printed % call}\n```\n\nThe log:\n\n```\n{logged(two)}\n```\n"

    trace = shown(text)

    assert [one["function"]["name"] for one in trace.chat.message["tool_calls"]] == ["sow"]
    assert [one.title for one in trace.findings if one.code == "PD401"] == [
        "The model wrote 2 tool calls, the server returned 1."
    ]


def test_a_logged_output_alone_is_the_answer_as_well():
    assert read_evidence(logged(WRITTEN)).chat.message["content"] == WRITTEN


def test_an_earlier_exchange_of_a_session_is_shown_where_the_last_one_is_whole():
    def item(**fields):
        return json.dumps({"timestamp": "t", "type": "response_item", "payload": fields})

    def session(arguments):
        said = [{"type": "output_text", "text": "It is done."}]
        call = item(type="function_call", name="shell", arguments=arguments, call_id="c1")
        result = item(type="function_call_output", call_id="c1", output="x")
        return f"{call}\n{result}\n{item(type='message', role='assistant', content=said)}\n"

    assert codes(session('{"command": ["ls", "-')) == ["PD320"]
    assert codes(session('{"command": ["ls"]}')) == []


def test_the_thoughts_of_a_message_that_ollamas_client_prints_are_reasoning():
    text = f"model='m' done=True message=Message(role='assistant', content='', thinking={WRITTEN!r}, tool_calls=None)"

    assert codes(text) == ["PD426"]


def test_backticks_at_the_end_of_a_printed_string_open_no_fence():
    text = (
        '>>> print(answer)\ncandidates=[Candidate(\n  content=Content(\n    parts=[\n      Part(\n        text="""'
        '```tool_code\nprint(default_api.sow(bed=2))\n```"""\n      ),\n    ],\n    role=\'model\'\n  ),\n'
        "  finish_reason=<FinishReason.STOP: 'STOP'>,\n  index=0\n)] model_version='gemini-2.0-flash'\n"
    )

    evidence = read_evidence(text)

    assert evidence.form is Form.OBJECT
    assert evidence.chat.message["content"].endswith("print(default_api.sow(bed=2))\n```")


GO = (
    "10:00:00 asking &{Model:m Messages:[{Role:user Content:Sow}] Tools:["
    '{"type":"function","function":{"name":"sow","description":"","parameters":{"type":"object","properties":{}}}}'
    "] Options:map[]}\n10:00:02 got {Model:m Message:{Role:assistant Content: Thinking: ToolCalls:[{ID: Function:"
    '{Index:0 Name:%s Arguments:{"bed":2}}}] ToolName:} Done:true}\n'
)


def test_what_go_prints_of_ollamas_answer_has_its_call_and_the_tools_above():
    assert codes(GO % "Sow_bed") == ["PD501"]
    assert codes(GO % "sow") == []


def test_a_request_of_sglang_is_one_by_its_id():
    obj = "GenerateReqInput(rid='b1', text='Sow', sampling_params={'max_new_tokens': 8}, stream=False)"
    out = {"text": WRITTEN, "meta_info": {"id": "b1", "finish_reason": {"type": "stop"}}}
    text = f"[2026-11-01 10:00:00] Receive: obj={obj}\n[2026-11-01 10:00:01] Finish: obj={obj}, out={out}\n"

    assert read_evidence(text).rows == 0
    assert read_evidence(f"{text}{text.replace('b1', 'b2')}").rows == 2


STEP = "\u2501" * 20 + " Step {} " + "\u2501" * 20 + "\n"
BOX = "\u256d" + "\u2500" * 40 + "\u256e\n{}\n\u2570" + "\u2500" * 40 + "\u256f\n"


def test_the_steps_of_smolagents_have_their_calls():
    first = BOX.format("\u2502 Calling tool: 'depth' with arguments: {'town':  \u2502\n\u2502 'B'}          \u2502")
    last = BOX.format("\u2502 Calling tool: 'final_answer' with arguments: {'answer': 'Deep.'} \u2502")
    log = f"{STEP.format(1)}{first}Observations: 24 m\n{STEP.format(2)}{last}Final answer: Deep.\n"

    evidence, earlier = read_evidence(log), read_evidence(log, row=2)

    assert evidence.chat.message["tool_calls"][0]["function"] == {
        "name": "final_answer",
        "arguments": '{"answer": "Deep."}',
    }
    assert earlier.chat.message["tool_calls"][0]["function"]["arguments"] == '{"town": "B"}'
    assert codes(log) == []


@pytest.mark.parametrize(
    "piece",
    [
        "[2026-11-01 10:00:00] INFO a: {'id': ",
        "2026-11-01 10:00 x={'role': 'assistant', 'content': 'a'}\n",
        f"{STEP.format(1)}\u2502 Calling tool: 'f' with arguments: {{'a': \u2502\n\u2502 ",
        "Calling tool: 'f' with arguments: " + " " * 50,
        "< HTTP/1.1 200 OK\n<\n* a\n{",
        "In [1]: a\n   ...: b\nOut[1]: ",
        "r = c.create(\nMessage(id=",
        "\nXError: a\n \n",
        'id,output\n1,"{""choices""',
        '{"a": {"output": "{"}}\n',
        ">>> m.content\n'a'\n",
        "> > > a\n",
    ],
)
def test_these_forms_are_looked_for_in_linear_time(piece):
    def read(count):
        for head in ("", "curl h -d x\n"):
            with suppress(RequestError):
                read_evidence(head + piece * count)

    assert grows_linearly(read, first=100)


def test_a_request_and_its_answer_in_two_lines_of_a_log_are_one_exchange():
    lines = [
        {"msg": "start"},
        {"msg": "asked", "request_id": "a1", "body": ASKED},
        {"msg": "answered", "request_id": "a1", "body": answered(None, [called("Sow_bed")], "tool_calls")},
    ]

    def text(lines):
        return "\n".join(map(json.dumps, lines))

    assert codes(text(lines)) == ["PD501"]
    assert codes(text([*lines[:2], {**lines[2], "request_id": "a2"}])) == []  # of another request
    healthy = {**lines[2], "body": answered(None, [called()], "tool_calls")}
    second = [{**line, "request_id": "a2"} for line in lines[1:]]
    assert codes(text([*lines[:2], healthy])) == []
    assert codes(text([*lines[:2], healthy, *second])) == ["PD501"]


CALLS = {
    "langfuse": lambda answer, tools: {
        "observations": [
            {"type": "SPAN", "input": None, "output": None},
            {
                "type": "GENERATION",
                "input": json.dumps({**ASKED, "tools": [TOOL]} if tools else ASKED["messages"]),
                "output": json.dumps(answer["choices"][0]["message"]),
            },
        ]
    },
    "litellm": lambda answer, tools: {
        "call_type": "acompletion",
        "model": "m",
        "messages": ASKED["messages"],
        "model_parameters": {"tools": [TOOL]} if tools else {},
        "response": answer,
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_that_other_tools_recorded_are_a_request_and_its_answer(name):
    def text(answer, *, tools=True):
        return json.dumps(CALLS[name](answer, tools))

    assert codes(text(answered(None, [called("Sow_bed")], "tool_calls"))) == ["PD501"]
    assert codes(text(answered(None, [called()], "tool_calls"))) == []
    assert codes(text(answered(WRITTEN), tools=False)) == ["PD426"]
    assert read_evidence(text(answered(WRITTEN), tools=False)).request is None
    lines = f"{text(answered(None, [called()], 'tool_calls'))}\n{text(answered(WRITTEN))}"
    assert codes(lines) == ["PD426"]


def test_datadogs_spans_have_the_answer():
    def text(**message):
        return json.dumps({"meta": {"span.kind": "llm", "output": {"messages": [{"role": "assistant", **message}]}}})

    assert codes(text(content=WRITTEN)) == ["PD426"]
    evidence = read_evidence(text(content="", tool_calls=[{"name": "sow", "arguments": {"bed": 2}}]))
    assert evidence.chat.message["tool_calls"][0]["function"]["arguments"] == '{"bed": 2}'


def test_bedrocks_log_of_invocations_has_request_and_answer():
    used = {"toolUse": {"toolUseId": "t1", "name": "Sow_bed", "input": {"bed": 2}}}
    tool = {"toolSpec": {"name": "sow", "inputSchema": {"json": {"type": "object", "properties": {}}}}}
    asked = {"messages": [{"role": "user", "content": [{"text": "Sow"}]}], "toolConfig": {"tools": [tool]}}
    answer = {"output": {"message": {"role": "assistant", "content": [used]}}, "stopReason": "tool_use"}
    text = json.dumps(
        {
            "schemaType": "ModelInvocationLog",
            "modelId": "x",
            "input": {"inputBodyJson": asked},
            "output": {"outputBodyJson": answer},
        }
    )

    assert codes(text) == ["PD501"]
    assert codes(text.replace("Sow_bed", "sow")) == []


def test_the_file_of_a_notebook_has_what_its_cells_printed():
    def text(printed):
        output = {"output_type": "execute_result", "data": {"text/plain": [printed]}}
        cell = {"cell_type": "code", "source": ["r = client.chat.completions.create(model=m)\n", "r"]}
        cells = [{"cell_type": "markdown", "source": ["# Garden"]}, {**cell, "outputs": [output]}]
        return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4})

    assert codes(text(PRINTED % repr(WRITTEN))) == ["PD426"]
    assert codes(text(PRINTED % "'Done.'")) == []


def test_a_message_of_haystack_has_its_calls():
    printed = (
        "{'replies': [ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[TextContent(text=''), ToolCall("
        "tool_name='sow', arguments={'bed': 2}, id='c1', extra=None)], _name=None, _meta={'model': 'm'})]}"
    )
    dumped = {"role": "assistant", "meta": {}, "name": None, "content": [{"text": WRITTEN}, {"tool_call": {}}]}

    assert read_evidence(printed).chat.message["tool_calls"][0]["function"]["name"] == "sow"
    assert codes(printed) == []
    assert read_evidence(json.dumps([{"role": "user", "content": "Sow"}, dumped])).chat.message["content"] == WRITTEN


def test_an_event_of_googles_agent_kit_has_the_answer():
    def text(part, role="model"):
        return f"content=Content(\n  parts=[\n    {part}\n  ],\n  role='{role}'\n) partial=None author='a' id='x'\n"

    call = read_evidence(text("Part(function_call=FunctionCall(args={'bed': 2}, id='adk-1', name='sow'))"))

    assert call.chat.message["tool_calls"][0]["function"]["name"] == "sow"
    assert codes(text(f"Part(text={WRITTEN!r})")) == ["PD426"]
    with pytest.raises(RequestError):
        read_evidence(text("Part(text='Sow')", "user"))


def test_a_last_message_with_a_call_in_the_older_form_is_an_answer():
    def text(arguments):
        call = {"name": "sow", "arguments": arguments}
        asked = {"role": "user", "content": "Sow"}
        return f"{[asked, {'role': 'assistant', 'content': '', 'function_call': call, 'extra': {}}]!r}"

    assert codes(text('{"bed": 2, "row": "')) == ["PD320"]
    assert codes(text('{"bed": 2}')) == []


SCRIPT = 'r = client.chat.completions.create(model="m", messages=messages, tools=tools)\nprint(r)\n'


def test_what_a_script_printed_below_itself_is_read():
    assert codes(f"{SCRIPT}\nOutput:\n\n{PRINTED % repr(WRITTEN)}\n") == ["PD426"]
    assert codes(f"{SCRIPT}\n{PRINTED % repr('Done.')}\n") == []


def test_an_object_that_a_script_builds_is_not_what_it_printed():
    built = f"answers = [\n{PRINTED % repr(WRITTEN)},\n]\n"

    assert "PD426" not in " ".join(_codes_or_none(f"{SCRIPT}{built}"))


def _codes_or_none(text):
    with suppress(RequestError):
        return codes(text)
    return []


def test_an_unknown_error_below_a_printed_answer_is_named():
    raised = "Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'x'\n"
    text = f"{SCRIPT}{PRINTED % repr('Done.')}\n{raised}"

    assert "The error that a program reports below the answer was not examined: KeyError: 'x'." in shown(text).notes


def test_an_empty_list_of_powershell_is_no_call():
    text = "role       : assistant\ncontent    : Done.\ntool_calls : {}\n"

    assert codes(text) == []


def test_a_block_whose_input_a_console_shortened_is_left_out():
    def text(shown):
        block = f"{{ type: 'tool_use', id: 't1', name: 'sow', input: {shown} }}"
        head = "{\n  type: 'message',\n  role: 'assistant',\n  content: [\n    { type: 'text', text: 'I sow.' },\n"
        return f"{head}    {block}\n  ],\n  stop_reason: 'tool_use'\n}}\n"

    assert codes(text("[Object]")) == []
    assert read_evidence(text("{ bed: 2 }")).chat.message["tool_calls"][0]["function"]["name"] == "sow"


def test_a_line_of_sglangs_log_in_json_has_the_raw_output():
    line = {"timestamp": "2026-11-01T00:00:00", "event": "request.finished", "rid": "b1", "obj": {"stream": False}}
    out = {"text": WRITTEN, "meta_info": {"finish_reason": {"type": "stop"}}}

    assert read_evidence(json.dumps({**line, "out": out})).raw == WRITTEN
    with pytest.raises(RequestError):
        read_evidence(json.dumps({**line, "obj": {"stream": True}, "out": out}))


def wraps(answer):
    both = {"request": ASKED, "response": answer}
    return [
        {"insertId": "a", "jsonPayload": {"message": "llm", **both}},
        {"_index": "i", "_source": {"@timestamp": "t", "llm": both}},
        {"text": "x", "record": {"extra": both, "level": {"name": "INFO"}}},
        {"attributes": {"mlflow.spanInputs": json.dumps(ASKED), "mlflow.spanOutputs": json.dumps(answer)}},
    ]


@pytest.mark.parametrize("number", range(4))
def test_an_entry_of_no_known_form_is_read_by_what_it_holds(number):
    wrong, right = answered(None, [called("Sow_bed")], "tool_calls"), answered(None, [called()], "tool_calls")

    def entry(answer):
        return wraps(answer)[number]

    assert codes(json.dumps(entry(wrong))) == ["PD501"]
    assert codes(json.dumps([entry(right), entry(wrong)])) == ["PD501"]
    assert codes("\n".join(json.dumps(entry(right)) for _ in range(2))) == []


def test_the_text_of_an_answer_in_a_line_of_a_log_is_decoded():
    lines = [{"level": "INFO", "response": json.dumps(answered(WRITTEN))}, {"level": "INFO", "message": "done"}]

    assert codes("\n".join(map(json.dumps, lines))) == ["PD426"]


def test_an_entry_without_request_and_answer_is_refused():
    with pytest.raises(RequestError):
        read_evidence(json.dumps({"insertId": "a", "jsonPayload": {"message": "llm", "output": "done"}}))


def test_rows_of_a_table_with_texts_of_json_are_entries():
    def cell(value):
        return '"' + json.dumps(value).replace('"', '""') + '"'

    def table(content):
        return f"id,input,output\no1,{cell(ASKED)},{cell({'role': 'assistant', 'content': content})}\n"

    assert codes(table(WRITTEN)) == ["PD426"]
    assert codes(table("Done.")) == []


def test_lines_that_docker_keeps_as_json_are_a_log():
    lines = ["INFO 11-01 10:00:00 vLLM API server version 0.11.0", logged(WRITTEN)]
    text = "\n".join(json.dumps({"log": f"{line}\n", "stream": "stderr", "time": "t"}) for line in lines)

    evidence = read_evidence(text)

    assert (evidence.form, evidence.raw) == (Form.LOG, WRITTEN)


def test_a_run_of_a_traced_client_has_the_answer_and_the_tools():
    def run(name):
        answer = answered(None, [called(name)], "tool_calls")
        return json.dumps({"run_type": "llm", "inputs": ASKED, "outputs": answer, "error": None})

    assert codes(run("Sow_bed")) == ["PD501"]
    assert codes(run("sow")) == []


def test_a_saved_response_that_is_an_error_is_one():
    refused = {"object": "error", "message": "The model `m` does not exist.", "type": "NotFoundError", "code": 404}

    assert read_evidence(collection(refused)).error is not None
    assert codes(collection(answered(None, [called()], "tool_calls"), refused)) == ["PD100"]


def looked_at(content, calls="", of="r.choices[0].message"):
    return f">>> r = ask()\n>>> {of}.tool_calls\n{calls}>>> r.choices[0].message.content\n{content}\n>>> \n"


def test_fields_that_a_session_shows_one_by_one_are_a_message():
    assert codes(looked_at(repr(WRITTEN))) == ["PD426"]
    assert read_evidence(looked_at(repr(WRITTEN))).chat.message["content"] == WRITTEN
    assert codes(looked_at(repr(WRITTEN)).replace(">>> r.", "In [4]: r.")) == ["PD426"]
    assert codes(looked_at("'Done.'")) == []


def test_a_call_that_is_shown_beside_the_content_is_part_of_the_message():
    call = "ChatCompletionMessageToolCall(id='c1', function=Function(arguments='{}', name='sow'), type='function')"

    message = read_evidence(looked_at("'I sow.'", f"[{call}]\n")).chat.message

    assert (message["content"], message["tool_calls"][0]["function"]["name"]) == ("I sow.", "sow")


def test_fields_of_two_messages_are_no_message():
    with suppress(RequestError):
        assert read_evidence(looked_at("'Done.'", of="q.choices[0].message")).words != WORDS_OF_SESSION


WORDS_OF_SESSION = read_evidence(looked_at("'Done.'")).words


def test_lines_that_are_all_quoted_twice_are_not_taken_for_an_older_mail():
    blocks = split("> > data: a\n> > data: b\n\nWhy?\n")
    older = split("> It stopped.\n> > data: a\n\nWhy?\n")

    assert any("data: a" in block.text for block in blocks)
    assert not any("data: a" in block.text for block in older)


@pytest.mark.parametrize(("reason", "expected"), [("length", ["PD301"]), ("stop", []), (None, [])])
def test_a_call_that_a_log_shows_cut_by_a_limit_is_one(reason, expected):
    obj = "GenerateReqInput(rid='b1', text=None, sampling_params={'max_new_tokens': 8}, stream=False)"
    out = {"text": WRITTEN[:40], "meta_info": {"finish_reason": {"type": reason}}}

    assert codes(f"[2026-11-01 10:00:01] Finish: obj={obj}, out={out}\n") == expected
    assert codes(f"[2026-11-01 10:00:01] Finish: obj={obj}, out={ {**out, 'text': WRITTEN} }\n") == []
