"""What a peer's parser decides is told apart from what the census misreads."""

from __future__ import annotations

import pytest

from benchmarks.peers.cases import PeerCase, read_case
from benchmarks.peers.policies import policy_of

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
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
]
MISREAD = [
    PeerCase("", "", f"Hi.\n{CALL}", calls=(("g", {"a": 1}),)),
    PeerCase("", "", f"Hi.\n{CALL}", calls=(F,), content="Ho."),
    PeerCase("", "", CALL, calls=(F, F)),
    PeerCase("", "", "Plain text.", calls=(F,)),
    PeerCase("", "", CALL, calls=(), content=""),
    PeerCase("", "", f"{CALL}\n{CALL}", calls=(("g", {}),)),
    PeerCase("", "", "<think>a</think>b", content="c", reasoning="a"),
    PeerCase("", "", "Action: wait()", calls=(("computer", {"action": "click"}),)),
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
