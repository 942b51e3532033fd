"""Answers of known truth in every odd form in which servers and proxies send them: nothing false is said of any."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.types import Basis, JSONObject, Request, Severity, Stage, Trace
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.lab import LabPool
from tests.core.complete.faulty_server import Behaviour, answer, faulty_server
from tests.servers.lying_shapes import LYING
from tests.servers.running_servers import LAB_MODEL
from tests.servers.scenarios import body_of
from tests.servers.truth import errors_of, returned_calls
from tests.servers.wire_shapes import (
    CHANGES,
    TRUTHS,
    Truth,
    Wire,
    behaviours_of,
    both,
    calls_of,
    changed,
    choice_of,
    no_ids,
    wire_of,
)

WITHOUT_EVIDENCE = frozenset({"no ids", "ids null", "ids empty"})
LOGPROBS = [name for name in CHANGES if name.startswith("logprobs")]
# What differs from what a client may expect is said, and is true.
SAID = {
    "calls whole, without index": {"PD417"},
    "index as text": {"PD417"},
    "finish_reason stop": {"PD412"},
}


def run(
    wire: Wire, *, is_stream: bool, knows_tokenizer: bool = True, instead: Mapping[str, Behaviour] | None = None
) -> Trace:
    async def go() -> Trace:
        async with faulty_server(instead or behaviours_of(wire)) as server:
            fields = {"stream": True} if is_stream else {}
            target = Target(base_url=server.base_url, tokenizer=str(LAB_MODEL) if knows_tokenizer else None)
            body = body_of("healthy", model="lab-model", **fields)
            return await pipeline.run(Request(body=body, text=""), target, LabPool(max_running=0))

    return asyncio.run(go())


def picked(change: str) -> tuple[Truth, ...]:
    """Return two of the answers for a change, all for none: each with each takes minutes, and was seen to hold."""
    truths, at = tuple(TRUTHS.values()), list(CHANGES).index(change)
    return truths if at == 0 else (truths[at % len(truths)], truths[(at + 3) % len(truths)])


def assert_true(trace: Trace, truth: Truth, *more: str) -> None:
    """Every count and every finding is what the answer is known to be."""
    verdict = trace.verdict
    assert verdict is not None
    expected = [(call["function"]["name"], call["function"]["arguments"]) for call in truth.calls]  # type: ignore[index,call-overload]
    assert [name for name, _ in returned_calls(trace)] == [name for name, _ in expected]
    is_known = trace.evidence is not None
    assert verdict.dropped_calls == (truth.dropped if is_known else 0)
    assert (verdict.invented_calls, verdict.altered_calls) == (0, 0)
    assert ("Nothing lost" in verdict.sentence) == (is_known and not truth.dropped and verdict.stage is None)
    allowed = {"PD401", "PD404"} if truth.dropped else {"PD322"} if truth.is_cut else set()
    allowed |= {"PD312"} if truth.dropped and not is_known else set()
    assert {finding.code for finding in trace.findings} <= allowed.union(*(SAID.get(name, set()) for name in more))
    if not truth.dropped and "PD417" not in SAID.get(more[0], set()):
        assert errors_of(trace) == []
        assert verdict.stage is None


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("change", CHANGES)
def test_nothing_false_is_reported_of_an_answer_in_an_odd_form(change: str, is_stream: bool) -> None:
    for truth in picked(change):
        trace = run(changed(truth, change), is_stream=is_stream)

        assert_true(trace, truth, change)
        assert (trace.evidence is Basis.SAME_RUN) == (change not in WITHOUT_EVIDENCE)


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("change", ["as vLLM", *LOGPROBS])
def test_nothing_false_is_reported_where_ids_are_missing(change: str, is_stream: bool) -> None:
    for truth in picked(change):
        for knows_tokenizer in (False, True):
            trace = run(changed(truth, change, "no ids"), is_stream=is_stream, knows_tokenizer=knows_tokenizer)

            assert_true(trace, truth, change)


FOREIGN = frozenset({"ids one higher", "ids of another answer"})


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("change", LYING)
def test_nothing_false_is_reported_of_an_answer_whose_server_lies_about_it(change: str, is_stream: bool) -> None:
    """No call is said to be lost, altered or invented that is not, and none that is lost is denied."""
    truths = tuple(TRUTHS.values())
    at = [*LYING].index(change)
    for truth in (truths[at % len(truths)], TRUTHS["a dropped call" if at % 2 else "a call"]):
        if truth.dropped and change in FOREIGN:
            continue  # nothing is left of the message that could show it
        wire = wire_of(truth)
        LYING[change](wire)

        trace = run(wire, is_stream=is_stream)

        verdict = trace.verdict
        assert verdict is not None
        assert (verdict.invented_calls, verdict.altered_calls) == (0, 0)
        assert verdict.dropped_calls <= truth.dropped
        assert not (truth.dropped and "Nothing lost" in verdict.sentence)
        allowed = {"PD401", "PD404", "PD312"} if truth.dropped else {"PD322"} if truth.is_cut else set()
        assert {finding.code for finding in trace.findings} <= allowed | SAID.get(change, set())


def test_ids_that_the_tokenizer_does_not_have_show_nothing_of_the_output() -> None:
    """They would be decoded to characters that no model wrote, and those missed in the message."""
    wire = wire_of(TRUTHS["a dropped call"])
    LYING["ids beyond the vocabulary"](wire)

    trace = run(wire, is_stream=False)

    assert {finding.code for finding in trace.findings} == {"PD312"}
    assert any("does not have all ids of the run" in note for note in trace.notes)


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("reason", "code"), [("", "PD412"), (7, "PD323"), ("unknown", "PD323")])
def test_an_end_without_a_word_that_means_something_is_reported_as_it_stands(
    reason: str | int, code: str, is_stream: bool
) -> None:
    wire = wire_of(TRUTHS["a call"])
    for body in (wire.whole, wire.events[-2]):
        choice_of(body)["finish_reason"] = reason  # type: ignore[arg-type]  # both are objects

    trace = run(wire, is_stream=is_stream)

    assert [finding.code for finding in trace.findings] == [code]


FAILS = answer(500, {"status": "failure", "message": "Something went wrong"})


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", ["a call", "a dropped call"])
def test_nothing_false_is_reported_after_a_gateway_that_fails_at_all_but_whole_answers(
    name: str, is_stream: bool
) -> None:
    """As Portkey's 1.15.2 on Node 20: the list of models, raw completions and streams end in a 500 of its own."""
    wire = changed(TRUTHS[name], "as vLLM")
    whole = wire.send_whole(wire.whole)

    trace = run(
        wire,
        is_stream=is_stream,
        instead={"/v1/chat/completions": whole, "/v1/chat/completions#stream": FAILS, "*": FAILS},
    )

    assert trace.verdict is not None
    if is_stream:
        assert trace.verdict.sentence.startswith("The server failed on the request: Something went wrong")
        assert trace.verdict.dropped_calls == 0
    else:
        assert_true(trace, TRUTHS[name], "as vLLM")


@pytest.mark.parametrize("name", TRUTHS)
def test_a_stream_that_breaks_off_is_reported_to_break_off(name: str) -> None:
    wire = changed(TRUTHS[name], "no [DONE]")
    del wire.events[-2:]

    trace = run(wire, is_stream=True)

    assert trace.verdict is not None
    assert trace.verdict.stage is Stage.COMPLETE
    assert {"PD310", "PD412"} & {finding.code for finding in trace.findings if finding.severity is Severity.ERROR}


def _left_in_text(wire: Wire, *, of_stream_alone: bool) -> None:
    """Leave the call in the text, as vllm-mlx 0.6.0 with its parser `kimi` does where it streams."""
    raw = TRUTHS["a call"].raw.removesuffix("<|im_end|>")
    ids = wire.choice["token_ids"]
    said: JSONObject = {"index": 0, "delta": {"role": "assistant", "content": raw}, "token_ids": ids}
    wire.events[:-1] = [{"choices": [said]}, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]
    if not of_stream_alone:
        wire.choice.update(message={"role": "assistant", "content": raw}, finish_reason="stop")


@pytest.mark.parametrize("has_ids", [True, False], ids=["with ids", "without"])
@pytest.mark.parametrize("of_stream_alone", [True, False], ids=["the stream alone", "both"])
def test_a_parser_that_fails_on_the_stream_alone_runs(of_stream_alone: bool, has_ids: bool) -> None:
    """No flag is missing where the whole answer has the call; where neither has it, one may be."""
    wire = changed(TRUTHS["a call"], "as vLLM")
    _left_in_text(wire, of_stream_alone=of_stream_alone)
    if not has_ids:
        no_ids(wire)

    trace = run(wire, is_stream=True)

    found = {finding.code: finding for finding in trace.findings if finding.severity is Severity.ERROR}
    assert ({"PD401", "PD405"} if has_ids else {"PD426"}) <= set(found)
    found.pop("PD411", None)  # that the two differ, which has a remedy of its own
    for finding in found.values():
        assert ("`stream: false`" in str(finding.fix)) is of_stream_alone
        assert ("--tool-call-parser" in str(finding.fix)) is not of_stream_alone
    if has_ids:
        assert ("the parser runs, and fails on the stream" in found["PD405"].detail) is of_stream_alone
        assert found["PD405"].title.startswith("The server's parser" if of_stream_alone else "No parser read")


def _unnumbered(wire: Wire) -> None:
    """Send each call of the stream without its index and id, and the arguments of none; the whole answer is sound."""
    for event in wire.events:
        for call in calls_of(choice_of(event)) if isinstance(event, dict) else ():
            function = call.get("function")
            if isinstance(function, dict):
                function["arguments"] = ""


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
def test_a_fault_of_the_stream_alone_is_a_note_where_no_stream_was_asked_for(is_stream: bool) -> None:
    """The answer that was asked for has all of it."""
    wire = changed(TRUTHS["a call"], "no ids")
    _unnumbered(wire)

    trace = run(wire, is_stream=is_stream)

    assert trace.verdict is not None
    (found,) = (finding for finding in trace.findings if finding.code == "PD416")
    assert found.severity is (Severity.ERROR if is_stream else Severity.NOTE)
    assert found.title.startswith("The call to" if is_stream else "Only when streamed: the call to")
    assert (trace.verdict.stage is None) is not is_stream
    assert errors_of(trace) == ([] if not is_stream else [f"PD416 {found.title}"])


def test_a_fault_that_the_whole_answer_has_too_stays_an_error() -> None:
    wire = changed(TRUTHS["a call"], "no ids")
    _unnumbered(wire)
    both(lambda choice: [call["function"].update(arguments="") for call in calls_of(choice)])(wire)  # type: ignore[union-attr]

    trace = run(wire, is_stream=False)

    assert [finding.code for finding in trace.findings if finding.severity is Severity.ERROR] == ["PD416"]
