"""What came back is compared with what went in, and each way to differ has its words."""

import json

import pytest

from prompt_debugger.core.base.types import JSONObject, VllmOutcome
from prompt_debugger.core.tools.check.answers import Answer, AnswerCall
from prompt_debugger.core.tools.check.judge import judge

ARGUMENTS: JSONObject = {"place": "zqRome", "days": 3, "text": "a ", "list": [1, {"deep": None}]}
ANSWER = Answer("one", "", (AnswerCall("book", ARGUMENTS),))


def outcome(arguments=None, *, name="book", content=None, reasoning=None, text=None, **more):
    written = json.dumps(ARGUMENTS if arguments is None else arguments) if text is None else text
    calls = ({"id": "1", "type": "function", "function": {"name": name, "arguments": written}},) if name else ()
    return VllmOutcome(reasoning, content, calls, **more)


def cell(given, answer=ANSWER, raw="<call>", **more):
    return judge(answer, given, raw, **{"splits_reasoning": False, **more})


def test_the_same_is_right():
    assert (cell(outcome()).whole, cell(outcome()).problem, cell(outcome()).remark) == (True, None, None)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (outcome({**ARGUMENTS, "days": "3"}), "argument `days` changes its type: number 3 becomes text '3'"),
        (outcome({**ARGUMENTS, "days": True}), "argument `days` changes its type: number 3 becomes boolean True"),
        (outcome({**ARGUMENTS, "text": "a"}), "argument `text` loses whitespace: 'a ' becomes 'a'"),
        (outcome({**ARGUMENTS, "place": "Rome"}), "argument `place` changes: 'zqRome' becomes 'Rome'"),
        (outcome({**ARGUMENTS, "list": [1, {}]}), "argument `list[1].deep` is lost"),
        (outcome({**ARGUMENTS, "more": 1}), "argument `more` is invented"),
        (outcome(text="{"), "its arguments are not JSON: '{'"),
        (outcome(text="[]"), "its arguments are array, not an object"),
        (outcome(name="look"), "its name is 'look' instead of 'book'"),
        (outcome(name=None), "0 of 1 call come back"),
        (outcome(name=None, content="<book>"), "0 of 1 call come back (they are left in the content)"),
        (outcome(content="</s>"), "content is '</s>' although none was written"),
        (VllmOutcome(None, None, (), error="boom"), "it fails: boom"),
    ],
)
def test_each_difference_is_named(given, problem):
    judged = cell(given)

    assert judged.whole is False
    assert judged.problem.startswith(problem)


def test_order_of_keys_and_white_space_around_text_are_not_a_fault():
    reordered = dict(reversed(ARGUMENTS.items()))

    assert cell(outcome(reordered)).remark == "arguments come back in a different order"
    assert cell(outcome(reordered)).is_passed
    assert cell(outcome(content="\n")).is_passed
    assert cell(outcome(content="\n")).remark == "content has different whitespace around it: '\\n'"
    assert cell(outcome({**ARGUMENTS, "days": 3.0})).is_passed


def test_a_call_of_nothing_is_a_fault_where_none_was_written():
    assert cell(outcome(), Answer("text", "", content="hi")).problem.startswith("1 call come back although none")


def test_streaming_that_differs_fails_with_its_smallest_chunking():
    streamed = outcome(stream_equal=False, first_unequal="fed as one delta: …", smallest_split=("<ca", "ll>"))

    judged = cell(streamed)

    assert (judged.whole, judged.streamed, judged.is_passed, judged.split) == (True, False, False, ("<ca", "ll>"))
    assert judged.problem == "streamed differently: fed as one delta: …"


def test_streaming_that_the_clock_stopped_proves_nothing():
    judged = cell(outcome(stream_equal=False, first_unequal="streaming took longer than 5 s and was stopped"))

    assert (judged.streamed, judged.is_passed) == (None, True)


def test_reasoning_is_the_business_of_a_reasoning_parser():
    thinking = Answer("think", "", (AnswerCall("book", ARGUMENTS),), None, "hm")
    raw = "<think>hm</think><call>"

    left = cell(outcome(content="<think>hm</think>"), thinking, raw)
    split = cell(outcome(reasoning="hm"), thinking, raw, splits_reasoning=True)
    swallowed = cell(outcome(reasoning="hm</think>"), thinking, raw, splits_reasoning=True)

    assert (left.whole, left.leaves_reasoning, left.is_passed) == (True, True, False)
    assert split.is_passed
    assert swallowed.problem.startswith("reasoning contains additional text")


def test_a_reasoning_parser_alone_must_leave_the_call_to_be_read():
    kept = cell(outcome(name=None, content="<call>book</call>"), splits_reasoning=True, reads_calls=False)
    eaten = cell(outcome(name=None, reasoning="<call>"), splits_reasoning=True, reads_calls=False)

    assert kept.is_passed
    assert "the calls are not left for a tool parser to read" in eaten.problem
