"""A text as it is pasted: taken apart, what copying put around it taken off, and put together as one evidence."""

import html
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Form, Part, read_evidence
from prompt_debugger.core.evidence.copying.clean import clean
from prompt_debugger.core.evidence.reports.blocks import BlockKind
from prompt_debugger.core.evidence.reports.split import split

BODY = {"model": "m", "messages": [{"role": "user", "content": "Weather in Paris?"}]}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"city": "Paris"}'}}
MESSAGE = {"role": "assistant", "content": None, "tool_calls": [CALL]}
ANSWER = {"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}]}
RAW = '<tool_call>\n{"name": "f", "arguments": {"city": "Paris"}}\n</tool_call><|im_end|>'
CURL = f"curl http://localhost:8000/v1/chat/completions \\\n  -d '{json.dumps(BODY, indent=1)}'"
ISSUE = f"""### Describe the bug

I send this:

```bash
{CURL}
```

and get

<details><summary>Answer</summary>

```json
{json.dumps(ANSWER, indent=2)}
```
</details>

I expected something else.
"""


def test_a_report_is_read_block_by_block():
    evidence = read_evidence(ISSUE)

    assert evidence.form is Form.EXCHANGE
    assert evidence.request.body == BODY
    assert evidence.chat.message == MESSAGE
    assert any("left out" in note for note in evidence.notes)


def test_raw_output_and_answer_of_a_report_belong_together():
    text = f"Raw output:\n```\n{RAW}\n```\nResponse:\n```json\n{json.dumps(ANSWER)}\n```"

    evidence = read_evidence(text)

    assert evidence.holds == (Part.RAW, Part.MESSAGE)
    assert evidence.raw == RAW


def test_what_was_expected_is_not_taken_for_what_came():
    other = {**ANSWER, "choices": [{"message": {"role": "assistant", "content": "expected"}, "finish_reason": "stop"}]}
    text = f"Expected:\n```json\n{json.dumps(other)}\n```\nActual:\n```json\n{json.dumps(ANSWER)}\n```"

    evidence = read_evidence(text)

    assert evidence.chat.message == MESSAGE
    assert "The text contains 2 answers; only one was read." in evidence.notes


def test_a_raw_output_with_fences_and_json_of_its_own_stays_whole():
    for raw in (RAW, f"<think>Hm\n```json\n{json.dumps(ANSWER)}\n```\n</think>ok<|im_end|>", f"Let me look.\n{RAW}"):
        assert read_evidence(raw).raw == raw


def test_python_with_json_in_it_stays_python():
    text = (
        'client.chat.completions.create(model="m", messages=[\n'
        '{"role": "user", "content": "a"},\n{"role": "assistant", "content": "b"}\n])'
    )

    assert read_evidence(text).form is Form.REQUEST
    assert len(read_evidence(text).request.messages) == 2


def test_an_interactive_session_is_read_for_what_it_printed():
    text = f">>> r = client.chat.completions.create(**body)\n>>> print(r)\n{ANSWER!r}"

    assert read_evidence(text).chat.message == MESSAGE


def test_text_after_a_command_is_read_for_its_answer():
    text = f"$ {CURL}\n\nThe server says:\n\n{json.dumps(ANSWER)}\n\nWhy?"

    evidence = read_evidence(text)

    assert evidence.request.body == BODY
    assert evidence.chat.message == MESSAGE


@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "".join(f"> {line}\n" for line in text.split("\n")),
        lambda text: "".join(f"{number:4} | {line}\n" for number, line in enumerate(text.split("\n"), 7)),
        lambda text: "".join(f"app-1  | {line}\n" for line in text.split("\n")),
        lambda text: "".join(f"2026-01-02T03:04:05.678Z stdout F {line}\n" for line in text.split("\n")),
        lambda text: "".join(f"    {line}\n" for line in text.split("\n")),
        lambda text: f"\x1b[32m{text}\x1b[0m",
        lambda text: f"```json\n{text}\n```",
        lambda text: f"\ufeff{text}",
        html.escape,
        lambda text: text.replace('"', "\u201d"),
    ],
)
def test_what_copying_put_around_is_taken_off(wrap):
    body = json.dumps(
        {"choices": [{"message": {"role": "assistant", "content": "Hm"}, "finish_reason": "stop"}]}, indent=1
    )

    assert read_evidence(wrap(body)).chat.message["content"] == "Hm"


@pytest.mark.parametrize(
    "text",
    [
        '{"content": "a &amp; b &lt;x"}',
        'He said \u201chi\u201d and "ho"',
        "1 | a\n3 | b",
        "| a |\n| b |",
        "a\n  b",
        "2026-01-02T03:04:05Z a\nb\nc",
    ],
)
def test_what_belongs_to_text_stays(text):
    assert clean(text) == (text, ())


def test_blocks_know_the_line_above_them():
    blocks = split("Model output:\n\n~~~\na\n```\nb\n~~~\nrest\n```\ncut")

    assert [(block.kind, block.text.strip(), block.lead) for block in blocks] == [
        (BlockKind.PROSE, "Model output:", ""),
        (BlockKind.FENCED, "a\n```\nb", "Model output:"),
        (BlockKind.PROSE, "rest", "Model output:"),
        (BlockKind.FENCED, "cut", "rest"),
    ]


def test_an_error_between_sentences_is_the_error_and_not_the_sentences():
    error = "mtmd_tokenize: error: number of media markers in text (0) does not match number of bitmaps (1)"

    evidence = read_evidence(f"Hello,\n\nI get this:\n\n{error}\n\nWhat is wrong?")

    assert "media markers" in evidence.error.message
    assert "Hello" not in evidence.error.message


def test_a_fence_around_everything_is_taken_off():
    for text in (json.dumps({"model": "m", "prompt": "<s>[INST]a[/INST]"}), ISSUE.replace("```", "~~~")):
        assert read_evidence(f"```\n{text}\n```").holds == read_evidence(text).holds


def test_what_no_one_knows_is_refused_with_a_hint():
    with pytest.raises(RequestError) as caught:
        read_evidence("Dear all,\n\nit does not work.\n\n```\nls -l\n```\n")

    assert caught.value.hint
