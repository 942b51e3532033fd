"""Parts that people copy: what tutorials print, fragments of JSON, labelled fields."""

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Form, Part, read_evidence
from prompt_debugger.core.evidence.readers.tutorial import split_prompt
from prompt_debugger.core.evidence.taking import is_cut

PROMPT = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
RAW = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call><|im_end|>'
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"city": "Oslo"}'}}
MESSAGE = {"role": "assistant", "content": None, "tool_calls": [CALL]}
ANSWER = {
    "id": "x",
    "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}],
    "usage": {"total_tokens": 9},
}


@pytest.mark.parametrize(
    "text",
    [
        f"Prompt: {PROMPT!r}, Generated text: {RAW!r}\nPrompt: 'b', Generated text: 'c'",
        f"Generated Outputs:\n-----\nPrompt:    {PROMPT!r}\nOutput:    {RAW!r}\n-----\n",
        repr([{"generated_text": PROMPT + RAW}]),
        json.dumps([{"generated_text": PROMPT + RAW}]),
        PROMPT + RAW,
    ],
)
def test_a_prompt_never_counts_as_output(text):
    evidence = read_evidence(text)

    assert evidence.holds == (Part.PROMPT, Part.RAW)
    assert (evidence.prompt, evidence.raw) == (PROMPT, RAW)


def test_another_printed_pair_can_be_chosen():
    text = "Prompt: 'a', Generated text: 'b'\nPrompt: 'c', Generated text: 'd'"

    assert read_evidence(text, row=2).raw == "d"


def test_a_prompt_alone_is_a_prompt():
    assert read_evidence(PROMPT).holds == (Part.PROMPT,)


def test_a_history_in_the_prompt_belongs_to_it():
    history = f"{PROMPT}Hm<|im_end|>\n<|im_start|>user\nAnd?<|im_end|>\n<|im_start|>assistant\n"

    assert split_prompt(history + RAW) == (history, RAW)


DEEPSEEK = "<｜begin▁of▁sentence｜>Be brief.<｜User｜>Hi<｜Assistant｜>"
CALLED = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
RESULTS = "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>3<｜tool▁output▁end｜><｜tool▁outputs▁end｜>"


@pytest.mark.parametrize("bar", ["｜", "|"])
def test_a_system_message_that_stands_bare_behind_bos_begins_a_prompt(bar):
    prompt, called, results = (text.replace("｜", bar) for text in (DEEPSEEK, CALLED, RESULTS))

    assert split_prompt(prompt + called) == (prompt, called)
    assert split_prompt(f"{prompt}{called}{results}\n") == (f"{prompt}{called}{results}\n", "")
    assert split_prompt(f"{prompt}{called}{results}Three.") == (prompt, f"{called}{results}Three.")
    assert split_prompt(called) is None


@pytest.mark.parametrize("text", [RAW, f"<|im_start|>assistant\n{RAW}", f"Ok {PROMPT}", "[TOOL_CALLS][]"])
def test_an_output_is_not_taken_for_a_prompt(text):
    assert split_prompt(text) is None


def test_a_pipeline_of_messages_gives_the_last_one():
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]

    assert read_evidence(repr([{"generated_text": turns}])).chat.message["content"] == "Hello"


@pytest.mark.parametrize("stop", range(10, len(json.dumps(ANSWER)), 9))
def test_a_cut_answer_is_read_for_what_is_whole_in_it(stop):
    try:
        evidence = read_evidence(json.dumps(ANSWER)[:stop])
    except RequestError:
        return

    assert evidence.form is Form.FRAGMENT
    assert [call["function"] for call in evidence.chat.message["tool_calls"]] == [CALL["function"]]
    if is_cut(evidence):
        assert evidence.finish_reason is None


def test_fields_without_their_braces_are_read():
    text = f'...\n"tool_calls": [\n {json.dumps(CALL)[:-1]}\n...\n'

    assert read_evidence(text).chat.message["tool_calls"] == [CALL]


def test_lone_deltas_are_a_stream():
    evidence = read_evidence('    "delta":{"reasoning":"He"}\n    "delta":{"reasoning":"re"}\n')

    assert evidence.stream.message["reasoning"] == "Here"
    assert evidence.stream.error is None


@pytest.mark.parametrize(
    "text",
    [
        'finish_reason: stop\ncompletion_tokens: 29        <- not the limit\ncontent: {"a": 1}',
        '# content:           "{\\"a\\": 1}"\n# finish_reason:     "stop"\n# completion_tokens: 29',
        "choices[0].message.content = '{\"a\": 1}'\nchoices[0].finish_reason = 'stop'\ncompletion_tokens = 29",
    ],
)
def test_labelled_fields_are_an_answer(text):
    evidence = read_evidence(text)

    assert evidence.chat.message == {"role": "assistant", "content": '{"a": 1}'}
    assert (evidence.finish_reason, evidence.chat.usage.completion_tokens) == ("stop", 29)


def test_stripped_channels_are_the_content_of_a_message():
    text = "analysisThe user wants one word.assistantfinalFour"

    assert read_evidence(text).chat.message["content"] == text
    with pytest.raises(RequestError):
        read_evidence("analysis of the assistant: final words")


@pytest.mark.parametrize(
    "text",
    [
        'Let me look.\n[Calling tool: f({"city": "Oslo"})]',
        '```tool_code\nf(city="Oslo")\n```<end_of_turn>',
        "Thought: I type.\nAction: type(content='Oslo')",
        "[{'name': 'f', 'arguments': {'city': 'Oslo'}}]</s>",
    ],
)
def test_an_output_in_plain_words_is_an_output(text):
    assert read_evidence(text).raw == text


@pytest.mark.parametrize("text", ["He wrote [Calling tool: f({})] to me", "Thought: I look.\nAction: lookup\n"])
def test_prose_about_calls_is_not_an_output(text):
    with pytest.raises(RequestError):
        read_evidence(text)


def test_the_whole_that_a_script_prints_at_the_end_counts():
    text = (
        "ChoiceDelta(content='', function_call=None, refusal=None, role='assistant', tool_calls=None)\n"
        'stream arg: [{"a"]\nstreamed tool call id: c1\nstreamed tool call name: f\n'
        'streamed tool call arguments is ERROR: {"a": ""b"}\n'
    )

    function = read_evidence(text).chat.message["tool_calls"][0]["function"]

    assert function == {"name": "f", "arguments": '{"a": ""b"}'}


@pytest.mark.parametrize(
    "text",
    [
        "content: a file\nname: x",
        "finish_reason is stop",
        "name: vllm\narguments: none",
        '{"a": 1, // note\n "b": [2',
        '{"x": {"y":',
    ],
)
def test_other_lines_are_not_evidence(text):
    with pytest.raises(RequestError):
        read_evidence(text)
