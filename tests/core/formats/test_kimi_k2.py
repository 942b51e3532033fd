"""Kimi K2: headers on and off the pattern, sections in every state."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.formats import FORMATS
from tests import strategies

OPEN, CLOSE = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
BEGIN, ARGUMENTS, END = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
TOOLS = tuple(strategies.tool_for(name, {"city": "x"}) for name in ("get_weather", "read_file", "exec", "a.b-c"))


def read(raw, **context):
    return FORMATS["kimi_k2"].read(raw, ReadContext(tools=context.pop("tools", TOOLS), **context))


def call(header, arguments='{"city": "Paris"}'):
    return f"{BEGIN}{header}{ARGUMENTS}{arguments}{END}"


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("functions.get_weather:0", "get_weather"),
        ("get_weather:2", "get_weather"),
        ("get_weather", "get_weather"),
        ("functions.get_weather", "get_weather"),
        ("functions.a.b-c:1", "a.b-c"),
        ("functions_read_file_3", "read_file"),
        ("functionsexec5", "exec"),
        (" functions.get_weather:0\n", "get_weather"),
        ("functions.unknown.tool:7", "unknown.tool"),
    ],
)
def test_the_name_is_found_in_every_header_seen_in_reports(header, name):
    (found,) = read(OPEN + call(header) + CLOSE).calls

    assert (found.name, found.id, found.status) == (name, header.strip(), "complete")


@pytest.mark.parametrize(
    ("header", "tool", "place"),
    [
        ("functions.x:0", "functions.x", (0, 11)),
        ("functions.functions.x:0", "functions.x", (10, 21)),
        ("functions.x", "functions.x", (0, 11)),
        ("functions.x:0", "x", (10, 11)),
        ("ns:3", "ns:3", (0, 4)),
        ("ns:3", "ns", (0, 2)),
        ("functions.:0", "functions.", (0, 10)),
        ("functions.:0", "other", (0, 10)),
        (":0", "other", (0, 2)),
        ("functionsx1:0", "other", (0, 11)),
    ],
)
def test_what_looks_like_a_prefix_or_an_index_may_belong_to_the_name(header, tool, place):
    raw = OPEN + call(header) + CLOSE

    (found,) = read(raw, tools=(strategies.tool_for(tool, {"city": "x"}),)).calls

    start = raw.index(header)
    assert (found.name, found.name_span) == (header[slice(*place)], (start + place[0], start + place[1]))


@pytest.mark.parametrize("header", ["call_ab12cd34", "call00003", "3", "chatcmpl-tool-0f3a"])
def test_a_header_that_is_an_id_without_a_name_makes_a_malformed_call(header):
    (found,) = read(OPEN + call(header) + CLOSE).calls

    assert (found.name, found.id, found.status) == (None, header, "malformed")
    assert found.arguments_json == {"city": "Paris"}
    assert "without a tool name" in found.problem


@pytest.mark.parametrize(
    "raw",
    [
        f"Hm.{call('functions.get_weather:0')}{CLOSE}",
        f"Hm.{OPEN}{call('functions.get_weather:0')}",
        f"Hm.{call('functions.get_weather:0')}",
        f"Hm.<|tool_call_section_begin|>{call('functions.get_weather:0')}<|tool_call_section_end|>",
        f"Hm.{OPEN}\n{call('functions.get_weather:0')}\n{CLOSE}\n",
    ],
)
def test_a_missing_or_misspelled_section_marker_costs_nothing(raw):
    parsed = read(raw)

    assert [(found.name, found.arguments_json, found.status) for found in parsed.calls] == [
        ("get_weather", {"city": "Paris"}, "complete")
    ]
    assert parsed.content == "Hm."


def test_text_before_between_and_after_sections_is_content_to_the_letter():
    one, two = call("functions.get_weather:0"), call("functions.exec:1")

    parsed = read(f" Before. {OPEN}{one}{CLOSE}Between.\n{OPEN}{two}{CLOSE} Behind.<|im_end|>")

    assert parsed.content == " Before. Between.\n Behind."
    assert [found.name for found in parsed.calls] == ["get_weather", "exec"]


def test_markers_inside_a_string_are_part_of_the_string():
    text = f'{{"city": "a {END} b {CLOSE} {BEGIN}x{ARGUMENTS}"}}'

    (found,) = read(OPEN + call("functions.get_weather:0", text) + CLOSE).calls

    assert found.arguments == text
    assert found.status == "complete"


@pytest.mark.parametrize(
    ("arguments", "status", "problem"),
    [
        ('{"city": "Bei', "malformed", "inside a string"),
        ('{"city": 1}}', "malformed", "text follows"),
        ("{'city': 1}", "malformed", "unexpected"),
        ('["Paris"]', "malformed", "a list, not an object"),
        ('"{\\"city\\": 1}"', "complete", "JSON inside a JSON string"),
        ("", "complete", None),
        ("  {}  ", "complete", None),
    ],
)
def test_closed_arguments_are_judged_by_their_json(arguments, status, problem):
    (found,) = read(OPEN + call("functions.get_weather:0", arguments) + CLOSE).calls

    assert (found.arguments, found.status) == (arguments.strip(), status)
    assert (problem or "") in (found.problem or "")
    assert (found.problem is None) == (problem is None)


@pytest.mark.parametrize(
    ("raw", "name", "arguments"),
    [
        (f"{OPEN}{BEGIN}functions.get_", "get_", ""),
        (f"{OPEN}{BEGIN}", None, ""),
        (f"{OPEN}{BEGIN}functions.exec:0{ARGUMENTS}", "exec", ""),
        (f'{OPEN}{BEGIN}functions.exec:0{ARGUMENTS}{{"city": "Bei', "exec", '{"city": "Bei'),
        (f'{OPEN}{BEGIN}functions.exec:0{ARGUMENTS}{{"city": tru', "exec", '{"city": tru'),
        (f'{OPEN}{BEGIN}functions.exec:0{ARGUMENTS}{{"city": "Bei"}}', "exec", '{"city": "Bei"}'),
    ],
)
def test_a_cut_call_is_truncated_with_what_there_is(raw, name, arguments):
    (found,) = read(raw, finish_reason="length").calls

    assert (found.name, found.arguments, found.status) == (name, arguments, "truncated")


def test_whole_arguments_without_a_closing_marker_are_complete_if_nothing_was_cut():
    (found,) = read(f'{OPEN}{BEGIN}functions.exec:0{ARGUMENTS}{{"city": "Bei"}}<|im_end|>').calls

    assert found.status == "complete"
    assert "is missing" in found.problem


def test_a_call_inside_closed_reasoning_is_reported_there_and_stays_reasoning():
    draft = OPEN + call("functions.exec:0") + CLOSE

    parsed = read(f"<think>Maybe {draft}? No.</think>Hello.")

    assert [(found.name, found.place) for found in parsed.calls] == [("exec", "reasoning")]
    assert (parsed.reasoning, parsed.content) == (f"Maybe {draft}? No.", "Hello.")


@pytest.mark.parametrize(("tail", "opener"), [("<think>", ""), ("", "<think>")])
def test_a_call_ends_reasoning_that_no_one_closed(tail, opener):
    parsed = read(f"{opener}I look it up.{OPEN}{call('functions.exec:0')}{CLOSE}", prompt_tail=tail)

    assert parsed.reasoning == "I look it up."
    assert [(found.name, found.place) for found in parsed.calls] == [("exec", "body")]


@pytest.mark.parametrize(
    ("raw", "tail", "reasoning", "content"),
    [
        ("Hm.</think>Hello.", "<think>", "Hm.", "Hello."),
        ("Hm.</think>Hello.", "", "Hm.", "Hello."),
        ("<think>Hm.</think>Hello.", "<think>", "Hm.", "Hello."),
        ("Hm.", "<think>", "Hm.", None),
        ("Hello.", "<think></think>", None, "Hello."),
        ("</think>Hello.", "<think>", "", "Hello."),
        ("<think></think>Hello.", "", "", "Hello."),
        ("Hello.", "Write <think> first<|im_end|><|im_assistant|>assistant<|im_middle|>", None, "Hello."),
        ("I write `</think>` then.</think>Done.", "", "I write `</think>` then.", "Done."),
    ],
)
def test_reasoning_is_split_by_tags_and_by_the_end_of_the_prompt(raw, tail, reasoning, content):
    parsed = read(raw, prompt_tail=tail)

    assert (parsed.reasoning, parsed.content) == (reasoning, content)


def test_a_header_that_swallowed_another_call_is_two_calls():
    garbled = f'{BEGIN}functions.get_weather"}}{END}{call("functions.exec:1")}'

    found = read(OPEN + garbled + CLOSE).calls

    assert [(c.name, c.status) for c in found] == [('get_weather"}', "malformed"), ("exec", "complete")]


def test_arguments_without_their_marker_are_recovered_and_called_so():
    (found,) = read(f'{OPEN}{BEGIN}functions.exec:0{{"city": "x"}}{END}{CLOSE}').calls

    assert (found.name, found.arguments_json) == ("exec", {"city": "x"})
    assert "before the arguments is missing" in found.problem
