"""What copying does to a text adds nothing to what is said of it; two runs in one text are not mixed."""

from __future__ import annotations

import html
import json
from collections.abc import Callable

import pytest

from prompt_debugger.core.evidence.copying.clean import clean
from prompt_debugger.core.evidence.copying.json_strings import decode_text
from prompt_debugger.core.evidence.copying.markdown_table import unfold_tables
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import findings_or_refusal

CALL = "<tool_call>\n<function=find>\n<parameter=word>\nrain\n</parameter>\n</function>\n</tool_call>"
PAIR = json.dumps(
    {
        "request": {"model": "m", "messages": [{"role": "user", "content": "Why?"}], "max_tokens": 200},
        "response": {
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "So I"}, "finish_reason": "length"}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 200, "total_tokens": 209},
        },
    },
    indent=1,
)
TOKENS = json.dumps(
    {
        "raw": '<|tool_calls_section_begin|><|tool_call_begin|>functions.find:0<|tool_call_argument_begin|>{"word": '
        '"rain"}<|tool_call_end|><|tool_calls_section_end|>',
        "message": {"role": "assistant", "content": None, "tool_calls": []},
    },
    indent=1,
)
LOG = (
    "2026-01-02 10:11:12 [ERROR]\n [m] Failed to generate a tool call: Failed to parse tool call: Unexpected end of "
    "content.\nModel Output: <|start|>assistant<|channel|>commentary to=functions.find<|constrain|>json<|message|>"
    '{"word": "rain\n2026-01-02 10:11:13  [INFO]\n [m] Model generated tool calls:  []'
)


def _on_each_line(change: Callable[[int, str], str]) -> Callable[[str], str]:
    return lambda text: "\n".join(change(number, line) for number, line in enumerate(text.split("\n")))


CHANGES: dict[str, Callable[[str], str]] = {
    "a container's name after the time": _on_each_line(lambda at, line: f"2026-01-02T10:11:{at:02}Z api-1 {line}"),
    "colours without their escape": _on_each_line(lambda at, line: f"[3{at % 8}m{line}[0m"),
    "an item of a list": _on_each_line(lambda at, line: f"   {line}" if at else f"1. {line}"),
    "a page's tags": lambda text: f"<pre><code>{html.escape(text, quote=False)}</code></pre>",
    "a string of Python": repr,
    "comments": _on_each_line(lambda _, line: f"# {line}"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("text", [CALL, PAIR, TOKENS], ids=["a call", "an exchange", "an output and its message"])
async def test_what_is_around_each_line_changes_nothing(text: str, change: Callable[[str], str]) -> None:
    assert await findings_or_refusal(change(text)) == await findings_or_refusal(text)


async def test_a_log_with_its_lines_joined_ends_the_output_where_the_next_entry_begins() -> None:
    assert await findings_or_refusal(LOG.replace("\n", " ")) == await findings_or_refusal(LOG)
    assert "ends inside a string" in (await findings_or_refusal(LOG))[0]


async def test_tokens_with_bars_do_not_end_a_cell() -> None:
    cell = TOKENS.replace("\n", "<br>")

    assert await findings_or_refusal(f"| output |\n|---|\n| {cell} |\n") == await findings_or_refusal(TOKENS)


@pytest.mark.parametrize("text", [CALL, TOKENS], ids=["a call", "an output and its message"])
async def test_a_table_of_one_column_is_no_frame(text: str) -> None:
    assert await findings_or_refusal(
        f"| output |\n|---|\n| {text.replace(chr(10), '<br>')} |\n"
    ) == await findings_or_refusal(text)


async def test_data_as_code_in_a_cell_is_read() -> None:
    cell = TOKENS.replace("\n", " ").replace("|", "\\|")

    assert await findings_or_refusal(
        f"| what | text |\n|---|---|\n| output | `{cell}` |\n"
    ) == await findings_or_refusal(TOKENS)


def _request(*tools: str) -> str:
    offered = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in tools]
    return json.dumps(
        {"model": "m", "max_tokens": 64, "messages": [{"role": "user", "content": "a"}], "tools": offered}
    )


def _answer(name: str) -> dict[str, object]:
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


async def test_an_answer_belongs_to_the_request_that_it_came_with() -> None:
    exchange = json.dumps({"request": json.loads(_request("save")), "response": _answer("save")})

    assert await findings_or_refusal(f"{_request('find')}\n\n{exchange}") == []
    assert await findings_or_refusal(f"{json.dumps(_answer('find'))}\n\n{exchange}") == []
    (found,) = await findings_or_refusal(f"{_request('find')}\n\n{json.dumps(_answer('save'))}")
    assert found == "PD501 The answer calls `save`, which the request does not offer."


async def test_an_answer_of_other_words_is_not_of_an_exchange() -> None:
    exchange = json.dumps({"request": json.loads(_request("save")), "response": _answer("save")})
    other = "content: 'Bears hear the leaves of a birch.'\nfinish_reason: stop\n"

    assert await findings_or_refusal(f"{exchange}\n\n{other}") == []


async def test_an_output_is_not_that_of_a_message_with_other_words() -> None:
    output = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.md"}}\n</tool_call>'
    message = {"role": "assistant", "content": "Bears hear the leaves of a birch and read every line they can."}

    assert not any(one.startswith("PD401") for one in await findings_or_refusal(f"{output}\n\n{json.dumps(message)}"))
    raw = f"I look it up in the notes that we wrote.\n{output}"
    same = {"role": "assistant", "content": "I look it up in the notes that we wrote."}
    found = await findings_or_refusal(f"Raw output:\n\n```\n{raw}\n```\n\n```json\n{json.dumps(same)}\n```\n")
    assert any(one.startswith("PD401") for one in found)


async def test_a_message_above_a_stream_is_no_event_of_it() -> None:
    message = json.dumps(_answer("find")["choices"][0]["message"], indent=1)  # type: ignore[index]  # a list
    piece = {"index": 0, "id": "c2", "type": "function", "function": {"name": "save", "arguments": "{}"}}
    deltas = [{"delta": {"role": "assistant", "tool_calls": [piece]}, "index": 0}, {"delta": {}, "index": 0}]
    stream = "\n\n".join(f"data: {json.dumps({'choices': [one]})}" for one in deltas)

    assert not any("findsave" in one for one in await findings_or_refusal(f"{message}\n\n{stream}\n\ndata: [DONE]"))


async def test_a_request_that_begins_in_its_messages_may_have_set_a_limit() -> None:
    (found,) = await findings_or_refusal(PAIR[PAIR.index('messages"') :])

    assert found == "PD322 The answer was cut by a limit on its tokens."


@pytest.mark.parametrize(
    "text",
    [
        "The window is [5m long, then [10m.",
        "1. Send it\n   {again}",
        "'It is new'",
        "# One\n# Two\n# Three",
        "<p><code>x</code> and <code>y</code></p>",
        "- {a}\nb",
    ],
)
def test_what_is_no_damage_stays(text: str) -> None:
    assert clean(text).text == text


@pytest.mark.parametrize(
    "text", ["[31m", "[0m", "<pre><code>", "1. {\n  ", "'\\n", "2026-01-02T10:11:12Z a-1 x\n", "# {\n"]
)
def test_damage_is_looked_for_in_linear_time(text: str) -> None:
    assert grows_linearly(lambda size: clean(text * (size // len(text))), first=4_000)


@pytest.mark.parametrize("text", ["| <|<br>", "|>", "'"])
def test_tables_and_strings_are_looked_for_in_linear_time(text: str) -> None:
    def run(size: int) -> None:
        unfold_tables("| a |\n|---|\n" + text * size)
        decode_text(text * size)

    assert grows_linearly(run, first=2_000)
