"""Prose about calls, quoted examples and code are no calls."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.formats import FORMATS, pick_format
from tests import strategies

CONTEXT = ReadContext(tools=(strategies.tool_for("get_weather", {"city": "x"}),))
CALL = '{"name": "get_weather", "arguments": {"city": "Paris"}}'

PROSE = [
    f"Here is the format: {CALL} Do not execute",
    "Use <tool_call> and </tool_call> tags to call tools.",
    f"The model writes <tool_call>{CALL}</tool_call> to call a tool.",
    f"Example: `<tool_call>{CALL}</tool_call>`",
    f'Say "<tool_call>{CALL}</tool_call>" aloud.',
    f"Like this:\n```\n<tool_call>\n{CALL}\n</tool_call>\n```\nThat is all.",
    f"```json\n{CALL}\n```\nThat is it.",
    '```json\n{"name": "my-package", "version": "1.0"}\n```',
    '{"name": "my-package", "parameters": {}}',
    '{"name": "get_weather"}',
    'I would call [get_weather(city="x")] now.',
    'Call get_weather(city="x") for that.',
    '```python\n[get_weather(city="x")]\n```',
    "import functools\nfunctools.reduce(add, [1, 2])",
    "Kimi uses <|tool_call_begin|>functions.x:0 to begin a call.",
    "Sections open with `<|tool_calls_section_begin|>` there.",
    "To do this, write:\n\n<function=get_weather>\n\nand close it.",
    "The `[TOOL_CALLS]` marker precedes a list.",
    "The <think> tag opens reasoning and </think> closes it.",
    "GLM writes <tool_call>get_weather</tool_call> for no arguments.",
    'A template: <tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>',
    "In harmony, `<|channel|>final` marks the answer.",
    "｜DSML｜ is a marker.",
    'Markup such as <invoke name="x"> is XML.',
    "Trailing newlines before </think> must be stripped.",
    "Double quotes: ``</think>`` ends it.",
    "I see <|DSML|tool> and <|DSML|toolcalls> there.",
    "Write <tool_call> syntax with care.",
    "[1, 2, 3]",
    '{"temperature": 21}',
]


@pytest.mark.parametrize("raw", PROSE)
def test_prose_gives_no_call_and_stays_content(raw):
    parsed = pick_format(raw, CONTEXT).read(raw, CONTEXT)

    assert parsed.calls == ()
    assert parsed.content == raw


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("raw", PROSE[:4])
def test_no_family_takes_a_quoted_example_for_a_call(name, raw):
    parsed = FORMATS[name].read(raw, CONTEXT)

    assert parsed.calls == ()


def test_a_real_call_after_a_quoted_one_is_found():
    quoted = f"```\n<tool_call>\n{CALL}\n</tool_call>\n```"

    parsed = pick_format(quoted, CONTEXT).read(f"{quoted}\nNow for real:\n<tool_call>\n{CALL}\n</tool_call>", CONTEXT)

    assert len(parsed.calls) == 1
    assert parsed.content == f"{quoted}\nNow for real:"


MENTIONS = (
    "Wrap the call in {} tags.\n",
    "Wrap the call in {} tags.",
    "The model writes {}.",
    "It ends with {}",
    "It ends with {}\n",
    "First write {}\nand then the name.",
    "What does {} mean?",
    "The {} marker opens a call.\nIt is closed later.\n",
    "The marker is {}\n\nThat is all.",
)


def _markers(name: str) -> list[str]:
    model_format = FORMATS[name]
    texts = {mark.text for mark in model_format.marks if len(mark.text) > 3} | set(model_format.conventions.markers)
    return sorted(texts)


@pytest.mark.parametrize("finish_reason", ["stop", None])
@pytest.mark.parametrize(
    "name", sorted(set(FORMATS) - {"inkling"})
)  # there a marker opens a message wherever it stands
def test_a_sentence_that_mentions_a_marker_calls_nothing(name, finish_reason):
    context = ReadContext(CONTEXT.tools, finish_reason=finish_reason)
    texts = [sentence.format(marker) for marker in _markers(name) for sentence in MENTIONS]

    assert [raw for raw in texts if FORMATS[name].read(raw, context).calls] == []
    assert [raw for raw in texts if pick_format(raw, context).read(raw, context).calls] == []


@pytest.mark.parametrize("raw", ["Let me look.<|tool_call_begin|>", "Let me look.\n<tool_call>\n"])
def test_a_call_that_was_cut_after_its_marker_is_not_a_mention(raw):
    parsed = pick_format(raw, CONTEXT).read(raw, ReadContext(CONTEXT.tools))

    assert [call.status for call in parsed.calls] == ["truncated"]


def test_what_the_server_cut_is_not_a_mention():
    context = ReadContext(CONTEXT.tools, finish_reason="length")

    assert len(FORMATS["kimi_k2"].read("I call the tool <|tool_call_begin|>", context).calls) == 1
