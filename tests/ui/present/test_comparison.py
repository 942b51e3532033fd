"""What the comparison view draws: each stage with its state, values marked where they differ."""

from dataclasses import replace

from hypothesis import given

from prompt_debugger.core.base.types import Request, Trace
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.present.comparison import NamedRun, comparison_payload
from tests.core.diagnose.strategies import traces
from tests.core.tools.experiments.test_runs import changed
from tests.ui.present.traces import dropped_call_trace


def drawn(left, right):
    return unpack_payload(comparison_payload(NamedRun("Run 1", left), NamedRun("Run 2", right)))[0]


def parts(header):
    return {part["title"]: part for part in header["parts"]}


def test_both_sides_have_name_and_verdict():
    sides = drawn(dropped_call_trace(), changed())["sides"]

    assert [(side["letter"], side["name"], side["badge"]) for side in sides] == [
        ("A", "Run 1", "DROPPED"),
        ("B", "Run 2", "DROPPED"),
    ]


def test_a_run_without_prompt_and_output_says_what_would_make_them_known():
    known = dropped_call_trace()
    bare = replace(known, prompt=None, local_prompt=None, raw=None, parse=None)

    assert "raw output of B are not known" in drawn(known, bare)["explanation"]
    assert "Its tokenizer would settle it: name it under Target" in drawn(known, bare)["explanation"]
    assert "raw output of A and B" in drawn(bare, bare)["explanation"]
    assert "tokenizer" not in drawn(known, replace(bare, chat=None))["explanation"]
    assert "tokenizer" not in drawn(known, replace(known, raw=None))["explanation"]


def test_each_stage_says_whether_it_differs():
    header = drawn(dropped_call_trace(), changed())

    assert {title: part["state"] for title, part in parts(header).items()} == {
        "Request": "differs",
        "Prompt": "differs",
        "Raw output": "differs",
        "Message": "differs",
    }
    assert parts(header)["Prompt"]["difference"]["hunks"][0]["added"][0][0].strip() == "Rome"


def test_the_same_run_differs_nowhere():
    header = drawn(dropped_call_trace(), dropped_call_trace())

    assert {part["state"] for part in header["parts"]} == {"same"}
    assert not any(fact[3] for fact in header["facts"])


def test_a_missing_stage_is_neither_same_nor_different():
    header = drawn(dropped_call_trace(), Trace(Request({"messages": []}, "{}")))

    assert parts(header)["Raw output"]["state"] == "missing"
    assert parts(header)["Raw output"]["sentence"] == "B has none."
    assert parts(header)["Message"]["state"] == "missing"


def test_a_changed_text_is_marked_where_it_changed_and_cut_where_it_did_not():
    trace = dropped_call_trace()
    left = replace(trace, chat=replace(trace.chat, message={"content": "same " * 200 + "old end"}))
    right = replace(trace, chat=replace(trace.chat, message={"content": "same " * 200 + "new end"}))

    change = parts(drawn(left, right))["Message"]["changes"][0]

    assert (change["path"], change["word"]) == ("content", "differs")
    assert [text for text, mark in change["left"] if mark == "hard"] == ["old"]
    assert [text for text, mark in change["right"] if mark == "hard"] == ["new"]
    assert " … " in change["left"][0][0]


def test_white_space_alone_is_said_to_be_that():
    trace = dropped_call_trace()
    left = replace(trace, chat=replace(trace.chat, message={"content": "a b"}))
    right = replace(trace, chat=replace(trace.chat, message={"content": "a  b"}))

    part = parts(drawn(left, right))["Message"]

    assert part["changes"][0]["word"] == "whitespace"
    assert "1 of them only in whitespace" in part["sentence"]


def test_very_many_changes_are_cut_with_the_number_told():
    left = Trace(Request({f"k{n}": n for n in range(200)}, ""))
    right = Trace(Request({f"k{n}": -n - 1 for n in range(200)}, ""))

    part = parts(drawn(left, right))["Request"]

    assert len(part["changes"]) == 60
    assert part["sentence"].startswith("200 fields differ")


@given(traces(), traces())
def test_any_two_runs_can_be_drawn(left, right):
    assert drawn(left, right)["sentence"]
