"""Forms in which errors and outputs stand in reports: tracebacks in logs, boxes, remarks, wrapped streams, labels."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Certainty
from prompt_debugger.core.diagnose.refusals.understand import understand
from prompt_debugger.core.evidence import Form, Part, read_evidence, show_evidence
from prompt_debugger.core.evidence.copying.clean import clean
from prompt_debugger.core.evidence.errors.copied import error_of_text
from prompt_debugger.core.known_errors import Cause, recognise_error
from tests.attacks.growth import grows_linearly

HEAD = "ERROR 01-02 03:04:05 [hermes_tool_parser.py:110] "
TRACEBACK = [
    "Error in extracting tool call from response.",
    "Traceback (most recent call last):",
    '  File "/x/hermes_tool_parser.py", line 88, in extract_tool_calls',
    "    json.loads(match[0])",
    "json.decoder.JSONDecodeError: Extra data: line 3 column 1 (char 41)",
]
LOG = "\n".join(HEAD + line for line in TRACEBACK)


@pytest.mark.parametrize("prefix", ["", "(APIServer pid=7) ", "server-1  | (Worker pid=7) "])
def test_a_parser_that_failed_is_read_with_its_exception(prefix):
    evidence = read_evidence("\n".join(prefix + line for line in LOG.split("\n")))

    assert evidence.error is not None
    assert "JSONDecodeError: Extra data" in evidence.error.message
    assert understand(evidence.error).cause is Cause.OUTPUT
    known = recognise_error(evidence.error.message)
    assert known is not None
    assert "a second call in one block" in known.error.means


def test_the_exception_that_is_before_it_in_a_cut_log_counts():
    lines = LOG.split("\n")

    found = error_of_text("\n".join([*lines[3:], lines[0]]))

    assert found is not None
    assert "Extra data" in found.refusal.message


def test_a_parser_that_failed_for_a_reason_that_is_not_shown():
    found = error_of_text(LOG.split("\n")[0])

    assert found is not None
    assert found.refusal.message == "Error in extracting tool call from response"


def test_a_decode_error_of_a_program_of_ones_own_is_reported_of_no_server():
    found = error_of_text("\n".join(TRACEBACK[1:]).replace("hermes_tool_parser", "my_script"))

    assert found is not None
    known = recognise_error(found.refusal.message)
    assert known is not None
    assert known.maker == "JSON decoders"


def test_an_exception_in_lines_of_a_log_is_read_without_their_heads():
    said = "ValueError: The provided JSON schema contains features not supported by xgrammar."

    found = error_of_text(
        f"ERROR 01-02 03:04:05 [serving.py:12] Traceback\nERROR 01-02 03:04:05 [serving.py:12] {said}"
    )

    assert found is not None
    assert recognise_error(found.refusal.message) is not None


def test_a_failure_of_the_server_is_not_said_to_be_a_refusal_for_sure():
    evidence = read_evidence(json.dumps({"error": {"message": "Invalid state of argument cache", "code": 500}}))

    assert evidence.error is not None
    assert understand(evidence.error).certainty is Certainty.INFERRED


def test_a_refusal_of_the_request_stays_one():
    evidence = read_evidence(json.dumps({"error": {"message": "Invalid state of argument cache", "code": 400}}))

    assert evidence.error is not None
    assert understand(evidence.error).certainty is Certainty.OBSERVED


def test_a_sentence_is_known_without_its_code_marks():
    found = recognise_error("Missing reasoning_content field in the assistant message at message index 2.")

    assert found is not None
    assert found.maker == "DeepSeek"
    assert found.field == "messages[2].reasoning_content"


@pytest.mark.parametrize("label", ["[400]: ", "[provider/model] [400]: ", "[System Error] "])
def test_a_label_in_brackets_is_not_taken_for_a_list(label):
    evidence = read_evidence(f"{label}Tool message must have tool_call_id")

    assert evidence.form is Form.ERROR


def test_a_list_is_not_taken_for_a_label():
    assert error_of_text('["Tool message must have tool_call_id"]') is None


def test_the_error_of_a_node_is_read_with_what_is_below_it():
    value = {
        "errorMessage": "Bad request - please check your parameters",
        "errorDescription": "Tool message must have tool_call_id",
        "errorDetails": {"rawErrorMessage": ["400 Tool message must have tool_call_id"], "httpCode": "400"},
        "n8nDetails": {"nodeName": "AI Agent"},
    }

    evidence = read_evidence(json.dumps(value, indent=1))

    assert evidence.error is not None
    assert evidence.error.status == 400
    assert "check your parameters: Tool message must have tool_call_id" in evidence.error.message


def test_remarks_next_to_lines_of_json_are_taken_off():
    text = """{
  "role": "assistant",
  "content": null,      <---- always empty!
  "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]   --- fine
}"""

    evidence = read_evidence(text)

    assert evidence.holds == (Part.MESSAGE,)
    assert any("Remarks" in note for note in evidence.notes)


def test_dashes_within_text_are_not_a_remark():
    text = '{"messages": [{"role": "user", "content": "a --- b <-- c"}], }'

    evidence = read_evidence(text)

    assert evidence.request is not None
    assert evidence.request.body["messages"] == [{"role": "user", "content": "a --- b <-- c"}]


def test_a_box_around_each_line_is_taken_off():
    lines = [
        "The arguments provided to the tool are invalid: Invalid input for tool todo: Type",
        'validation failed: Value: {"todos":"[{\\"id\\": 1}]"}.',
        "Error message: [ expected array, received string ]",
    ]

    evidence = read_evidence("\n".join(f"  \u2503  {line:<90}  \u2503" for line in lines))

    assert evidence.error is not None
    known = recognise_error(evidence.error.message)
    assert known is not None
    assert known.maker == "Vercel's AI SDK"


PRINTED = [
    "data: '[{\\n' +",
    "'  \"error\": {\\n' +",
    "'    \"code\": 400,\\n' +",
    '\'    "message": "Please ensure that the number of function response parts is equal to the number of function'
    " call parts of the function call turn.\",\\n' +",
    '\'    "status": "INVALID_ARGUMENT"\\n\' +',
    "'  }\\n' +",
    "'}]'",
]


@pytest.mark.parametrize("count", [len(PRINTED), len(PRINTED) - 2])
@pytest.mark.parametrize("is_whole", [True, False])
def test_a_box_with_its_corners_or_cut_within_its_last_line_is_taken_off(count, is_whole):
    rows = [f"\u2502   {line:<180} \u2502" for line in PRINTED[:count]]
    edge = "\u2500" * 182
    text = "\n".join([f"\u256d{edge}\u256e", *rows, f"\u2570{edge}\u256f"] if is_whole else [*rows[:-1], rows[-1][:90]])

    error = read_evidence(text).error

    assert error is not None
    assert recognise_error(error.message) is not None


def test_a_tree_of_folders_is_no_box():
    tree = "\u250c src\n\u2502  a.py\n\u2502  b.py\n\u2502  c.py\n\u2514 tests"

    assert clean(tree).text == tree


def test_a_table_keeps_its_sides():
    with pytest.raises(RequestError):
        read_evidence("| a | b |\n|---|---|\n| c | d |")


EVENTS = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hel"}, "finish_reason": None}]},
    {"choices": [{"index": 0, "delta": {"content": "lo there"}, "finish_reason": "stop"}]},
]


def test_a_stream_that_a_terminal_wrapped_is_read():
    lines = [f"data: {json.dumps(event)}" for event in EVENTS]
    wrapped = "\n\n".join("\n".join(line[at : at + 60] for at in range(0, len(line), 60)) for line in lines)

    evidence = read_evidence(f"{wrapped}\n\ndata: [DONE]\n")

    assert evidence.chat is not None
    assert evidence.chat.message["content"] == "Hello there"


def test_a_stream_with_a_broken_event_stays_as_it_is():
    evidence = read_evidence(f'data: {json.dumps(EVENTS[0])}\n\ndata: {{"choices": [\nnot JSON\n\n')

    assert not any("wrapping" in note for note in evidence.notes)


DELTAS = [
    {"tool_calls": [{"id": "a", "index": 0, "type": "function", "function": {"name": "f", "arguments": ""}}]},
    {"tool_calls": [{"id": None, "index": 0, "function": {"name": None, "arguments": '{"a": 1}'}}]},
]


def test_deltas_of_a_call_with_comments_between_them_are_one_call():
    first, second = map(json.dumps, DELTAS)

    evidence = read_evidence(f"// first\n{first}\n// later ones\n{second}\n")

    assert evidence.chat is not None
    assert [call["function"]["arguments"] for call in evidence.chat.message["tool_calls"]] == ['{"a": 1}']


async def test_of_deltas_alone_an_open_call_proves_nothing():
    cut = {"tool_calls": [{"index": 0, "function": {"arguments": '{"a": '}}]}

    trace = await show_evidence(read_evidence(f"{json.dumps(DELTAS[0])}\n{json.dumps(cut)}"))

    assert trace.findings == ()


def test_two_messages_a_line_each_are_not_deltas():
    message = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}

    evidence = read_evidence(f"{json.dumps(message)}\n{json.dumps(message)}")

    assert evidence.form is not Form.STREAM


def test_a_content_of_several_lines_below_its_label_is_read_whole():
    evidence = read_evidence("reasoning_content: None\ncontent: First, I think.\n</think>\n\nIt is four.\n")

    assert evidence.chat is not None
    assert evidence.chat.message == {"role": "assistant", "content": "First, I think.\n</think>\n\nIt is four."}


def test_the_fence_below_its_lead_is_the_output():
    text = "I get an output like\n```\nThey greet.\n</think>\n\nHello!\n```\n\nwithout the tag '<think>'."

    evidence = read_evidence(text)

    assert evidence.raw == "They greet.\n</think>\n\nHello!"


def test_the_fence_of_a_report_that_says_so_is_the_content():
    text = "```\n<tool_call>\n{}\n</tool_call>\n```\nThis is left in `content`."

    assert read_evidence(text).chat.message["content"] == "<tool_call>\n{}\n</tool_call>"


@pytest.mark.parametrize("words", ["with `--tool-call-parser hermes`", "as after `<think>`"])
def test_the_fence_of_a_report_without_a_lead_is_the_output(words):
    text = f"```\n<tool_call>\n{{}}\n</tool_call>\n```\nThis is left {words}."

    assert read_evidence(text).raw == "<tool_call>\n{}\n</tool_call>"


@pytest.mark.parametrize(
    "text",
    [
        "Run `ls` with the tool.\n```\n<tool_call>\n{}\n</tool_call>\n```\n",
        "They want code.</think>\nHere is the output:\n```\n<tool_call>\n{}\n</tool_call>\n```\n",
        "I call it now.\n```\n<tool_call>\n{}\n</tool_call>\n```\n",
    ],
)
def test_a_fence_that_the_model_wrote_belongs_to_its_output(text):
    assert read_evidence(text).raw == text


def test_a_line_of_code_with_a_call_next_to_a_command_is_the_output():
    text = 'vllm serve org/m --tool-call-parser mistral\n\nIt writes:\n\n`[TOOL_CALLS]f{"path": "a.txt"}`\n\nand dies.'

    evidence = read_evidence(text)

    assert evidence.raw == '[TOOL_CALLS]f{"path": "a.txt"}'
    assert {*evidence.holds} == {Part.RAW, Part.FLAGS}


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "{" + '"a": 1 <' * n,
        lambda n: "\n".join(["data: {"] * 2 + ["x" * 50] * n),
        lambda n: "ERROR [a.py:1] Error in extracting tool call from response\n" + "Error" * n,
        lambda n: "[" + "a " * n + "]: x",
        lambda n: '{"name": "' + "a" * n,
        lambda n: "\n".join(["\u2503 a \u2503"] * n),
        lambda n: "\n".join(["reasoning_content: a", "content: b"] * n),
    ],
)
def test_the_time_that_it_takes_grows_as_the_text(make):
    def read(text):
        try:
            read_evidence(text)
        except RequestError:
            return

    assert grows_linearly(lambda size: read(make(size)), first=200)


def test_a_body_that_python_printed_is_read_with_a_traceback_below_it():
    body = {"error": {"message": "Tool message must have tool_call_id", "param": "messages.[0]", "code": None}}

    evidence = read_evidence(f"{body}\n\nFull traceback\n-----\nERROR:    Exception in ASGI application\nTraceback (m")

    assert evidence.error is not None
    assert evidence.error.field == "messages.[0]"


def test_a_line_of_ollamas_log_is_not_python():
    said = 'template: :3: function \\"f\\" not defined'
    line = f'time=2026-01-02T03:04:05 level=ERROR msg="chat prompt error" error="{said}"'

    evidence = read_evidence(line)

    assert evidence.error is not None
    assert evidence.form is Form.ERROR


def test_a_prompt_below_its_label_is_a_prompt():
    evidence = read_evidence("# End of the prompt\n<|system|>\nBe brief.<|end|>\n<|user|>\nHi<|end|><|endoftext|>")

    assert evidence.holds == (Part.PROMPT,)


def test_text_with_bos_that_begins_with_the_models_turn_is_a_prompt():
    text = "<|begin_of_text|><|start_header_id|>assistant<|end_header_id|>\n\nHi<|eot_id|>"

    evidence = read_evidence(text)

    assert Part.PROMPT in evidence.holds


def test_an_output_that_opens_the_models_turn_again_is_not_a_prompt():
    text = "<|start_header_id|>assistant<|end_header_id|>\n\nHi<|eot_id|>"

    assert read_evidence(text).holds == (Part.RAW,)


def test_what_ought_to_come_adds_nothing_to_what_came():
    came = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    text = f"Observed Output:\n\n```\n{came}```\n\nExpected Output:\n\n```\n<tool_call>{{}}</tool_call>\n```\n"

    assert read_evidence(text).raw is None


def test_an_output_that_speaks_of_a_decoder_is_not_an_error():
    text = "Okay, they get Unexpected end of JSON input.</think>\n\nYour file is empty.<|im_end|>"

    assert read_evidence(text).holds == (Part.RAW,)


def test_a_long_text_that_speaks_of_a_decoder_is_not_an_error():
    with pytest.raises(RequestError, match="was not recognized"):
        read_evidence("They get Unexpected end of JSON input. " + "So it goes. " * 100)


@pytest.mark.parametrize(
    ("says", "maker"),
    [
        ("Error in detect_and_parse: Expecting ',' delimiter: line 1 column 4 (char 3)", "SGLang"),
        ("Error in extracting tool call from response: JSONDecodeError: Extra data: line 1 column 4 (char 3)", "vLLM"),
        ("Expecting ',' delimiter: line 1 column 4 (char 3)", "JSON decoders"),
    ],
)
def test_a_decoders_words_yield_to_those_who_quote_them(says, maker):
    found = recognise_error(says)

    assert found is not None
    assert found.maker == maker


def test_a_sentence_within_code_marks_ends_with_them():
    found = recognise_error("It says `Expecting value: line 1 column 1 (char 0)` and then nothing else.")

    assert found is not None
    assert found.sentence == "Expecting value: line 1 column 1 (char 0)"


async def test_pieces_that_langchain_could_not_join_are_the_deltas_of_a_stream():
    pieces = [
        {"index": None, "id": "0", "function": {"arguments": "", "name": "f"}, "type": "function"},
        {"index": None, "id": "0", "function": {"arguments": '{"a": ', "name": None}, "type": "function"},
        {"index": None, "id": "0", "function": {"arguments": "1}", "name": None}, "type": "function"},
    ]

    trace = await show_evidence(read_evidence(f"AIMessage(content='', additional_kwargs={{'tool_calls': {pieces}}})"))

    assert [finding.code for finding in trace.findings] == ["PD417"]


async def test_calls_of_langchain_that_are_whole_are_not_pieces():
    calls = [{"index": 0, "id": "0", "function": {"arguments": "{}", "name": "f"}, "type": "function"}]

    trace = await show_evidence(read_evidence(f"AIMessage(content='', additional_kwargs={{'tool_calls': {calls}}})"))

    assert trace.findings == ()


def test_text_in_a_json_string_is_read_without_its_escapes():
    evidence = read_evidence(json.dumps("Not the same number of function calls and responses"))

    assert evidence.form is Form.ERROR
    assert any("JSON string" in note for note in evidence.notes)


def test_a_value_that_is_missing_elsewhere_than_at_the_start_has_its_own_words():
    first, later = (recognise_error(f"Expecting value: line 1 column {n} (char {n - 1})") for n in (1, 2))

    assert first is not None
    assert later is not None
    assert "is empty or begins" in first.error.means
    assert "a marker such as" in later.error.means


@pytest.mark.parametrize(
    "below", ["I set the context to 8k, and it comes again.", "OS: some: 64 GB\nclient version: 0.1"]
)
@pytest.mark.parametrize("end", ["(status code: 500)", "(status code: 500) "])
def test_the_words_of_an_error_end_before_what_a_person_wrote_below_them(below, end):
    error = read_evidence(
        f"ollama.ResponseError: failed to parse JSON: unexpected end of JSON input {end}\n{below}"
    ).error

    assert error is not None
    assert error.message.endswith("(status code: 500)")


def test_a_status_within_the_words_of_an_error_does_not_end_them():
    error = read_evidence("Error (status code: 500): failed to parse JSON: unexpected end of JSON input").error

    assert error is not None
    assert error.message.endswith("JSON input")
