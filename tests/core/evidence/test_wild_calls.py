"""Tool calls as people show them: within a report, in fragments, printed, in streams of which a part was left out."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Certainty
from prompt_debugger.core.diagnose.fields import returned_calls
from prompt_debugger.core.evidence import read_evidence
from tests.core.evidence.pasted import shown

CALL = "<function=read>\n<parameter=path>\na.md\n</parameter>\n</function>\n</tool_call>"
TOKENS = '<|tool_call_start|>[find(id="7")]<|tool_call_end|>'


def codes(text: str) -> set[str]:
    return {finding.code for finding in shown(text).findings}


@pytest.mark.parametrize(
    "text",
    [
        f"It shows this as text:\n\n```\n{CALL}\n```\n\nThe first call worked.",
        f"The chat window of LM Studio has\n\n```xml\n{CALL}\n```\n\nand stops.",
        f"Ollama never runs the tool, I get this in the client\n\n{CALL}\n\nAny idea?",
    ],
)
def test_a_text_that_a_client_shows_is_read_as_content_without_the_words_around_it(text):
    trace = shown(text)

    assert trace.chat.message["content"].strip() == CALL
    assert [(finding.code, finding.certainty) for finding in trace.findings] == [("PD426", Certainty.INFERRED)]


@pytest.mark.parametrize("text", [f"Let me look.\n\n{TOKENS}", f"Let me look.\n\n{CALL}"])
def test_the_words_of_a_model_before_its_call_belong_to_its_output(text):
    assert shown(text).raw.text == text


def test_a_call_with_its_control_tokens_may_be_content():
    assert "The text is a call to `find`" in shown(TOKENS).verdict.sentence


def test_an_output_that_holds_its_prompt_is_no_content():
    assert "PD463" not in codes(f"<|im_start|>user\nFind 7.<|im_end|>\n<|im_start|>assistant\n{TOKENS}")


def test_a_fragment_is_whole_but_for_the_bracket_that_was_not_copied():
    text = '"tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\'a\': True}"}}]'

    assert codes(text) == {"PD450"}


def test_the_last_of_several_messages_in_a_fragment_is_the_answer():
    text = r'"responseMessages": [{"role": "assistant", "content": "{\"name\": \"f\", \"arguments\": {\"a\": 1}}"}],'

    assert codes(text) == {"PD426"}


def test_calls_that_other_clients_print_are_calls():
    trace = shown("ToolCall(function=Function(name='f', arguments='{\"a\": 1'), id='c')")

    assert [call.name for call in returned_calls(trace)] == ["f"]
    assert "PD320" in {finding.code for finding in trace.findings}


GAPS = """# call 1
ChoiceDeltaToolCall(index=0, id='c1', function=ChoiceDeltaToolCallFunction(arguments='', name='f'), type='function')
ChoiceDeltaToolCall(index=0, id='', function=ChoiceDeltaToolCallFunction(arguments='x', name=None), type='function')
...
# call 2
ChoiceDeltaToolCall(index=0, id='c2', function=ChoiceDeltaToolCallFunction(arguments='', name='f'), type='function')
"""


def test_a_stream_with_gaps_shows_that_an_index_came_twice():
    assert "PD417" in codes(GAPS)


def test_a_stream_with_gaps_shows_that_a_name_came_twice():
    one = 'data: {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f"}}]}}]}'

    assert "PD464" in codes(f"{one}\n...\n{one}\n...\ndata: [DONE]\n")


def test_a_gap_alone_proves_nothing():
    with pytest.raises(RequestError, match=r"shortened"):
        read_evidence(GAPS.partition("# call 2")[0].replace("id=''", "id=None"))


@pytest.mark.parametrize("shortened", ['"tools": [ ... ]', '"messages": [{...}]', '"tools": […]'])
def test_a_command_that_was_shortened_is_said_to_be(shortened):
    command = f'curl http://localhost:8000/v1/chat/completions -d \'{{"model": "m", {shortened}}}\''

    with pytest.raises(RequestError, match=r"left out of the JSON at `...`"):
        read_evidence(command)


def test_a_log_that_begins_with_a_bracket_is_not_said_to_be_json():
    with pytest.raises(RequestError) as caught:
        read_evidence("[server] nothing of interest happened at all, it seems")

    assert "JSON" not in caught.value.message


def test_doubled_braces_of_a_format_string_are_named():
    trace = shown('<tool_call>\n{{"name": "f", "arguments": {"a": 1}}}\n</tool_call>')

    assert "its outer braces are doubled" in trace.verdict.sentence


def test_a_call_of_which_all_braces_are_doubled_has_its_name_and_the_prompt_to_look_at():
    trace = shown('<tool_call>\n{{"name": "f", "arguments": {{"a": "}} {{"}}}}\n</tool_call>')

    call = trace.parse.parsed.calls[0]
    assert (call.name, call.arguments_json) == ("f", {"a": "}} {{"})
    assert trace.parse.raw[slice(*call.arguments_span)] == '{{"a": "}} {{"}}'
    assert "its braces are doubled" in trace.verdict.sentence
    assert "single braces" in trace.findings[0].fix


@pytest.mark.parametrize("inside", ['{{"name": "f", "arguments": {"a": 1}}', '{{"name": "f"', "{{name}}"])
def test_other_broken_objects_have_no_doubled_braces(inside):
    assert "doubled" not in shown(f"<tool_call>\n{inside}\n</tool_call>").verdict.sentence


def test_an_open_call_below_a_command_and_a_sentence_is_read():
    command = "vllm serve org/model --tool-call-parser qwen3_coder\n\nBut it prints\n\nI will look.\n"
    call = "<function=look>\n<parameter=prompt>\nList all the documents."

    evidence = read_evidence(command + call)

    assert evidence.raw == call
    assert evidence.server.tool_parser == "qwen3_coder"


def test_a_sentence_that_begins_with_one_tag_is_no_open_call():
    text = "vllm serve org/model --tool-call-parser qwen3_coder\n\n<function=look> is what it prints, and nothing else."

    assert read_evidence(text).raw is None


def test_a_string_of_which_an_editor_changed_the_first_quote_alone_is_read():
    call = '{"function": {"name": “f", "arguments": "{}"}}'
    text = f'{{"choices": [{{"message": {{"role": "assistant", "tool_calls": [{call}]}}}}]}}'

    assert read_evidence(text).chat.message["tool_calls"][0]["function"]["name"] == "f"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Invalid input for tool read: JSON parsing failed: Text: {'path': 'a'}. Error message: No quotes", "PD450"),
        (
            "Invalid input for tool glob: JSON parsing\nfailed: Text: <parameter=p>*</parameter>.\nError message: x",
            "PD452",
        ),
        ('Invalid input for tool f: JSON parsing failed\nText: {"a":both}\nError: Unexpected identifier', "PD506"),
        ('Invalid input for tool f: JSON parsing failed: Text: {"a": "b".\nError message: Expected }', "PD320"),
        ("invalid [tool=read<arg_key>path</arg_key><arg_value>a</arg_value>]", "PD406"),
    ],
)
def test_a_call_that_a_client_refused_is_read_from_its_words(text, code):
    assert codes(text) == {code}


def test_an_answer_after_an_arrow_is_read():
    text = f'client.messages.create(model="m", tools=[...]) \u2192 {{"type": "text", "text": "{TOKENS}"}}'

    assert codes(text.replace('id="7"', "id=7")) == {"PD463"}


def test_an_output_is_read_with_the_tools_above_it():
    tools = '[{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "required": ["a"]}}}]'
    text = f'Tools: {tools}\n\nOutput:\n<tool_call>\n{{"name": "f", "arguments": {{"b": 1}}}}\n</tool_call>\n'

    assert codes(text) == {"PD514", "PD463"}


def test_arguments_in_a_fence_are_read_below_a_label():
    assert codes(r'call.function.arguments = "```json\n{\"a\": 1}\n```"') == {"PD453"}


def test_a_report_may_show_its_output_twice():
    harmony = "<|start|>assistant<|channel|>commentary to=read <|constrain|>json<|message|>{}"
    text = f"### Summary\nWith LM Studio:\n\n{harmony}\n\nIt repeats.\n\n### Actual\n\n{harmony}\n"

    assert shown(text).raw.text == harmony


def test_calls_that_all_lack_their_beginning_are_shown_as_calls():
    call = 'send:0<|tool_call_argument_begin|>{"a": 1}<|tool_calls_section_end|>'
    text = f"I get:\n\n```\n{call}\n{call}\n```\n"

    assert "may not have been copied" in next(one.detail for one in shown(text).findings if one.code == "PD463")


def test_json_between_markers_for_python_is_a_call():
    trace = shown('I look. <|python_start|>{"name": "f", "parameters": {"a": 1}}<|python_end|>')

    assert [call.name for call in trace.parse.parsed.calls] == ["f"]
    assert "JSON between markers for Python calls" in trace.verdict.sentence


@pytest.mark.parametrize(
    "text",
    [
        '[{"response": {"generations": [[{"text": "CALL", "generationInfo": {"finish_reason": "stop"}}]]}}]',
        "content: 'CALL'",
        '"content": "CALL"',
        "Kimi answers `functions.f:0{}` each time, with CODE.".replace("{}", '{"a": 1}'),
        'Assistant:\n\n<tools>\n{"name": "f", "arguments": {"a": 1}}\n</tools>',
        'Action: ```json\n[{"tool_name": "f", "parameters": {"a": 1}}]\n```',
    ],
)
def test_calls_are_read_in_the_forms_of_clients(text):
    call = (
        r"{\"name\": \"f\", \"arguments\": {\"a\": 1}}"
        if text.startswith(("[", '"'))
        else '{"name": "f", "arguments": {"a": 1}}'
    )

    assert codes(text.replace("CALL", call)) & {"PD426", "PD463"}


def test_arguments_of_several_lines_below_their_label_are_read():
    assert "PD454" in codes('tool call: write\narguments: {"path": "a", "text": "one\ntwo"}\n')


@pytest.mark.parametrize("given", ["OUTPUT", "output", "model_output=output"])
def test_the_output_that_a_script_gives_to_a_parser_is_read(given):
    literal = f'"""{CALL}"""'
    text = (
        "from vllm.tool_parsers.qwen3coder_tool_parser import Qwen3CoderToolParser\n"
        f"output = {literal}\n"
        f"result = Qwen3CoderToolParser(tok).extract_tool_calls({given}, request=None)\nprint(result)\n"
    ).replace("OUTPUT", literal)

    assert shown(text).raw.text == CALL
    assert codes(text) == {"PD463"}


def test_a_script_that_computes_an_output_is_not_read_as_one():
    with pytest.raises(RequestError):
        read_evidence("out = llm.generate(prompt)\nparser.extract_tool_calls(out[0].text, request)\n")


SHELL = '{"index": 0, "id": "c", "function": {"name": "shell", "arguments": ""}}'
ARGUMENTS = r'{"index": 0, "function": {"arguments": "{\"command\": \"ls\"}"}}'


def test_events_that_are_labelled_keep_what_they_show():
    text = f"# The first call of the two:\nChunk 1: {SHELL}\nChunk 2: {ARGUMENTS}\nChunk 3: {ARGUMENTS}\n"

    assert codes(text) == {"PD451"}


def test_events_between_remarks_show_a_name_that_is_the_text_null():
    null = '{"index": 0, "id": "", "function": {"name": "null", "arguments": "{}"}}'
    chunk = 'data: {"choices": [{"index": 0, "delta": {"tool_calls": [CALL]}}]}'
    head, rest = (chunk.replace("CALL", one) for one in (SHELL, null))
    text = f"# the first chunk is as it should be\n{head}\n\n# and then the name is a text\n{rest}\n"

    assert "PD464" in codes(text)


def test_arguments_whose_beginning_a_stream_lost_are_not_taken_for_open_ones():
    rest = r'{"index": 0, "function": {"arguments": "code\": \"uptime\"}"}}'

    assert codes(f"Chunk 1: {SHELL}\nChunk 2: {rest}\n") == {"PD506"}
