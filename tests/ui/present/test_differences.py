"""Field by field, what the model wrote beside what the message says."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.text import remove_whitespace
from prompt_debugger.core.base.types import CallMatch, JSONObject
from prompt_debugger.core.parse.ledger import build_ledger
from prompt_debugger.ui.present.differences import align_texts, field_differences
from tests.ui.present.strategies import hostile_texts
from tests.ui.present.traces import RAW_TEXT, dropped_call_trace


def differences_of(message: JSONObject, *, altered: tuple[str, ...] = (), **call):
    """Return the differences of a message whose one call is that of the raw text."""
    trace = dropped_call_trace()
    assert trace.parse is not None
    assert trace.chat is not None
    attempt = replace(trace.parse.parsed.calls[0], **call)
    parse = replace(trace.parse, parsed=replace(trace.parse.parsed, calls=(attempt,)))
    ledger = replace(parse.ledger, matches=(CallMatch(0, 0, altered),))
    return field_differences(parse, ledger, replace(trace.chat, message=message))


def message(arguments: str, name: str = "get_weather", **more) -> JSONObject:
    return {"role": "assistant", "tool_calls": [{"function": {"name": name, "arguments": arguments}}], **more}


def test_arguments_that_came_as_written_do_not_differ():
    assert differences_of(message('{"city": "Paris"}')) == []


def test_altered_arguments_show_both_sides_and_where():
    (found,) = differences_of(message('{"city": "Rome"}'), altered=("arguments",))

    assert (found["target"], found["state"]) == ("tool_calls[0].function.arguments", "hard")
    assert found["written"] == [['{"city": "', ""], ["Paris", "hard"], ['"}', ""]]
    assert found["returned"] == [['{"city": "', ""], ["Rome", "hard"], ['"}', ""]]
    assert found["word"] == "differs in 1 place"
    assert found["char_span"] == [RAW_TEXT.index("{"), RAW_TEXT.index("}") + 1]


def test_white_space_alone_is_soft():
    (found,) = differences_of(message('{"city":"Paris"}'))

    assert (found["state"], found["word"]) == ("soft", "only whitespace differs")
    assert found["written"] == [['{"city":', ""], [" ", "soft"], ['"Paris"}', ""]]


@pytest.mark.parametrize("arguments", [r'{"city": "\u0050aris"}', '{"b": 1, "a": 2}'])
def test_another_spelling_of_one_value_is_distinguished_from_another_value(arguments):
    written = json.dumps(json.loads(arguments), sort_keys=True)

    (found,) = differences_of(message(arguments), arguments=written)

    assert found["state"] == "spelling"


@pytest.mark.parametrize(
    ("written", "returned"), [('{"a": 1}', '{"a": 1.0}'), ('{"a": 1}', '{"a": true}'), ("1", '"1"')]
)
def test_values_that_python_calls_equal_still_differ(written, returned):
    (found,) = differences_of(message(returned), altered=("arguments",), arguments=written)

    assert found["state"] == "hard"


def test_arguments_in_another_notation_are_compared_as_json():
    notation = "<parameter=city>Paris</parameter>"

    assert differences_of(message('{"city": "Paris"}'), arguments=notation) == []
    (found,) = differences_of(message('{"city": "Rome"}'), altered=("arguments",), arguments=notation)
    assert found["written"] == [['{"city": "', ""], ["Paris", "hard"], ['"}', ""]]


def test_an_altered_name_is_a_field_of_its_own():
    (found,) = differences_of(message('{"city": "Paris"}', name="weather"), altered=("name",))

    assert (found["target"], found["state"]) == ("tool_calls[0].function.name", "hard")


def test_text_that_the_message_lacks_or_adds_is_distinguished():
    trace = dropped_call_trace()
    parse = replace(trace.parse, parsed=replace(trace.parse.parsed, content="Hello", reasoning=None))
    chat = replace(trace.chat, message={"content": None, "reasoning": "Hmm"})

    found = {item["target"]: item["state"] for item in field_differences(parse, trace.parse.ledger, chat)}

    assert found == {"content": "missing", "reasoning": "added"}


def test_without_a_message_nothing_differs():
    trace = dropped_call_trace()

    assert field_differences(trace.parse, trace.parse.ledger, None) == []


@given(hostile_texts, hostile_texts)
def test_both_sides_are_whole_and_marks_are_true(written, returned):
    left, right = align_texts(written, returned)

    assert "".join(text for text, _ in left) == written
    assert "".join(text for text, _ in right) == returned
    assert "".join(text for text, mark in left if not mark) == "".join(text for text, mark in right if not mark)
    is_equal = all(not mark for _, mark in (*left, *right))
    assert is_equal == (written == returned)
    if all(mark != "hard" for _, mark in (*left, *right)):
        assert remove_whitespace(written) == remove_whitespace(returned)


def test_long_texts_are_aligned_at_their_ends():
    middle = "a b " * 3_000
    left, right = align_texts("same " + middle + "end", "same x" + middle[::-1] + " end")

    assert left[0] == right[0] == ["same ", ""]
    assert (left[-1], right[-1]) == ([" end", ""], [" end", ""])


@given(hostile_texts, st.lists(st.dictionaries(st.sampled_from(["id", "function", "x"]), hostile_texts), max_size=3))
def test_any_message_is_data(content, calls):
    trace = dropped_call_trace()
    odd: JSONObject = {"content": content, "tool_calls": [*calls]}
    ledger = build_ledger(RAW_TEXT, trace.parse.parsed, odd)

    field_differences(trace.parse, ledger, replace(trace.chat, message=odd))
