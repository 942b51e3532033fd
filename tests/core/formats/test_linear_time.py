"""Reading and detection take time in proportion to the text, whatever the text is.

Costs are processor time of this process, of a text and of one four times as long: near 4 is linear,
near 16 quadratic. A cost is measured again before it is believed.
"""

from __future__ import annotations

import time

import pytest

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.formats import FORMATS, score_formats
from prompt_debugger.core.parse import build_ledger
from prompt_debugger.core.parse.typed_values import value_from_text
from tests import strategies

pytestmark = pytest.mark.slow

SHORT, LONG = 4_000, 16_000
TRIES = 4
SLACK_S = 0.02  # what a scheduler or a garbage collector adds
CONTEXT = ReadContext(tools=(strategies.tool_for("get_weather", {"city": "x"}),))

# What may follow a marker for ever; models that loop write some of it.
RUNS = (
    " ",
    "\n",
    '"',
    "'",
    "`",
    "\\",
    "{",
    "[",
    "(",
    "a",
    '{"a":',
    '{"a',
    "[f(a=",
    "{'a':",
    "</",
    '="',
    "x ",
    "f:0",
    "1,",
)
PLAIN = (
    "<tool_call>", "<function=", "<function=f>\n<parameter=a>\n", "<function_calls> ", "<invoke name=", "[TOOL_CALLS]",
    "[TOOL_CALLS]a[ARGS]", " to=f<|message|>", "<|channel|>", "<think>", "</think> ", "a </think> b", "get_weather(",
    '[get_weather(city="', "[get_weather(city='a' b\n", '{"name": "get_weather", "arguments": {}}\n', "</parameter> x",
    "```\n<tool_call>{}</tool_call>\n", "~~~\n", "<arg_key>a</arg_key>", "call:f{a:", ">>>f\n{", "}</tool_call>",
    "<|start|>assistant<|channel|>analysis<|message|>x", "analysis", "<", "<|", " <|im_end|>", "\u2028", "[{'a': ",
    "$", '\\"', '"a', "'a", "```json\n{", "Action: ```json\n[",
)  # fmt: skip


def texts_of(marker: str) -> list[tuple[str, str, str]]:
    """Return beginning, repeated part and end of texts made to hurt anyone who looks for a marker."""
    return [
        ("", marker, ""),
        ("", f"{marker} ", ""),
        ("", f"{marker}\n", ""),
        ("", f"{marker}x", ""),
        ("```\n", marker, "\n```"),
        ("`", marker, "`"),
        *((marker, run, "") for run in RUNS),
        *(("", f"{marker}{run}", "") for run in ('{"', "[{", "f{a:", "f(a='", "f(a=[", "<f>", '="')),
    ]


def grow(shape: tuple[str, str, str], length: int) -> str:
    """Return a text of about a length."""
    head, part, tail = shape
    return head + part * (length // len(part)) + tail


def cpu_seconds(work, text: str) -> float:
    """Return the processor time of a work on a text."""
    began = time.process_time()
    work(text)
    return time.process_time() - began


def growth(work, shape: tuple[str, str, str]) -> str | None:
    """Return what a work costs on a text and one four times as long, if that is out of proportion."""
    short, long = grow(shape, SHORT), grow(shape, LONG)
    if cpu_seconds(work, long) <= SLACK_S:
        return None
    low = high = float("inf")
    for _ in range(TRIES):
        low, high = min(low, cpu_seconds(work, short)), min(high, cpu_seconds(work, long))
        if high <= 7 * low + SLACK_S:
            return None
    return f"{shape}: {low:.3f} s, {high:.3f} s"


def markers_of(name: str) -> list[str]:
    """Return what the format is detected by."""
    return list(dict.fromkeys(mark.text for mark in FORMATS[name].marks))[:1]


def read_with(name: str):
    """Return a work: detection and reading by one format."""
    model_format = FORMATS[name]

    def work(text: str) -> None:
        model_format.match(text, CONTEXT)
        model_format.read(text, CONTEXT)

    return work


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_format_reads_its_own_markers_in_linear_time(name):
    shapes = [shape for marker in markers_of(name) for shape in texts_of(marker)]

    assert [shown for shape in shapes if (shown := growth(read_with(name), shape))] == []


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_format_reads_any_looping_output_in_linear_time(name):
    shapes = [("", part, "") for part in (*PLAIN, *RUNS)]

    assert [shown for shape in shapes if (shown := growth(read_with(name), shape))] == []


def test_detection_takes_linear_time():
    shapes = [("", part, "") for part in PLAIN]

    assert [shown for shape in shapes if (shown := growth(lambda text: score_formats(text, CONTEXT), shape))] == []


def test_the_ledger_takes_linear_time():
    def work(text: str) -> None:
        parsed = FORMATS["generic"].read(text, CONTEXT)
        build_ledger(text, parsed, {"content": text[: len(text) // 2] + "x", "reasoning": text[len(text) // 3 :]})

    assert [shown for part in (*PLAIN, *RUNS) if (shown := growth(work, ("", part, "")))] == []


UNENDED = {  # what begins a name or a value, of which nothing else comes
    "qwen3_coder": ("<tool_call>\n<function=", "<function=f>\n<parameter=", "<function=f>\n<parameter"),
    "minimax_m2": ("<invoke name=", "<invoke", '<invoke name="f">\n<parameter name=', '<invoke name="f">\n<parameter'),
    "longcat": ("<longcat_tool_call>f\n<longcat_arg_key>", "<longcat_tool_call>f\n<longcat_arg_key>a"),
    "glm45": ("<tool_call>f\n<arg_key>", "<tool_call>f\n<arg_key>a"),
    "kimi_k3": ("<|open|>",),
}


@pytest.mark.parametrize("name", sorted(UNENDED))
def test_a_name_that_does_not_end_is_read_in_linear_time(name):
    """4,000 spaces after `<function=` took 13 s."""
    shapes = [(marker, run, "") for marker in UNENDED[name] for run in (" ", "\n", "\t\n", "a", "a ")]

    assert [shown for shape in shapes if (shown := growth(read_with(name), shape))] == []


@pytest.mark.parametrize("digits", ["1", "1.", "1e"])
def test_what_begins_as_a_number_is_read_in_linear_time(digits):
    schema = {"type": "number"}

    assert growth(lambda text: value_from_text(text, schema), ("-", digits, "x")) is None
    assert growth(read_with("gemma4"), ("call:f{a:", digits, "x}")) is None
