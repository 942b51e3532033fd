"""What people paste about tool calls: copies that end early, one field of an answer, words above the error itself."""

from __future__ import annotations

import contextlib

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import shown

ASKED = 'curl -s http://localhost:9/v1/chat/completions -d \'{"model":"m","messages":[]}\' | jq\n'
METER = "  % Total    % Received % Xferd\n100   90    0    12\n"


def said(text: str) -> str:
    trace = shown(text)
    return " ".join(f"{one.title} {one.detail} {one.fix}" for one in trace.findings)


def test_an_error_that_is_shown_counts_more_than_a_heading_that_mentions_one():
    heading = "# Helper has error calling tool even with tools = True\n\n"
    code = "```\ndef look(place):\n    return place\n```\n"
    error = '```\nagents.exceptions.ModelBehaviorError: Tool look" /> not found in agent Helper\n```\n'

    assert "arguments of a call are in its name" in said(f"{heading}The function:\n{code}I get:\n{error}")


@pytest.mark.parametrize(
    "end",
    [
        '"content": "Sure.<|im_end|>", "role": "assistant"}}],\n  "model": "m",',
        '"content": "Sure.<|im_end|>", "role": "assistant"}}],\n  "model": "a long na',
    ],
)
def test_an_answer_below_a_command_is_read_though_the_copy_ends_in_it(end):
    evidence = read_evidence(f'{ASKED}{METER}{{\n  "choices": [{{"index": 0, "message": {{{end}')

    assert evidence.request is not None
    assert evidence.chat is not None
    assert evidence.chat.message["content"] == "Sure.<|im_end|>"


def test_json_of_something_else_that_is_cut_is_no_answer():
    evidence = read_evidence(f'{ASKED}{METER}{{\n  "places": [{{"index": 0, "name": "a long na')

    assert evidence.chat is None


def test_a_report_that_ends_inside_an_answer_is_not_said_to_be_without_one():
    text = (
        "# No calls come back\n\nThe answer is without calls:\n\n{'id': 'a', 'choices': [{'message': {'content': '{\"na"
    )

    with pytest.raises(RequestError, match="ends inside an answer"):
        read_evidence(text)


def test_cut_answers_are_looked_for_in_linear_time():
    def run(size):
        with contextlib.suppress(RequestError):
            read_evidence("words\n\n" + '{"choices": [{"message": {"content": "\n' * size)

    assert grows_linearly(run, first=100)


FIELD = '"reasoning_content": "I look.<tool_call>\\n{\\"name\\": \\"f\\", \\"arguments\\": {\\"a\\": 1}}\\n</tool_call>'


@pytest.mark.parametrize("end", ['",\n', '"\n', " and mo\n"])
def test_one_field_of_an_answer_is_not_the_output(end):
    evidence = read_evidence(f"  {FIELD}{end}")

    assert evidence.raw is None
    assert evidence.chat is not None
    assert "is in reasoning_content; the rest of the message was not copied" in said(f"  {FIELD}{end}")


def test_a_whole_message_says_that_nothing_else_is_in_it():
    assert "the message contains nothing else" in said(f'{{"role": "assistant", "content": null, {FIELD}"}}')


def test_pieces_from_the_middle_of_a_call_are_no_answer():
    piece = 'data: {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": "assistant", '
    piece += '"tool_calls": {"index": 0, "function": {"name": null, "arguments": "Os"}}}}]}\n\n'

    with pytest.raises(RequestError, match="begins in the middle of a call"):
        read_evidence("# Not as with others\n\n" + piece * 3)


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        (r'<tool_call>\n{"name": "f", "arguments": {}}\n', '<tool_call>\n{"name": "f", "arguments": {}}\n'),
        (r'<tool_call>\n{"name": "f"}\n</tool_call>', '<tool_call>\n{"name": "f"}\n</tool_call>'),
        (
            '<tool_call>\n{"name": "f", "arguments": {"html": "<p>\\n{"}}\n</tool_call>',
            '<tool_call>\n{"name": "f", "arguments": {"html": "<p>\\n{"}}\n</tool_call>',
        ),
    ],
)
def test_line_breaks_that_were_written_as_escapes(text, raw):
    evidence = read_evidence(text)

    assert evidence.raw == raw
    assert any("line breaks" in note for note in evidence.notes) == (text != raw)


def test_breaks_of_a_terminal_in_what_rust_prints():
    printed = (
        'Answer: Response { id: "a", choices: [Choice { index: 0, message: Message { content: Some("Hi"), ro\n'
        "le: Assistant, tool_calls: Some([]) }, finish_reason: Some(Stop) }] }\n"
    )

    evidence = read_evidence(printed)

    assert evidence.chat.message["content"] == "Hi"
    assert any("wrapping" in note for note in evidence.notes)
    assert not any("wrapping" in note for note in read_evidence(printed.replace("ro\n", "ro")).notes)


def test_a_report_shows_a_call_without_its_marker():
    report = "# Calls are shown as text\n\nNow and then the model prints this instead of running it:\n\n```\ncourse\n"
    call = (
        '<invoke name="Edit">\n<parameter name="path">{}</parameter>\n<parameter name="new">...</parameter>\n</invoke>'
    )

    assert "a call to `Edit` in tags that Claude and MiniMax write" in said(f"{report}{call.format('a.py')}\n```\n")
    assert "to `Edit`" not in said(f"{report}{call.format('...')}\n```\n")


def test_calls_without_their_marker_are_looked_for_in_linear_time():
    def run(size):
        said('{"role": "assistant", "content": "' + '<invoke name=\\"f\\">\\n<parameter name=\\"a\\">b' * size + '"}')

    assert grows_linearly(run, first=100)


@pytest.mark.parametrize(
    ("sentence", "is_read"),
    [
        ('With it the arguments were duplicated: I always got `{ "place": "Oslo" }{ "place": "Oslo" }`.', True),
        ('All arguments are concatenated, as in {"place":"Oslo"}{"place":"Bern"} which no client reads.', True),
        ('The arguments are concatenated: `{"place": "Oslo"} {"place": "Bern"}` are two calls.', False),
        ('We send the arguments as `{"place":"Oslo"}{"place":"Bern"}` to the test server.', False),
    ],
)
def test_joined_arguments_that_a_sentence_quotes(sentence, is_read):
    text = f"# Tool calls in a stream\n\nI tried another provider.\n\n{sentence}\n"

    try:
        codes = {one.code for one in shown(text).findings}
    except RequestError:
        codes = set()

    assert ("PD451" in codes) == is_read


@pytest.mark.parametrize(
    ("sentence", "is_said"),
    [
        ("The gateway emits duplicate `function.arguments` chunks, so the JSON is invalid.", True),
        ("In a stream the arguments of the tool call are sometimes repeated, which breaks the client.", True),
        ("The tool call fails, and a client should not repeat the arguments.", False),
    ],
)
def test_arguments_that_a_report_says_came_twice(sentence, is_said):
    text = f"# Bug: tool calls are broken\n\n{sentence}\n\n```bash\n{ASKED.partition(' |')[0]}\n```\n"

    assert ("a call got its arguments more than once" in said(text)) == is_said


NOTEBOOK = """```
ValueError                                Traceback (most recent call last)
<ipython-input-3-1> in <module>
----> 1 agent.chat("what is the weather")

/usr/lib/python3.10/site-packages/llama_index/agent/openai_agent.py in chat(self, m
```
"""


def test_a_heading_gives_the_words_of_an_error_whose_traceback_lost_them():
    assert "The tool `shell` is not registered" in said(
        f"# Agent: ValueError: Tool with name shell not found\n\n{NOTEBOOK}"
    )
    assert "its words were not copied" in said(f"# The agent fails\n\n{NOTEBOOK}")


@pytest.mark.parametrize(
    "piece", ["duplicated arguments `{", '{"a": 1}{', "arguments of the tool call are ", "✿FUNCTION✿ f "]
)
def test_what_sentences_say_of_arguments_is_read_in_linear_time(piece):
    def run(size):
        with contextlib.suppress(RequestError):
            read_evidence("# Tool calls fail\n\n" + piece * size)

    assert grows_linearly(run, first=100)


def test_an_answer_that_ends_in_its_text_is_not_passed_over_beside_its_request():
    asked = '```\n{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}\n```\n'
    cut = '```\n{"model": "m",\n  "created_at": "2026",\n  "message": {"role": "assistant",\n    "content": "I looked'

    evidence = read_evidence(f"I send:\n{asked}It responds:\n{cut}\n")

    assert any("answer in the text is not complete" in note for note in evidence.notes)
    assert not any("not complete" in note for note in read_evidence(f"I send:\n{asked}It responds:\n").notes)


def test_a_conversation_in_a_fence_is_not_read_as_the_first_of_its_answers():
    call = '{"id": "a1", "type": "function", "function": {"name": "f", "arguments": "{}"}}'
    turns = f'{{"role": "assistant", "content": "", "tool_calls": [{call}]}},\n'
    turns += '{"role": "tool", "tool_call_id": "a1", "content": "1"},\n'
    turns += '{"role": "assistant", "content": "", "tool_calls": [{"id": "", "type": "function"}]},\n'
    turns += '{"role": "tool", "tool_call_id": "", "content": "No such tool."}'
    report = (
        f"# Empty id\n\n**Which version?**\n1.2\n\n```\n{turns}\n```\n\nThe answer has a call with an empty id:\n\n"
    )

    assert "PD142" in {
        one.code for one in shown(f"{report}```\n[Server Error] Invalid 'messages' in payload.\n```\n").findings
    }


def test_colours_and_line_ends_in_caret_notation_are_taken_out():
    head = "^[[1;36m(APIServer pid=7)^[[0;0m ERROR 08-22 21:36:14 [serving_chat.py:250] "
    log = f"{head}Error in preprocessing prompt inputs^M{head}Traceback (most recent call last):^M{head}  File "
    log += f'"/a/transformers/tokenization_utils_base.py", line 1640, in apply_chat_template^M\n{head}    x = y(^M\n'

    assert any("breaks off in tokenization_utils_base.py line 1640" in note for note in read_evidence(log).notes)


def test_a_stream_that_an_open_fence_cuts_is_said_to_be_incomplete():
    start = '{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "{"}}'
    event = 'data: {{"id": "c", "object": "chat.completion.chunk", "choices": [{{"index": 0, "delta": {}}}]}}\n\n'
    events = event.format(f'{{"role": "assistant", "tool_calls": [{start}]}}')
    events += event.format('{"tool_calls": [{"index": 0, "function": {"arguments": "\\"a\\":"}}]}')

    assert (
        "the pasted stream is incomplete" in said(f"# Arguments are missing\n\n```\n\n{events}{events[:90]}\n").lower()
    )


@pytest.mark.parametrize(
    ("sentence", "is_read"),
    [
        ("The malformed stream is sent by the gateway. ProxyX writes an unsupported `thinking_delta` into it.", False),
        ("Error: unsupported value `high` of `reasoning_effort`. Supported values are: low, medium.", True),
        ("unsupported value `high` of `reasoning_effort`", True),
    ],
)
def test_two_sentences_of_a_person_are_not_an_error(sentence, is_read):
    try:
        is_error = read_evidence(f"# Calls through ProxyX to an LLM\n\nIt is odd.\n\n{sentence}\n").error is not None
    except RequestError:
        is_error = False

    assert is_error == is_read


def test_a_stream_that_a_client_of_anthropic_refuses_is_explained():
    report = "# `/v1/messages` fails\n\nThe client says:\n\n```\nAPI Error: Content block is not a text block\n```\n"

    assert "keep to the order of Anthropic's events" in said(report)


@pytest.mark.parametrize(
    ("line", "is_read"),
    [
        ("`content='' additional_kwargs={'tool_calls': [{}]} response_metadata={'finish_reason': 'tool_calls'}`", True),
        ("I see `content='' additional_kwargs={'tool_calls': []}` and then an error.", False),
        ("`content='' is what it prints`", False),
    ],
)
def test_an_answer_in_backticks_on_its_own_line_is_read(line, is_read):
    call = "{'id': 'a', 'function': {'arguments': '{\"city\": \"Oslo\"}', 'name': 'look'}, 'type': 'function'}"
    text = f"# Tools with an LLM\n\nI get this from it:\n\n{line.replace('[{}]', f'[{call}]')}\n\nIt fails.\n"

    try:
        chat = read_evidence(text).chat
    except RequestError:
        chat = None

    assert (chat is not None) == is_read


def test_lines_in_backticks_are_read_in_linear_time():
    def run(size):
        with contextlib.suppress(RequestError):
            read_evidence("Words.\n" + "`content='" + "' additional_kwargs={} " * size + "\n")

    assert grows_linearly(run, first=100)
