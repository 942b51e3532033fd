"""What people paste about tool calls: commands with outputs, errors beside requests, mentions, wrapped names."""

from __future__ import annotations

import contextlib
import time

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Part, read_evidence
from prompt_debugger.core.evidence.copying.raw_output import as_written
from prompt_debugger.core.evidence.reports.mentions import mentioned_server
from tests.core.evidence.pasted import shown

CALL = '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'
SCHEMA = '{"type":"object","properties":{"a":{}},"required":["a"]}'
TOOLS = f'[{{"type":"function","function":{{"name":"f","parameters":{SCHEMA}}}}}]'
BODY = f'{{"model":"m","messages":[{{"role":"user","content":"hi"}}],"tools":{TOOLS}}}'


def fixes(text: str) -> str:
    return " ".join(one.fix for one in shown(text).findings)


@pytest.mark.parametrize(
    ("model", "flags", "says"),
    [
        ("Qwen/Qwen3-8B", "", "Start `trtllm-serve` with `--tool_parser qwen3`."),
        ("Qwen/Qwen3-8B", " --tool_parser qwen3", "runs already (`--tool_parser qwen3`)"),
        ("Qwen/Qwen3-8B", " --tool_parser kimi_k2", "with `--tool_parser qwen3` in place of `kimi_k2`"),
    ],
)
def test_the_parser_of_tensorrt_is_named(model, flags, says):
    text = f"`trtllm-serve {model}{flags}` returns it in content:\n\n```\n{CALL}\n```\n"

    assert says in fixes(text)


def test_tensorrt_has_no_parser_for_every_family():
    text = "`trtllm-serve m` returns it in content:\n\n```\n[TOOL_CALLS]get_time[ARGS]{}\n```\n"

    assert "Check whether this release of TensorRT-LLM has a parser" in fixes(text)


def test_an_output_below_a_command_came_as_content_where_the_text_says_so():
    command = "vllm serve Qwen/Qwen3-8B --enable-auto-tool-choice --tool-call-parser hermes"

    assert shown(f"{command}\n\nI get in content:\n```\n{CALL}\n```").verdict.stage is not None
    assert shown(f"{command}\n\nThe raw output:\n```\n{CALL}\n```").raw is not None


@pytest.mark.parametrize("rest", ["to be set", "and so on", "flag is missing", "must be given"])
def test_a_word_behind_a_flag_in_a_sentence_is_no_parser(rest):
    server = mentioned_server(f"vLLM says that it needs --tool-call-parser {rest}")

    assert server is not None
    assert server.tool_parser is None


def test_a_parser_behind_its_flag_is_one():
    assert mentioned_server("vLLM with --tool-call-parser tool_x").tool_parser == "tool_x"


ERROR = "openai.BadRequestError: Error code: 400 - {'object': 'error', 'message': 'no tools here', 'code': 400}"
SCRIPT = (
    'client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}], tools='
    '[{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}])'
)


@pytest.mark.parametrize("text", [f"{ERROR}\n\n{SCRIPT}", f"{SCRIPT}\n\n{ERROR}", f"{BODY}\n\n{ERROR}"])
def test_a_request_beside_an_error_is_kept(text):
    assert {Part.REQUEST, Part.ERROR} <= {*read_evidence(text).holds}


def test_prose_beside_an_error_is_no_request():
    assert read_evidence(f"{ERROR}\n\nI sent messages = many of them, and it failed.").holds == (Part.ERROR,)


@pytest.mark.parametrize("raised", ["KeyError: 'a'", "AssertionError", "TypeError: unhashable type: 'dict'"])
def test_a_crash_is_one_whatever_its_exception(raised):
    trace = shown(f"The SGLang scheduler hit an exception:\n\n{raised}\n\nwhen I send\n\n{BODY}")

    assert trace.verdict.sentence.startswith("The server's own code failed on the request")
    assert trace.request.body["model"] == "m"


def test_an_exception_without_a_crash_is_of_any_program():
    trace = shown(f"My script says\n\nKeyError: 'a'\n\nwhen I send\n\n{BODY}")

    assert "own code failed" not in trace.verdict.sentence


@pytest.mark.parametrize(
    "text",
    [
        "With Ollama I see the <tool_call> tag in the log, and then nothing happens.",
        "The model emits <tool_call> twice and the parser gets confused.\n\nWhy is the <tool_call> not parsed?",
    ],
)
def test_a_marker_that_a_report_mentions_is_no_output(text):
    with pytest.raises(RequestError, match="report in words"):
        read_evidence(text)


@pytest.mark.parametrize(
    "text",
    [
        f"Okay, I should call the tool of vLLM. I write <tool_call> first.\n{CALL}",
        "Okay, the parser wants JSON.\n</think>\n\nIt rains.",
        'I call it: <tool_call>{"name": "get_time", "arguments": {}}</tool_call> as the parser likes it',
    ],
)
def test_what_a_model_writes_is_an_output_whole(text):
    assert read_evidence(text).raw == text


def test_the_wrapped_name_of_a_tool_is_joined():
    assert as_written("<function=get_wea\nther>\n</function>")[0] == "<function=get_weather>\n</function>"
    assert as_written('<tool_call>{"name": "get_wea\nther", "arguments": {}}\n</tool_call>')[1]


def test_a_break_in_a_name_that_no_width_explains_stays():
    text = "<function=get_wea\nther>\n<parameter=the_longest_line>1</parameter>"

    assert as_written(text)[0] == text


def test_an_empty_argument_is_not_filled_where_the_tool_requires_some():
    call = '{"id":"a","type":"function","function":{"name":"f","arguments":""}}'
    message = f'{{"role":"assistant","content":null,"tool_calls":[{call}]}}'
    answer = f'{{"object":"chat.completion","choices":[{{"message":{message},"finish_reason":"tool_calls"}}]}}'

    assert "Do not fill it in: `f` requires `a`" in fixes(f"{BODY}\n{answer}")
    assert "as `{}`" in fixes(answer)


@pytest.mark.parametrize("piece", ["<function=a\n", '"name": "a\n', "vLLM <tool_call> ", "a <think> parser\n"])
def test_floods_are_read_at_once(piece):
    text = piece * (100_000 // len(piece))
    started = time.process_time()
    with contextlib.suppress(RequestError):
        read_evidence(text)

    assert time.process_time() - started < 2


def test_a_marker_in_code_of_a_sentence_is_no_output():
    text = (
        "# Outputs are inconsistent\n\nTensorRT-LLM appears to include `<tool_call></tool_call>` tags in the response "
        "that another server does not. I ask it for the weather every day."
    )
    evidence = read_evidence(text)

    assert evidence.raw is None
    assert any(note.startswith("Reported of a call that came as text") for note in evidence.notes)


@pytest.mark.parametrize("said", ["when I use stream is false, it works", "It works fine without streaming."])
def test_a_fault_of_the_stream_alone_is_said(said):
    trace = shown(f"vLLM returns it in content, which is a bug:\n\n```\n{CALL}\n```\n\n{said}")

    assert "fails on the stream" in " ".join(one.fix for one in trace.findings)


@pytest.mark.parametrize(
    "said",
    ["It should work without streaming.", "Does it work without streaming?", "It isn't working without streaming."],
)
def test_what_only_may_work_without_a_stream_says_nothing(said):
    trace = shown(f"vLLM returns it in content, which is a bug:\n\n```\n{CALL}\n```\n\n{said}")

    assert "fails on the stream" not in " ".join(one.fix for one in trace.findings)


def test_no_parser_reads_what_glm_4_writes():
    command = "vllm serve org/GLM-4-9B-0414 --enable-auto-tool-choice --tool-call-parser pythonic"

    assert "PD465" in {one.code for one in shown(command).findings}
    assert "PD465" not in {one.code for one in shown(command.replace("GLM-4-9B-0414", "my-model")).findings}


def test_markup_that_a_parser_refused_is_not_read_as_json():
    trace = shown('{"error":{"code":500,"message":"Failed to parse input at pos 0: <tool_call>\\n<function=f>"}}')

    assert "not allowed there" not in trace.verdict.sentence


def test_mlx_lm_says_that_it_knows_no_parser():
    line = "WARNING - Received tools but model does not support tool calling. If you think this is an error, file one"

    assert "mlx-lm" in " ".join(one.detail for one in shown(line).findings)


def test_joined_arguments_in_words_are_not_taken_for_a_call_in_content():
    text = (
        "With vLLM it fails, this is a bug. When multiple tool calls are present, the arguments content contains "
        "multiple JSON fragments, which leads to an error."
    )

    assert any(note.startswith("Reported of calls that were joined") for note in read_evidence(text).notes)


def test_the_marker_that_mistral_left_out_is_read_with_its_own_tokenizer():
    command = "vllm serve mistralai/Devstral-Small-2507 --enable-auto-tool-choice --tool-call-parser mistral"
    text = f'{command}\n\nThe raw output:\n```\n[TOOL_CALLS]get_time{{"city": "Oslo"}}\n```'

    assert "--tokenizer-mode mistral" in fixes(text)
    assert "--tokenizer-mode mistral`, too" not in fixes(
        text.replace(" --enable", " --tokenizer-mode mistral --enable")
    )


EMPTY = (
    '{"object":"chat.completion","model":"mlx-community/Devstral-Small-2-24B","choices":[{"message":'
    '{"role":"assistant"},"finish_reason":"stop"}]}'
)


@pytest.mark.parametrize(
    ("words", "answer", "is_it"),
    [
        ("mlx_lm 0.31.3", EMPTY, True),
        ("mlx_lm 0.32.2", EMPTY, False),
        ("mlx_lm", EMPTY, False),
        ("mlx_lm 0.31.3", EMPTY.replace("Devstral", "Qwen3"), False),
        ("mlx_lm 0.31.3", EMPTY.replace('"assistant"', '"assistant","content":"Hm."'), False),
        ("Ollama 0.31.3", EMPTY, False),
    ],
)
def test_a_message_without_anything_is_a_known_fault_of_some_releases_of_mlx_lm(words, answer, is_it):
    codes = {one.code for one in shown(f"I run {words}:\n\n{answer}").findings}

    assert ("PD471" in codes) is is_it
