"""Arguments that are not JSON are told apart by how they are broken."""

from __future__ import annotations

import pytest

from prompt_debugger.core.diagnose.calls.broken_arguments import Break, break_of
from prompt_debugger.core.diagnose.calls.shortened_arguments import is_shortened
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


@pytest.mark.parametrize(
    ("text", "shown", "words"),
    [
        ('{"a": 1}{"a": 2}', '{"a": 2}', "they are 2 JSON objects end to end"),
        ('{"a": 1}, {"b": "x', '{"b": "x', "they are 2 JSON objects end to end, the last of them cut"),
        ('{"a": 1} ]', " ]", "the object is complete at character 8, and ']' follows it"),
        ('{"a": "b', '{"a": "b', "they end inside a string"),
        ('{"a": "\\u12', '{"a": "\\u12', "they end inside an escape"),
        ('{"a": [1, {"b": 2', '{"a": [1, {"b": 2', "they end before '}]}' closes them"),
        ('{"a": "{[", "b": [1', '{"a": "{[", "b": [1', "they end before ']}' closes them"),
        ('{"a": "\\"", "b": 1', '{"a": "\\"", "b": 1', "they end before '}' closes them"),
        ('{"a": fals', '{"a": fals', "they are incomplete"),
        ('{"a": ', '{"a": ', "they are incomplete"),
        ('{"a": "x\ty"}', "\t", "a tab is unescaped in a string at character 8"),
        ('{"a": "x\x01y"}', "\x01", "the control character '\\x01' is unescaped in a string at character 8"),
        ('```json\n{"a": 1}\n```', '{"a": 1}', "the object is in a code fence"),
        ('Here: {"a": 1} so', '{"a": 1}', "the object is in other text ('Here:')"),
        ('{}: {"a": 1} so', '{"a": 1}', None),
        ('{"a": 1}<|im_end|>', "<|im_end|>", "the marker '<|im_end|>' appears in them at character 8"),
        (
            '{"a\n</parameter>": 1}',
            "</parameter>",
            "a key in them runs into the closing tag '</parameter>' at character 4",
        ),
        ("[1]", "[1]", "they are JSON, but not an object"),
        ("{a: 1}", "a", "the key `a` has no quotation marks"),
        ('{"a": Oslo}', "Oslo", "the value `Oslo` has no quotation marks"),
        ('{"a": Oslo"}', 'Oslo', "the value `Oslo` has no opening quotation mark"),
        ('{"a" 1}', "1", "Expecting ':' delimiter at character 5, near '{\"a\" 1}'"),
        ("{'a': 1}", "{'", "they are a Python dict (single quotes)"),
        ('{"a": None}', ": None}", "they are a Python dict (`None`)"),
        ("{'a': [1, 'b", "{'", "they are a Python dict (single quotes), and they end inside a string"),
        ("{'a': {'b': (1", "{'", "they are a Python dict (single quotes), and they end before ')}}' closes them"),
        ("{'a': b}", "{'", "they are a Python dict (single quotes), and they cannot be read as one"),
        ('{"ci{"city": "Oslo"}', '{"city": "Oslo"}',
         "a broken beginning of 4 characters precedes the complete object, as if it had been sent twice"),
        ('{"cx{"city": "Oslo"}', '{"city": "Oslo"}',
         "a broken beginning of 4 characters precedes the complete object, as if it had been sent twice, and diverges "
         "from it at character 3: '{\"cx' where the object has '{\"city\": \"Oslo\"'"),
    ],
)  # fmt: skip
def test_a_break_is_shown_where_it_is_and_said_in_words(text: str, shown: str, words: str | None) -> None:
    broken = break_of(text)

    assert broken is not None
    assert text[slice(*broken.span)] == shown
    assert words is None or broken.words == words


def test_of_long_arguments_that_are_cut_the_end_is_shown() -> None:
    broken = break_of('{"a": "' + "x" * 100)

    assert broken is not None
    assert tuple(broken.span) == (67, 107)


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ('{"a": "b...', True),
        ('{"a": ...}', True),
        ('{"a": "b", …}', True),
        ('{"a": [1, ..., 9]}', True),
        ('{"a": "say \\\u201cyes\\\u201d"', True),
        ('{"a":\u00a0"b"', True),
        ('{"a": "b\u00a0c"', False),
        ('{"a": "b...", "c": 1', False),
        ('{"a": "b..."}', False),
        ('{"a": <snip>}', True),
        ('{"a": "b', False),
        ('{"a</parameter>": "b...', False),
    ],
)
def test_what_someone_shortened_or_retyped_is_not_called_broken(text: str, *, is_so: bool) -> None:
    assert is_shortened(text) is is_so
