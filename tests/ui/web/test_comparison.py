"""Two runs that the browser sends together: compared, or refused with the side that is at fault."""

import json
from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import Request, Trace, VllmOutcome
from prompt_debugger.core.report import write_bundle
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.present.comparison import NamedRun
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.sharing import Comparing, Sharing
from prompt_debugger.ui.web.work import on_one_basis
from tests.core.tools.experiments.test_runs import changed
from tests.ui.present.traces import dropped_call_trace
from tests.ui.web.test_sharing import pack


@pytest.fixture
def comparing():
    return Comparing(Sharing(PageSettings(lab=False)))


def sent(*sides):
    return pack(json.dumps(sides))


def test_two_runs_are_compared_under_the_names_that_they_have_in_the_browser(comparing):
    pair = sent(["16:12 · lab · DROPPED", write_bundle(dropped_call_trace())], ["after.json", write_bundle(changed())])

    header = unpack_payload(comparing.compare(pair))[0]

    assert [side["name"] for side in header["sides"]] == ["16:12 · lab · DROPPED", "after.json"]
    assert "only A has PD401" in header["sentence"]


@pytest.mark.parametrize(
    ("text", "words"), [("{]", "In b.json: "), (write_bundle(Trace(Request({}, ""))), "no finished run in b.json")]
)
def test_what_is_not_a_bundle_is_a_note_that_names_the_side(comparing, text, words):
    header = unpack_payload(comparing.compare(sent(["a.json", write_bundle(changed())], ["b.json", text])))[0]

    assert (header["kind"], header["tone"]) == ("note", "error")
    assert words in header["note"]


@pytest.mark.parametrize(
    "packed", ["", "x", pack("{]"), pack("[" * 5_000), pack("7"), sent(["a", "{}"]), sent(["a", 1], ["b", "{}"])]
)
def test_what_is_not_a_pair_is_a_note(comparing, packed):
    assert unpack_payload(comparing.compare(packed))[0]["kind"] == "note"


def asked_about(trace: Trace) -> Trace:
    assert trace.parse is not None
    outcomes = {name: VllmOutcome(None, None, ()) for name in ("vllm:hermes", "vllm:kimi_k2")}
    return replace(trace, parse=replace(trace.parse, parsers=outcomes))


def test_what_parsers_say_of_one_run_is_no_difference_where_the_other_was_not_asked(comparing):
    trace = dropped_call_trace()
    alien = replace(trace.findings[0], code="PD499")
    asked = replace(asked_about(trace), findings=(*trace.findings, alien))  # as if their answers had shown it

    header = unpack_payload(comparing.compare(sent(["a", write_bundle(asked)], ["b", write_bundle(trace)])))[0]

    assert header["sentence"] == "A and B are identical in everything that both runs contain."
    assert [side["sentence"] for side in header["sides"]] == [trace.verdict.sentence] * 2


def test_what_parsers_say_stays_where_both_were_asked_or_the_other_lost_nothing():
    trace = dropped_call_trace()
    assert trace.verdict is not None
    whole = replace(trace, verdict=replace(trace.verdict, dropped_calls=0))
    for other in (asked_about(trace), whole):
        pair = NamedRun("a", asked_about(trace)), NamedRun("b", other)
        assert on_one_basis(*pair) == pair
