"""What lines of logs hold: prompts are prompts, outputs outputs, and flags say which parsers read them."""

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Form, Part, read_evidence

BODY = {"model": "m", "messages": [{"role": "user", "content": 'Weather in "Oslo"?\n'}]}
PROMPT = '<|im_start|>user\nIt\'s "hi"<|im_end|>\n<|im_start|>assistant\n'
RAW = '<tool_call>\n{"name": "f", "arguments": {"city": "Oslo"}}\n</tool_call>'
MESSAGE = {"role": "assistant", "content": None, "tool_calls": [
    {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}  # fmt: skip
ANSWER = {"id": "chatcmpl-1", "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}]}
PARAMS = "params: SamplingParams(n=1, temperature=0.7, stop=[], max_tokens=100), lora_request: None"
PREFIX = "(APIServer pid=7) INFO 11-23 10:00:01 [logger.py:39] "


def vllm(key="chatcmpl-1", prompt=PROMPT, output=RAW, streamed=" (streaming complete)"):
    return (
        f"{PREFIX}Received request {key}: prompt: {prompt!r}, {PARAMS}.\n"
        f"{PREFIX}Generated response {key}{streamed}: output: {output!r}, output_token_ids: [5, 6], "
        "finish_reason: stop\n"
    )


def test_prompt_and_streamed_output_of_vllm_are_distinguished():
    evidence = read_evidence(vllm())

    assert evidence.form is Form.LOG
    assert evidence.holds == (Part.PROMPT, Part.RAW, Part.IDS)
    assert (evidence.prompt, evidence.raw, evidence.token_ids, evidence.finish_reason) == (PROMPT, RAW, (5, 6), "stop")


def test_an_answer_that_vllm_logs_whole_went_through_its_parsers():
    plain = read_evidence(vllm(output="It is sunny.", streamed=""))
    left = read_evidence(vllm(output=RAW, streamed=""))
    calls = read_evidence(vllm(output='[tool_calls: f({"a": "g({})"}), g({"b": )]', streamed=""))

    assert (plain.chat.message["content"], plain.raw) == ("It is sunny.", None)
    assert (left.chat.message["content"], left.raw) == (RAW, RAW)
    functions = [call["function"] for call in calls.chat.message["tool_calls"]]
    assert functions == [{"name": "f", "arguments": '{"a": "g({})"}'}, {"name": "g", "arguments": '{"b": '}]


def test_of_several_requests_the_last_is_read_unless_another_is_asked_for():
    text = vllm("a", output="one <|x|>") + vllm("b", output="two <|x|>")

    assert (read_evidence(text).raw, read_evidence(text).rows) == ("two <|x|>", 2)
    assert read_evidence(text, row=2).raw == "one <|x|>"
    with pytest.raises(RequestError, match="no entry 3"):
        read_evidence(text, row=3)


def test_what_ended_later_is_put_to_its_own_request():
    first, second = vllm("a", prompt="A", output="1 <|x|>").splitlines(), vllm("b", prompt="B", output="2").splitlines()

    evidence = read_evidence("\n".join([first[0], second[0], second[1], first[1]]), row=2)

    assert (evidence.prompt, evidence.raw) == ("A", "1 <|x|>")


def test_flags_of_vllm_are_read_and_no_address_is():
    flags = {"host": "0.0.0.0", "model": "a/b", "enable_auto_tool_choice": True, "tool_call_parser": "hermes"}
    text = f"{PREFIX}vLLM API server version 0.11.0\n{PREFIX}non-default args: {flags}\n{vllm()}"

    server = read_evidence(text).server

    assert (server.base_url, server.kind, server.version) == ("", "vllm", "0.11.0")
    assert (server.model, server.tool_parser, server.has_reasoning_parser) == ("a/b", "hermes", False)


def test_prefixes_of_containers_change_nothing():
    for prefix in (
        "app-1  | ",
        "Nov 23 10:00:01 host vllm[7]: ",
        "[pod/x-1/vllm] ",
        "2026-11-23T10:00:01.5Z stderr F ",
    ):
        text = "".join(f"{prefix}{line}\n" for line in vllm().splitlines())
        assert read_evidence(text).raw == RAW


def test_an_output_that_is_cut_is_not_an_output():
    text = vllm()

    evidence = read_evidence(text[: text.index("</tool_call>")])

    assert evidence.holds == (Part.PROMPT,)


def test_sglang_gives_prompt_output_ids_and_flags():
    asked = f"GenerateReqInput(text={PROMPT!r}, sampling_params={{'stop': None}}, rid='r1', stream=False)"
    out = {"text": RAW, "output_ids": [7], "meta_info": {"finish_reason": {"type": "stop", "matched": 2}}}
    text = (
        "[2026-11-23 10:00:00] server_args=ServerArgs(model_path='a/b', tool_call_parser='qwen25', port=1)\n"
        f"[2026-11-23 10:00:01] Receive: obj={asked}\n[2026-11-23 10:00:02] Finish: obj={asked}, out={out}\n"
    )

    evidence = read_evidence(text)

    assert (evidence.prompt, evidence.raw, evidence.token_ids, evidence.finish_reason) == (PROMPT, RAW, (7,), "stop")
    assert (evidence.server.kind, evidence.server.tool_parser) == ("sglang", "qwen25")
    assert read_evidence(text.replace("stream=False", "stream=True")).raw is None  # only the last piece is logged


def test_llama_cpp_gives_the_output_before_its_parser_and_the_message_after_it():
    text = (
        f"srv  log_server_r: request:  {json.dumps(BODY)}\n"
        "srv  params_from_: Chat format: Hermes 2 Pro\n"
        "Parsing input with format Hermes 2 Pro: <tool_call>\n{\n"
        'Parsed message: {"role":"assistant","content":null}\n'
        f"Parsing input with format Hermes 2 Pro: {RAW}\n"
        f"Parsed message: {json.dumps(MESSAGE)}\n"
        "srv  update_slots: all slots are idle\n"
    )

    evidence = read_evidence(text)

    assert (evidence.raw, evidence.chat.message, evidence.request.body) == (RAW, MESSAGE, BODY)
    unparsed = f"0.50.918.060 W common_chat_peg_parse: unparsed peg-native output: {RAW}\nsrv  stop: all done\n"
    assert read_evidence(unparsed).raw == RAW


def test_ollama_gives_the_prompt():
    text = (
        'time=2026-11-23T10:00:01.5Z level=INFO source=server.go:1 msg="loaded"\n'
        'time=2026-11-23T10:00:01.5Z level=DEBUG source=routes.go:1522 msg="chat request" images=0 '
        f"prompt={json.dumps(PROMPT)}\n"
    )

    assert read_evidence(text).holds == (Part.PROMPT,)
    assert read_evidence(text).prompt == PROMPT


def test_lm_studio_gives_request_answer_and_refused_output():
    text = (
        "2026-11-23 10:00:01 [DEBUG] Received request: POST to /v1/chat/completions with body "
        f"{json.dumps(BODY, indent=2)}\n"
        "2026-11-23 10:00:01  [INFO]\n [LM STUDIO SERVER] Running chat completion\n"
        f"2026-11-23 10:00:02  [INFO]\n [m] Generated prediction:  {json.dumps(ANSWER, indent=2)}\n"
    )
    failed = (
        "2026-11-23 10:00:02 [ERROR]\n [m] Failed to generate a tool call: Unexpected end of content.\n"
        f"Model Output:  {RAW}\n2026-11-23 10:00:03  [INFO]\n [m] Model generated tool calls:  []\n"
    )

    evidence = read_evidence(text)

    assert (evidence.request.body, evidence.chat.message) == (BODY, MESSAGE)
    assert read_evidence(failed).raw == RAW


def test_clients_log_the_request_and_the_answer():
    options = {"method": "post", "url": "/chat/completions", "files": None, "json_data": BODY}
    text = (
        f"DEBUG:openai._base_client:Request options: {options}\n"
        'INFO:httpx:HTTP Request: POST http://h/v1/chat/completions "HTTP/1.1 200 OK"\n'
        f"RAW RESPONSE:\n{json.dumps(ANSWER)}\n"
    )

    evidence = read_evidence(text)

    assert evidence.words.startswith("a client's log")
    assert (evidence.request.body, evidence.chat.message) == (BODY, MESSAGE)


def test_what_a_server_warns_of_is_kept_for_rules():
    bos = (
        "check_double_bos_eos: Added a BOS token to the prompt as specified by the model but the prompt also starts "
        "with a BOS token. So now the final prompt starts with 2 BOS tokens.\n"
    )
    cut = 'level=WARN source=runner.go:1 msg="truncating input prompt" limit=2048 prompt=8632 keep=4 new=2048\n'
    shift = "slot update_slots: id  0 | task 0 | slot context shift, n_keep = 1, n_left = 2046, n_discard = 1023\n"

    assert [read_evidence(text).server.kind for text in (bos, cut, shift)] == ["llama.cpp", "ollama", "llama.cpp"]
    assert read_evidence(bos).server.log_warnings[0].startswith("Added a BOS token to the prompt as specified")
    assert read_evidence(cut).server.log_warnings == (
        'truncating input prompt" limit=2048 prompt=8632 keep=4 new=2048',
    )
    assert [read_evidence(text).holds for text in (bos, cut, shift)] == [(), (), ()]
    assert "n_discard = 1023" in read_evidence(shift).server.log_warnings[0]


@pytest.mark.parametrize(
    "text",
    [
        "INFO: Application startup complete.",
        "Received request from the user: prompt: what is it",
        "args: see below",
        'I searched for msg="chat request" and found nothing',
    ],
)
def test_other_lines_are_not_evidence(text):
    with pytest.raises(RequestError):
        read_evidence(text)
