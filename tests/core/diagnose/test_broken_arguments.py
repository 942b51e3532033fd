"""Arguments that are not JSON are told apart by how they are broken."""

from __future__ import annotations

import pytest

from prompt_debugger.core.diagnose.broken_arguments import Break, break_of, is_shortened
from tests.attacks.growth import grows_linearly

KINDS = {
    "{'a': 1}": Break.PYTHON,
    '{"a": None}': Break.PYTHON,
    '{"a": 1}{"a": 2}': Break.JOINED,
    '{"a": 1}, {"b": "x': Break.JOINED,
    '{"a": "b': Break.CUT,
    '{"a": 1': Break.CUT,
    '{"a": tr': Break.CUT,
    '{"a": "\\u12': Break.CUT,
    '{"a": "say <tool_call> and then go on': Break.CUT,
    '{"a": 1}]': Break.TRAILING,
    '{\\"a\\": \\"b\\"}': Break.ESCAPED,
    '{"a": "x\ny"}': Break.CONTROL,
    '```json\n{"a": 1}\n```': Break.WRAPPED,
    'Here: {"a": 1}': Break.WRAPPED,
    '{"a": 1}<|im_end|>': Break.MARKUP,
    "[1]": Break.NO_OBJECT,
    "{a: 1}": Break.OTHER,
    '{"a" 1}': Break.OTHER,
    "city=Paris": Break.OTHER,
}


@pytest.mark.parametrize(("text", "kind"), KINDS.items(), ids=repr)
def test_each_way_to_break_arguments_has_its_name(text: str, kind: Break) -> None:
    fault = break_of(text)

    assert fault is not None
    assert fault.kind is kind
    assert 0 <= fault.span.start <= fault.span.stop <= len(text)


@pytest.mark.parametrize("text", ["", "  ", "{}", '{"a": "{\'b\': True}"}', '"{}"'])
def test_an_object_a_blank_and_a_string_are_left_alone(text: str) -> None:
    assert break_of(text) is None


@pytest.mark.parametrize("flood", ['{"a": 1}', "{'a': ", '{"a": "', "<tool_call>", "[" * 50, "```", "{ ", '\\"', "{a"])
def test_arguments_are_read_in_linear_time(flood: str) -> None:
    assert grows_linearly(lambda size: break_of.__wrapped__(flood * size), first=500, tries=2, doublings=4)


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ('ty": "Oslo"}', Break.BEHEADED, "their beginning is missing"),
        ('{"a": 1}{"a": 1}', Break.JOINED, "they are 2 JSON objects end to end, all identical"),
        ('{"a": 1}{"a": 1}{"a": 1}', Break.JOINED, "they are 3 JSON objects end to end, all identical"),
    ],
)
def test_a_break_is_named_and_said(text: str, kind: Break, words: str) -> None:
    broken = break_of(text)

    assert broken is not None
    assert broken.kind is kind
    assert words in broken.words


def test_objects_that_differ_are_not_called_identical() -> None:
    broken = break_of('{"a": 1}{"a": 2}')

    assert broken is not None
    assert "identical" not in broken.words


@pytest.mark.parametrize(
    ("text", "words"),
    [("{'a': 'b", "inside a string"), ("{'a': [1", "before ']}' closes them")],
)
def test_where_python_breaks_off_is_said(text: str, words: str) -> None:
    broken = break_of(text)

    assert broken is not None
    assert words in broken.words


@pytest.mark.parametrize("value", [None, 1, {"a": "..."}, ["..."]])
def test_what_is_no_text_was_not_shortened(value: object) -> None:
    assert not is_shortened(value)
