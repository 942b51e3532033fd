"""What a peer's parser decides is told apart from what the census misreads."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.peers.__main__ import main
from benchmarks.peers.cases import PeerCase, read_case
from benchmarks.peers.policies import policy_of
from prompt_debugger.core.base.types import JSONObject

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
ESCAPED = "<|tool_call_start|>[f(a=\"b\\n'c'\")]<|tool_call_end|>"
F = ("f", {"a": 1})
TOOL = {"type": "function", "function": {"name": "g", "parameters": {"type": "object", "properties": {}}}}
POLICIES = [
    (PeerCase("", "", f"Hi.\n{CALL}\nBye.", calls=(F,), content="Hi."), "text around calls"),
    (PeerCase("", "", CALL, calls=(), content=CALL), "refuses is left as text"),
    (PeerCase("", "", CALL[:-20], calls=(("f", "{"),)), "cut and broken"),
    (PeerCase("", "", CALL.removesuffix("</tool_call>"), n_calls=0), "without all its tags"),
    (PeerCase("", "", 'See {"name": "f", "arguments": {}} there.', calls=(("f", {}),)), "a call in plain text"),
    (PeerCase("", "", "<think>a</think>b", content="<think>a</think>b", reasoning=""), "switched off"),
    (PeerCase("", "", f"<think>\nHm.\n{CALL}\n</think>\nOk.", calls=(F,)), "inside reasoning"),
    (PeerCase("", "", "<think>a</think>b<think>c</think>d", content="b<think>c</think>d", reasoning="a"), "several"),
    (PeerCase("", "", "I think so.\n\nHere it is.", content="Here it is.", reasoning="I think so."), "phrases"),
    (PeerCase("", "", "Plain text.", content="", reasoning=""), "answers nothing"),
    (PeerCase("", "", f"{CALL}\n{CALL}", calls=(F,)), "comes again"),
    (PeerCase("", "", CALL, tools=(TOOL,), calls=()), "the request lacks"),
    (PeerCase("", "", "Action: wait()", calls=(("computer", {"action": "wait"}),)), "calls of one tool"),
    (PeerCase("", "", "Let me see. [f(a=1)]", calls=(F,)), "a call in plain text"),
    (PeerCase("", "", "<think>a</think>Hi. <|im_end|>", content="Hi. <|im_end|>", reasoning="a"), "parser alone"),
    (PeerCase("", "", CALL, calls=(("f", {"a": "1"}),)), "typed without a schema"),
    (PeerCase("", "", CALL, tools=(TOOL,), calls=(("g", {}),)), "fitted to the request's tools"),
    (PeerCase("", "", "<think>a b</think>c", content="c", reasoning="ab"), "other whitespace"),
    (PeerCase("", "", "<think>a</think>b", content="b", reasoning=""), "switched off is thrown away"),
    (PeerCase("", "", "<think>a</think>Hi. <tool_ca", content="Hi.", reasoning="a"), "half a marker"),
    (PeerCase("", "", "<think>a</think>b\n\nc", content="b\nc"), "closed up"),
    (PeerCase("", "", "</think>Hi.", calls=(), content="</think>Hi.", reasoning=""), "switched off"),
    (PeerCase("", "", CALL, calls=(F,), content=CALL), "beside its calls"),
    (PeerCase("", "", ESCAPED, calls=(("f", {"a": "b\\n'c'"}),)), "escapes in a Python string"),
    (PeerCase("", "", f"{CALL}{CALL.removesuffix('</tool_call>')}", calls=(F,)), "without all its tags"),
    (PeerCase("x::test_invalid_funcall_id_skipped", "", CALL, calls=()), "cleaned beyond"),
]
MISREAD = [
    PeerCase("", "", "</think>Hi.", calls=(), content="Ho.", reasoning=""),
    PeerCase("", "", CALL, calls=(F,), content=f"{CALL}."),
    PeerCase("", "", ESCAPED, calls=(("f", {"a": "b\\t'c'"}),)),
    PeerCase("", "", f"{CALL}{CALL.removesuffix('</tool_call>')}", calls=(("g", {}),)),
    PeerCase("", "", f"Hi.\n{CALL}", calls=(("g", {"a": 1}),)),
    PeerCase("", "", f"Hi.\n{CALL}", calls=(F,), content="Ho."),
    PeerCase("", "", CALL, calls=(F, F)),
    PeerCase("", "", "Plain text.", calls=(F,)),
    PeerCase("", "", CALL, calls=(), content=""),
    PeerCase("", "", f"{CALL}\n{CALL}", calls=(("g", {}),)),
    PeerCase("", "", "<think>a</think>b", content="c", reasoning="a"),
    PeerCase("", "", "Action: wait()", calls=(("computer", {"action": "click"}),)),
    PeerCase("", "", "<think>a</think>Hi. <|im_end|>", content="Ho. <|im_end|>", reasoning="a"),
    PeerCase("", "", CALL, calls=(("f", {"a": "2"}),)),
    PeerCase("", "", CALL, tools=(TOOL,), calls=(("h", {}),)),
    PeerCase("", "", "<think>a b</think>c", content="c", reasoning="ad"),
    PeerCase("", "", "<think>a</think>Hi. <tool_ca", content="Ho.", reasoning="a"),
    PeerCase("", "", "<think>a</think>b\n\nc", content="b\nd"),
    PeerCase("x::test_another", "", CALL, calls=()),
]


@pytest.mark.parametrize(("case", "name"), POLICIES, ids=[name for _, name in POLICIES])
def test_a_policy_is_recognized_by_the_case(case: PeerCase, name: str) -> None:
    reading = read_case(case)

    policy = policy_of(reading)

    assert reading.faults
    assert policy is not None
    assert name in policy.name


@pytest.mark.parametrize("case", MISREAD, ids=str)
def test_no_policy_explains_another_call_or_another_text(case: PeerCase) -> None:
    reading = read_case(case)

    assert reading.faults
    assert policy_of(reading) is None


def test_what_is_right_needs_no_policy_even_where_the_suite_begins_in_reasoning() -> None:
    reading = read_case(PeerCase("", "", "All of it is thought.", content="", reasoning="All of it is thought."))

    assert reading.faults == ()


def test_a_record_of_another_suite_is_read_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    heard: list[JSONObject] = [
        {"raw": CALL, "tools": [], "calls": [["f", '{"a": 1}']], "content": None},
        {"raw": "Hello.", "tools": [], "calls": [], "content": "Hello."},
        {"raw": f"{CALL}\n{CALL}", "tools": [], "calls": [["f", '{"a": 1}']], "content": None},
        {"raw": CALL.replace('"f"', '"h"'), "tools": [], "calls": [["g", '{"a": 1}']], "content": None},
    ]
    record, misreads = tmp_path / "heard.jsonl", tmp_path / "misreads.jsonl"
    lines = [json.dumps({"origin": f"test_{number}", "family": "x", **one}) for number, one in enumerate(heard)]
    record.write_text("".join(f"{line}\n" for line in [*lines, lines[0]]), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["peers", "--heard", str(record), "--misreads", str(misreads)])

    assert main() == 0
    said = capsys.readouterr().out
    assert "2 of     4" in said, "a case that comes again counts once"
    assert "read as written:  2 of 3, 66.7 %" in said
    assert [json.loads(line)["origin"] for line in misreads.read_text(encoding="utf-8").splitlines()] == [
        "test_2", "test_3",
    ]  # fmt: skip
