"""Forms in which reports show calls that failed: growing prints, choices alone, cut literals, what was expected."""

from __future__ import annotations

import contextlib
from math import isqrt

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.evidence.reports.leads import is_of_other
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import codes, shown

CALL = '<tool_call>\\n{"name": "get_time", "arguments": {}}\\n</tool_call>'
INVOKE = (
    '<minimax:tool_call>\\n<invoke name=\\"run\\">\\n<parameter name=\\"cmd\\">ls</parameter>\\n</invoke>\\n'
    "</minimax:tool_call>"
)


def grown(*texts: str) -> str:
    return "\n".join(f"[{{'role': 'assistant', 'content': {text!r}}}]" for text in texts)


def test_of_an_answer_that_was_printed_while_it_grew_the_last_print_is_read():
    texts = (" [FUN", " [FUNCTION] get_time\n[ARGS]", ' [FUNCTION] get_time\n[ARGS] {"zone"')
    trace = shown(grown(*texts))

    assert trace.chat is not None
    assert trace.chat.message["content"] == texts[-1]
    assert [one.code for one in trace.findings if one.code == "PD426"]


def test_what_it_lacks_is_not_held_against_an_answer_that_may_go_on():
    assert codes(grown("The", "The wea", "The weather")) == []


@pytest.mark.parametrize("texts", [("The", "A", "The weather"), ("The", "The wea"), ("The", "The", "The")])
def test_lines_that_do_not_grow_are_no_prints_of_one_answer(texts):
    with contextlib.suppress(RequestError):
        assert "while it grew" not in read_evidence(grown(*texts)).words


def test_prints_of_a_growing_answer_are_read_in_linear_time():
    def read(size: int) -> None:
        read_evidence(grown(*("a" * one for one in range(1, isqrt(size)))))

    assert grows_linearly(read, first=20_000)


def test_choices_alone_are_an_answer():
    choice = (
        f'{{"index": 0, "finish_reason": "stop", "message": {{"role": "assistant", "content": "{_escaped(CALL)}"}}}}'
    )

    assert "PD426" in codes(f"[{choice}]")
    assert "PD426" in codes(f"Testing qwen:\n[\n  {choice}\n]\nNo tool_calls here.\nTesting another:")


def _escaped(text: str) -> str:
    return text.replace('"', '\\"')


def test_a_cut_answer_that_python_printed_is_read_as_far_as_it_is_whole():
    printed = f"{{'id': 'chatcmpl-1', 'choices': [{{'index': 0, 'message': {{'role': 'assistant', 'content': '{CALL}', "
    printed += "'tool_calls': []}, 'finish_reason': 'stop'}], 'usage': {'prompt_tok"

    assert "PD426" in codes(f"Here is what I get:\n\n`{printed}")
    assert "PD426" in codes(f"Here is what I get:\n\n{printed}")


def test_text_blocks_with_markup_are_an_answer_and_a_tools_result_is_none():
    assert "PD426" in codes(f'{{"content": [{{"type": "text", "text": "{INVOKE}"}}]}}')
    with pytest.raises(RequestError):
        read_evidence('{"content": [{"type": "text", "text": "It is 12 o\'clock."}]}')


@pytest.mark.parametrize(
    ("actual", "wanted"),
    [("MiniMax 实际返回：", "OpenClaw 期望："), ("Tatsächlich kommt:", "Erwartet:"), ("Actual:", "Expected:")],
)
def test_what_was_expected_is_not_taken_for_what_came(actual, wanted):
    came = f'{{"content": [{{"type": "text", "text": "{INVOKE}"}}]}}'
    right = '{"content": [{"type": "tool_use", "id": "toolu_1", "name": "run", "input": {"cmd": "ls"}}]}'
    shape = INVOKE.replace('\\"', '"').replace("\\n", "\n").replace("ls", "...")
    text = f"{actual}\n```json\n{came}\n```\n\n{wanted}\n```json\n{right}\n```\n\nThe form:\n```xml\n{shape}\n```\n"

    assert codes(text) == ["PD426"]
    assert shown(text).raw is None


@pytest.mark.parametrize(
    ("lead", "is_other"),
    [("期望的返回", True), ("但是实际返回", False), ("ожидаемый ответ:", True), ("Pero me devuelve", False)],
)
def test_leads_in_other_languages(lead, is_other):
    assert is_of_other(lead) is is_other


def test_what_tgi_says_of_a_cut_call_is_told_and_not_called_hidden():
    text = (
        "I always get this:\n```\n422 Client Error: Unprocessable Entity for url: https://example.com/v1\n\n"
        'Tool error: Failed to parse generated text: EOF while parsing a string at line 4 column 349 "{\\n  '
        '\\"function\\": {\\n    \\"_name\\": \\"f\\"\n```\n'
    )
    trace = shown(text)

    assert [one.code for one in trace.findings] == ["PD445"]
    assert "max_tokens" in trace.findings[0].fix
    assert "not shown" not in trace.verdict.sentence


AGNO = """WARNING  Could not run function get_stock(properties={'symbol': 'A'}, type=object)
ERROR    2 validation errors for get_stock
         symbol
           Missing required argument [type=missing_argument, input_value=ArgsKwargs((), {'properti...ct'}),
         input_type=ArgsKwargs]
"""


def test_an_entry_of_a_log_goes_on_in_its_column():
    trace = shown(AGNO)

    assert "shape of the tool's schema" in trace.verdict.sentence
    assert "`get_stock`" in trace.findings[0].detail


@pytest.mark.parametrize("who", ["Agent", "assistant", "助手"])
def test_a_call_that_a_transcript_shows_is_read(who):
    text = f'User: free -m\n{who}: {{"name": "run", "arguments": {{"cmd": "free -m"}}}}\nI will run it.\nUser: and?\n'

    assert codes(text) == ["PD463"]


def test_a_setting_in_a_text_is_no_call():
    with pytest.raises(RequestError):
        read_evidence('Please look at this.\nSettings: {"name": "run", "arguments": {"cmd": "free -m"}}\nThat is all.')


def test_what_zhipu_refuses_is_known_in_the_words_of_a_report():
    assert codes("GLM-4 返回 messages[2]:content和tool_calls 字段不能同时为空，但是我只有content为空。") == ["PD100"]


def test_of_two_outputs_the_one_that_is_whole_is_read():
    whole = INVOKE.replace('\\"', '"').replace("\\n", "\n")
    other = "[Calling tool: run with arguments: {...}]"
    text = f"The visible text is:\n\n```text\n{whole}\n```\n\nor:\n\n```text\n{other}\n```\n"

    assert codes(f"{text}\nThe tool is not executed, and the raw markup is shown in the chat.") == ["PD426"]


def test_what_a_client_tells_the_model_is_no_answer():
    text = (
        "I use Ollama.\n[ERROR] You did not use a tool in your previous response! Please retry with a tool use.\n\n"
        "# Reminder: Instructions for Tool Use\n\nTool uses are formatted using XML-style tags.\n\n"
        "<attempt_completion>\n<result>\nI have completed it...\n</result>\n</attempt_completion>\n"
    )
    trace = shown(text)

    assert [one.code for one in trace.findings] == ["PD445"]
    assert "call was refused" not in trace.verdict.sentence


def test_words_behind_the_last_marker_of_an_output_are_a_persons():
    call = '[TOOL_CALL]\n{tool => "list", args => {\n  --kind "a"\n}}\n[/TOOL_CALL]'
    text = f"### Bug Description\n\n{call}  why does this come?\n\n### Steps\n\n{call}  why does this come?\n"

    assert shown(text).raw is not None
    assert shown(text).raw.text == call
    assert codes(text) == ["PD463"]


def test_lm_studios_log_of_a_calls_end_is_a_log_and_says_so():
    log = (
        "2025-03-20 13:27:13 [DEBUG] \n[SamplingSwitch] Exiting switch 'qwenTools' (triggered by string: "
        '"</tool_call>")\n2025-03-20 13:27:14  [INFO] \n[LM STUDIO SERVER] Client disconnected.\n'
    )
    evidence = read_evidence(log)

    assert evidence.words == "a log of LM Studio"
    assert any("wrote a call up to its closing marker (`</tool_call>`)" in note for note in evidence.notes)
    assert not any("wrote a call" in note for note in read_evidence(log.replace("qwenTools", "reasoning")).notes)


@pytest.mark.parametrize(
    "text",
    [
        "{'median_ns': 70895404,\n 'exceptions': [],\n 'timeouts': 0}",
        "{'query': 'How many?', 'result': True}",
        "{'context': [Document(page_content='To overcome this weakness')], 'question': 'Who?'}",
    ],
)
def test_a_dict_that_python_printed_is_not_taken_for_arguments(text):
    with contextlib.suppress(RequestError):
        assert codes(text) == []


def test_a_dict_that_is_labelled_as_arguments_is_examined_as_them():
    assert codes("\"arguments\": \"{'path': 'a.txt', 'all': True}\"") == ["PD450"]


def test_arguments_that_a_script_printed_below_a_label_may_have_been_an_object():
    trace = shown("Function Name: query\nFunction Arguments: {'queries': ['SELECT 1'], 'all': True}\n")

    assert [one.code for one in trace.findings] == []
    assert trace.chat is not None


def test_a_line_of_a_log_in_json_is_not_taken_for_arguments():
    line = '{"action":"prefill","level":"info","msg":"done","took":45375}'
    with contextlib.suppress(RequestError):
        assert codes(f"{line}\n/opt/x/_migration.py:283: UserWarning: removed\n  warn(it)") == []
    assert codes('{"city": "Oslo"} is what I found.') == ["PD453"]


def test_a_later_piece_of_a_streamed_call_is_no_call_without_a_name():
    with contextlib.suppress(RequestError):
        assert (
            codes('tool_calls": [{"index": 0, "function": {"arguments": ": \'Oslo\'}"}}]}, "finish_reason": null}')
            == []
        )


def test_escapes_of_a_page_are_decoded_where_its_quotes_are_typographic():
    text = "&lt;tool_call&gt;\\n{\\”name\\”: \\”f\\”, \\”arguments\\”: {}}\\n&lt;/tool_call&gt;"
    call = "{”id”: ”c”, ”type”: ”function”, ”function”: {”name”: ”f”, ”arguments”: ”{}”}}"

    assert (
        codes(f"{{”raw”: ”{text}”, ”message”: {{”role”: ”assistant”, ”content”: null, ”tool_calls”: [{call}]}}}}") == []
    )
