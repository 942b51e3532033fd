"""Errors that stand in what a person wrote: found in lines, in quotations and within JSON, and not in talk."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence


def finding_of(text):
    return asyncio.run(show_evidence(read_evidence(text))).findings[0]


SPOKEN = {
    'My new model says this each time:\n400 "The maximum prompt length is 900 but the request contains 1200 tokens."\n'
    "What can I do?": "does not fit the server's context",
    "The nightly job with the LLM dies: `Antwort defekt: Unterminated string in JSON at position 512`.\nHelp!": "ends "
    "before its JSON is complete",
    '{"title": "x", "messages": [{"text": "Completion failed: Conversation roles must alternate user/assistant"}]}': ""
    "roles must alternate",
    "POST https://x.example/v1/chat/completions\n\nCaused by:\n    0: 400 Bad Request Reason: "
    '{"message":"messages.2.foo: Extra inputs are not permitted"}\n    1: Invalid Status Code: 400': "not accepted",
    "请求出错：messages[7].content: unexpected end of hex escape": "half of a character",
    "unexpected status 404 Not Found: Unknown error, url: https://x.example/responses": "wrong address",
}


@pytest.mark.parametrize("text", SPOKEN)
def test_an_error_in_a_persons_words_is_found(text):
    assert SPOKEN[text] in finding_of(text).title


@pytest.mark.parametrize(
    "text",
    [
        "There is no `find_book` tool, but the model chose an invalid tool name.",
        "I wrote a poem about tokens, and nobody told me that the prompt must be shorter than that.",
        "The first message must be from me, said the user. We had lunch.\nThe result must follow soon.",
        '{"title": "a list", "items": [{"text": "An empty box must not be sent."}]}',
        "error handling in my cooking app: the soup was too hot and I ate it all the same",
    ],
)
def test_talk_is_no_error(text):
    with pytest.raises(RequestError):
        read_evidence(text)


def test_a_notebooks_traceback_without_its_end_names_its_exception():
    text = (
        "JSONDecodeError                           Traceback (most recent call last)\n"
        "File ~/x/site-packages/litellm/rules.py:17, in check(answer)\n"
        "     16 try:\n"
        "---> 17     read = json.loads(answer)\n"
    )

    found = finding_of(text)

    assert (found.code, found.stage.value) == ("PD445", "parse")
    assert "json.loads(answer)" in found.title


def test_the_fault_of_a_request_within_a_report_is_said():
    text = (
        'Dies laufend:\n`[\n {"role": "user", "content": "a"},\n {"role": "assistant", "content": "b", "tool_calls": '
        '[{"id": "c1", "name": "look", "arguments": "{}"}]}\n]`\n\nDas geht nie.'
    )

    with pytest.raises(RequestError, match="has no `function` object"):
        read_evidence(text)


def test_an_error_with_a_status_that_no_one_knows_is_shown_whole():
    found = finding_of("Error: 422 from the LLM gateway: the flux of the request is out of phase")

    assert "the flux of the request is out of phase" in found.title
    assert "To learn more" in found.fix


def test_what_a_script_prints_of_the_message_is_content():
    script = (
        'client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}], '
        'extra_body={"chat_template_kwargs": {"enable_thinking": False}})\nprint(answer.choices[0].message.content)'
    )
    text = f"I send\n```python\n{script}\n```\nand get\n```\n<think>\nThey greet.\n</think>\n\nHello!\n```"

    shown = read_evidence(text)

    assert shown.raw is None
    assert "PD233" in [found.code for found in asyncio.run(show_evidence(shown)).findings]
    assert read_evidence(text.replace("message.content", "prompt_logprobs")).raw is not None


def test_a_null_in_the_request_is_pointed_at_by_the_servers_traceback():
    body = (
        '{"messages": [{"role": "user", "content": "What is 2 + 3?"}, {"role": "assistant", "content": null, '
        '"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}]}, '
        '{"role": "tool", "tool_call_id": "c1", "content": "5"}]}'
    )
    text = (
        f"It fails:\n\n`curl http://x/v1/chat/completions -d '{body}'`\n\n```\n"
        '  File "/x/site-packages/mlx_lm/server.py", line 6, in content_of\n    for part in content:\n'
        "TypeError: 'NoneType' object is not iterable\n```"
    )

    found = finding_of(text)

    assert (found.code, found.stage.value) == ("PD221", "render")
    assert [one.field for one in found.evidence if one.where == "request"] == ["messages[1].content"]


def test_a_sentence_that_quotes_several_paragraphs_is_read_whole():
    text = "Function look arguments:\n\n<tool_call>\n{}\n</tool_call>\n\nare not valid JSON. Received JSONDecodeError"

    assert "The arguments that the model wrote could not be read" in finding_of(text).title


def test_quotation_marks_that_python_escaped_around_an_error_are_plain():
    words = (
        "an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        "The following tool_call_ids did not have response messages: Look:7"
    )
    printed = repr(f"Error code: 400 - { {'error': {'message': words, 'type': 'invalid_request_error'}}!s}")
    around = "".join(f"'field_{number}': 'value {number}', " for number in range(12))
    text = f"Record was: {{{around}'e': StatusError({printed}), 'i': None}}, {around}'level': (name='A', no=4),"

    title = finding_of(text).title

    assert "with 'tool_calls' must be followed" in title
    assert "\\'" not in title
