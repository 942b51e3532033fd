"""What touches a cut edge, or what copying put around a text, proves nothing; next to each stands what still proves."""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence
from prompt_debugger.core.evidence.clean import clean
from prompt_debugger.core.evidence.log_columns import joined_entries

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
def test_what_stands_around_a_text_is_taken_off(text):
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
