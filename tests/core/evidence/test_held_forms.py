"""Forms that people hold in their hands, each read as what it is; and near ones that are something else."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.evidence.forms import Form
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
    ],
)
def test_these_forms_are_looked_for_in_linear_time(piece):
    def read(count):
        for head in ("", "curl h -d x\n"):
            with suppress(RequestError):
                read_evidence(head + piece * count)

    assert grows_linearly(read, first=100)
