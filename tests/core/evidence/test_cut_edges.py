"""What touches a cut edge, or what copying put around a text, proves nothing; next to each stands what still proves."""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.evidence import read_evidence, show_evidence
from prompt_debugger.core.evidence.copying.clean import clean
from prompt_debugger.core.evidence.logs.columns import joined_entries
from tests.attacks.growth import grows_linearly

CALL = '<tool_call>\n{"name": "book", "arguments": {"seat": "12A"}}\n</tool_call><|im_end|>'
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.book:0<|tool_call_argument_begin|>"
    '{"seat": "12A"}<|tool_call_end|><|tool_calls_section_end|><|im_end|>'
)


def codes_of(text):
    try:
        return {finding.code for finding in asyncio.run(show_evidence(read_evidence(text))).findings}
    except RequestError:
        return set()


def table(text):
    cell = text.replace("\n", "<br>").replace("|", "\\|")
    return f"| release | output |\n| --- | --- |\n| 0.30 | {cell} |"


@pytest.mark.parametrize(
    "text",
    [
        table(CALL),
        f"This is what I see:\n{table(CALL)}\nWhat is wrong?",
        "\n".join(part for line in table(CALL).split("\n") for part in (line[:72], line[72:]) if part),
        f">>> print(answer)\n{CALL}\n>>> ",
        f"$ cat out.txt\n{CALL}\n$ ",
    ],
)
def test_what_is_around_a_text_is_taken_off(text):
    assert CALL in clean(text).text


def test_a_table_of_settings_stays():
    assert clean("| flag | value |\n| --- | --- |\n| `--port` | 8000 |").text.startswith("| flag")


def test_html_within_a_call_is_no_call_that_the_model_made_up():
    assert "PD426" not in codes_of('{"role": "assistant", "content": "<tool_call><br>{\\"name\\": \\"book\\"}"}')


@pytest.mark.parametrize(
    "second",
    [KIMI.replace('"', "\u201d"), json.dumps(KIMI), json.dumps({"raw": KIMI, "message": {"role": "assistant"}})],
)
def test_of_two_things_each_is_copied_in_its_own_way(second):
    first = '{"role": "assistant", "content": "Which seat?"}'

    assert "PD308" not in codes_of(f"{first}\n\n{second}")


@pytest.mark.parametrize("quote", ["\u201d", '\\"', '\\\\\\"'])
def test_quotes_that_copying_changed_are_no_fault_of_the_model(quote):
    assert "PD308" not in codes_of(f"Look:\n{KIMI.replace(chr(34), quote)}")


def test_broken_arguments_of_a_model_are_told():
    assert "PD308" in codes_of(KIMI.replace('"seat": ', '"seat" '))


@pytest.mark.parametrize(
    "text",
    [
        f"1: {KIMI[KIMI.index('ok:0') :]}",
        f"$ {KIMI[KIMI.index('ok:0') :]}",
        f"</tool_call><|im_end|>\n\n{KIMI[KIMI.index('ok:0') :]}",
        f"Look at this\n\n{KIMI[KIMI.index('k:0') :]}",
        KIMI.replace('{"seat": "12A"}<|tool_call_end|', "<\u2026"),
        KIMI.replace('argument_begin|>{"seat": "12A"}<|tool_call_end|', "argument_begin|\u2026"),
    ],
)
def test_half_a_header_is_no_wrong_header(text):
    assert "PD404" not in codes_of(text)


def test_a_wrong_header_is_told():
    assert "PD404" in codes_of(KIMI.replace("functions.book:0", "book:0"))


@pytest.mark.parametrize(
    "text",
    [
        '{"content": "<tool_call>\\n{\\"name\\": \\...lls": []}, "finish_reason": "stop", '
        '"usage": {"completion_tokens": 9}}',
        "Message(id='m', content=[ToolUseBlock(id=(truncated)put={'seat': '12A'}, name='book', type='tool_use')], "
        "role='assistant', stop_reason='tool_use', type='message')",
        '{"model": "m", "messages": [{"role": "user", "content": "Book a se\u2026t", "function": {"name": "book"}}]}',
        '[{"index": 0, "id": "c", "type": "function", "function": {"name": "book", "arguments": ""}}]}, '
        '"finish_reason": null}]}',
        "{'choices': [{'message': {'content': None, 'tool_calls\u2026A\"}'}}]}, 'finish_reason': 'tool_calls'}]}",
        "Message(id='m', content=[ToolUseBlock(id='t', input={'\u2026A'}, name='book', type='tool_use')], "
        "role='assistant', stop_reason='tool_use', type='message')",
        ' {"name": "book", "arguments": ""}}]}, "finish_reason": null}]}',
        "ChatCompletion(id='x', choices=[Choice(finish_reason='stop', index=0, message=ChatCompletionMessage(content="
        "'<tool_call>\\n{\"name\": \"bo<snip>A\"}}\\n</tool_call>', role='assistant', tool_calls=[]))])",
        '{"raw": "<tool_call>\\n{\\"name\\": \\"book\\", \\"\u2026A\\"}}\\n</tool_call><|im_end|>", "message": {'
        '"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "book", "arguments": "{}"}}]}}',
        '{"raw": "<tool_call>\\n{...book\\", \\"arguments\\": {}}\\n</tool_call><|im_end|>", "message": {'
        '"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "book", "arguments": "{}"}}]}}',
        "{'prompt_tokens': 20, 'completion_tokens': 30}}",
        '{"seat": "12A"}<|tool_call_end|><|tool_calls_sec',
        ' {"seat": "12A"}}\\n</tool_call><|im_end|>\', output_token_ids: None',
        "1 validation error for Cha\u2026sages.0.content\n  Input should be a string [type=string_type, input_value=7]",
    ],
)
def test_a_piece_proves_nothing(text):
    assert (
        codes_of(text)
        & {
            "PD312",
            "PD507",
            "PD105",
            "PD416",
            "PD450",
            "PD452",
            "PD445",
            "PD466",
            "PD412",
            "PD506",
            "PD402",
            "PD426",
            "PD403",
            "PD413",
        }
        == set()
    )


def test_a_tool_that_an_elided_request_may_offer_is_not_called_unknown():
    request = {
        "messages": [{"role": "user", "content": "Book a seat"}],
        "tools": [{"type": "function", "function": {"name": "bo<snip>at", "parameters": {"type": "object"}}}],
    }
    call = {"id": "c", "type": "function", "function": {"name": "book", "arguments": "{}"}}
    answer = {"choices": [{"message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}]}

    assert "PD501" not in codes_of(json.dumps({"request": request, "response": answer}))
    assert "PD501" in codes_of(json.dumps({"request": request, "response": answer}).replace("bo<snip>at", "cancel"))


def test_what_a_snippet_makes_up_is_not_missed_in_a_prompt():
    snippet = (
        "import uuid\nfrom transformers import AutoTokenizer\n\n"
        'messages = [{"role": "user", "content": "Hello"}, {"role": "user", "content": str(uuid.uuid4())}]\n'
        'text = AutoTokenizer.from_pretrained("a/b").apply_chat_template(messages, tokenize=False)\n\n'
    )
    printed = (
        'Prompt: "<|im_start|>user\\nHello<|im_end|>\\n<|im_start|>assistant\\n", Generated text: "Yes.<|im_end|>"'
    )

    assert "PD206" not in codes_of(snippet + printed)
    assert "PD206" in codes_of(snippet.replace("str(uuid.uuid4())", '"Book a seat"') + printed)


def test_a_log_in_a_column_is_one_line_an_entry():
    text = (
        "2026-03-01 10:00:00 ERROR    The field 'tools[0].na   \n"
        "2026-03-01 10:00:00          is wrong, and see http://e\n"
        "2026-03-01 10:00:00          xample.org               \n"
        "2026-03-01 10:00:01 WARNING  Next"
    )

    assert joined_entries(text) == (
        "2026-03-01 10:00:00 ERROR    The field 'tools[0].na is wrong, and see http://example.org\n"
        "2026-03-01 10:00:01 WARNING  Next"
    )
    assert joined_entries("2026-03-01 10:00:00 ERROR    No\n2026-03-01 10:00:01 ERROR    Nor") is None


HEAD = 'data: {"choices": [{"index": 0, "delta": {"role": "assistant", "content": null, "tool_calls": [{"index": 0, '
FIRST = f'{HEAD}"id": "c1", "type": "function", "function": {{"name": "book", "arguments": ""}}}}]}}}}]}}\n\n'
PIECE = 'data: {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{\\"seat\\""}}]}}]}'
ANSWER = {"choices": [{"index": 0, "message": {"role": "assistant", "content": CALL}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    "text",
    [
        f'{FIRST}{PIECE}\n\n{PIECE[:60]}\n\n{{"error": {{"message": "m does not support tools"}}}}',
        f"{FIRST}{PIECE}\n\n{PIECE[:60]}\n\n{FIRST}{PIECE}\n\n{PIECE[:60]}",
    ],
)
def test_a_stream_that_was_copied_up_to_the_middle_of_an_event_did_not_break_off(text):
    assert not codes_of(text) & {"PD320", "PD464", "PD506"}


def test_a_stream_whose_server_stopped_within_an_event_broke_off():
    assert "PD310" in codes_of(f"{FIRST}{PIECE}\n\n{PIECE[:60]}\n")


@pytest.mark.parametrize("sign", ["…", "...", "(truncated)"])
def test_a_call_out_of_which_something_was_taken_is_not_malformed(sign):
    content = CALL.replace('"arguments": {"seat": "12A"}', f'"arguments": {{"seat": {sign}')
    answer = {"choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]}

    assert "PD426" not in codes_of(json.dumps(answer))
    assert "PD308" not in codes_of(KIMI.replace('"seat": ', f'"se{sign}: '))


@pytest.mark.parametrize("cut", ['{...": "12A"}', '{\n...t": "12A"}'])
def test_a_key_whose_beginning_was_taken_is_not_malformed(cut):
    assert "PD308" not in codes_of(CALL.replace('{"seat": "12A"}', cut))


def test_a_key_that_is_nothing_but_a_sign_is_not_what_the_model_wrote():
    message = {"role": "assistant", "content": None, "function_call": {"name": "book", "arguments": '{"…": "12A"}'}}

    with pytest.raises(RequestError, match="No part of the answer is complete"):
        read_evidence(json.dumps({"choices": [{"message": message}]}))


def test_an_escaped_text_of_one_width_is_joined_before_its_escapes():
    text = KIMI.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    wrapped = "\n".join(text[at : at + 72] for at in range(0, len(text), 72))

    assert clean(wrapped).text == KIMI


def test_arguments_that_were_copied_with_their_key_are_whole():
    report = '### Bug\n\nThe answer is wrong:\n\n~~~\n"arguments": {"city": "Bern"}\n~~~\n'

    assert "PD453" not in codes_of(report)
    assert not codes_of('arguments": {"city": "Bern"}}\n</tool_call><|im_end|') & {"PD452", "PD453"}
    assert "PD451" in codes_of('"arguments": {"city": "Bern"}{"city": "Bern"}')


def test_blanks_that_only_indent_do_not_keep_no_break_spaces():
    text = f"  {CALL.partition(chr(10))[2].partition(chr(10))[0]}".replace(": ", ":\u00a0").replace(", ", ",\u00a0")

    assert "\u00a0" not in clean(f"{text}\n\n{json.dumps(ANSWER)}").text


def test_a_header_whose_beginning_was_taken_names_no_tool():
    assert not codes_of(f"<...{KIMI.partition('functi')[2]}")


def test_dots_that_a_model_wrote_into_a_value_stay():
    answer = json.dumps(ANSWER).replace("12A", "12A, ... or later")

    assert "PD426" in codes_of(answer)


def test_the_older_form_of_a_call_without_a_part_is_left_out():
    call = {"name": "book", "arguments": '{"seat(truncated)"12A"}'}
    message = {"role": "assistant", "content": None, "function_call": call}

    assert "PD506" not in codes_of(json.dumps({"choices": [{"message": message}]}))
    call["arguments"] = '{"seat" "12A"}'
    assert "PD506" in codes_of(json.dumps({"choices": [{"message": message}]}))


def test_a_fence_below_an_item_that_a_terminal_broke_is_joined():
    fence = json.dumps(ANSWER)
    text = f"1. I ask.\n2. It says:\n   ```\n   {fence}\n   ```"
    wrapped = "\n".join(line[at : at + 72] for line in text.split("\n") for at in range(0, len(line), 72))

    assert codes_of(wrapped) == codes_of(text)
    assert clean(text).text == text


def test_an_escape_that_a_terminal_broke_is_joined():
    text = CALL.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    width = next(at for at in range(30, 80) if "&quo\n" in "\n".join(
        line[one : one + at] for line in text.split("\n") for one in range(0, len(line), at)
    ))  # fmt: skip
    wrapped = "\n".join(line[one : one + width] for line in text.split("\n") for one in range(0, len(line), width))

    assert clean(wrapped).text == CALL


def test_an_escaped_quote_that_a_terminal_broke_is_joined():
    text = KIMI.replace('"', '\\"')
    place = text.index('\\"') + 1
    command = 'curl localhost \\\n"-d" \\\n"{}"'

    assert clean(f"{text[:place]}\n{text[place:]}").text == KIMI
    assert clean(command).text == command


def test_typographic_quotes_within_a_string_are_those_of_the_text():
    text = json.dumps(json.dumps(ANSWER).replace("\\", "").replace('"', "\u201d"))

    assert "\u201d" not in clean(text).text


def test_a_printed_error_is_read_with_typographic_quotes_and_keeps_its_apostrophes():
    text = "Error code: 400 - [{‘error’: {‘code’: 400, ‘message’: ‘Model doesn’t know `messages`, got: null’}}]"

    assert clean(text).text == (
        "Error code: 400 - [{'error': {'code': 400, 'message': 'Model doesn’t know `messages`, got: null'}}]"
    )


def test_single_typographic_quotes_of_a_sentence_stay():
    text = "It says ‘no tools’: the model’s template doesn’t have them, {as ‘they’ say}."

    assert clean(text).text == text


def test_a_flood_of_typographic_keys_takes_linear_time():
    for unit in ("{‘", "{ ‘a’", "’ ", ",    ‘aaaa"):
        assert grows_linearly(lambda size, unit=unit: clean(unit * size), first=500)


def test_the_end_of_an_answer_is_no_output():
    text = """{'name': 'book', 'arguments': '{"seat": "12A"}'}}]}, 'finish_reason': 'tool_calls'}]}"""

    assert "PD426" not in codes_of(text)


SAID: JSONObject = {"index": 0, "message": {"role": "assistant", "content": CALL}}
OPEN_ANSWER: JSONObject = {"id": "c", "choices": [SAID], "usage": {"n": 1}}
REPORT = "Here is the request:\n\n{}\n\nand this came back:\n\n{}"
ASKED = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Book 12A."}]})


@pytest.mark.parametrize("lost", [1, 2, 3])
@pytest.mark.parametrize("behind", ["", "\n", "\n\nWhat is wrong with it?\n"])
def test_an_answer_below_words_may_lack_its_last_brackets(lost, behind):
    answer = json.dumps({"model": "m", **OPEN_ANSWER}, indent=1 if behind.strip() else None).rstrip("}]\n ")
    whole = f"{answer}{'}' * (3 - lost)}"

    assert "PD406" in codes_of(REPORT.format(ASKED, whole) + behind)


@pytest.mark.parametrize(
    "answer", ['{"city": "Bern", "note": "no answer"', '{"choices": [{"message": {"content": "<tool']
)
def test_json_without_its_end_that_is_no_answer_or_ends_within_a_text_is_left(answer):
    assert codes_of(REPORT.format(ASKED, answer)) == codes_of(f"Here is the request:\n\n{ASKED}\n")
