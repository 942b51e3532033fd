"""The runs that can be compared: which are kept, under which names, and how bundles join them."""

from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import Request, Trace
from prompt_debugger.core.report import write_bundle
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.web.comparison import MAX_RUNS, Comparing
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.sharing import Sharing
from tests.core.tools.experiments.test_runs import changed
from tests.ui.present.traces import dropped_call_trace, tokens_of
from tests.ui.web.test_sharing import pack


@pytest.fixture
def comparing():
    return Comparing(Sharing(PageSettings(lab=False)))


def kept(comparing, *runs):
    choices = None
    for trace in runs:
        choices = comparing.keep(choices.runs if choices else (), trace)
    return choices


def test_the_last_two_runs_are_chosen(comparing):
    one = kept(comparing, dropped_call_trace())
    two = kept(comparing, dropped_call_trace(), changed())

    assert (one.left, one.right) == (None, "Run 1 · DROPPED · lab-model · kimi_k2")
    assert (two.left, two.right) == (one.right, "Run 2 · DROPPED · lab-model · hermes")


def test_a_run_is_kept_once_and_only_if_it_ended(comparing):
    trace = dropped_call_trace()
    choices = kept(comparing, trace)

    assert comparing.keep(choices.runs, trace) is None
    assert comparing.keep((), None) is None
    assert comparing.keep((), Trace(Request({}, ""))) is None


def test_only_the_last_runs_are_kept_and_their_names_never_repeat(comparing):
    choices = kept(comparing, *(replace(dropped_call_trace()) for _ in range(MAX_RUNS + 3)))

    assert [run.name.split(" · ")[0] for run in choices.runs] == [f"Run {n}" for n in range(4, MAX_RUNS + 4)]


def test_very_long_prompts_push_older_runs_out(comparing):
    trace = dropped_call_trace()
    tokens = tokens_of("a b " * 60_000)

    choices = kept(comparing, *(replace(trace, prompt=replace(trace.prompt, tokens=tokens)) for _ in range(6)))

    assert 2 <= len(choices.runs) < 6


def test_a_bundle_becomes_a_choice_and_is_compared_with_the_last_run(comparing):
    runs = kept(comparing, dropped_call_trace()).runs

    choices, note = comparing.add_bundle(runs, pack(write_bundle(changed())))
    payload = comparing.compare(choices.runs, choices.left, choices.right)

    assert choices.right.startswith("Bundle 2")
    assert unpack_payload(note)[0]["kind"] == "note"
    assert unpack_payload(payload)[0]["sides"][0]["name"] == choices.left


@pytest.mark.parametrize(
    ("text", "words"), [("{]", "not valid JSON"), (write_bundle(Trace(Request({}, ""))), "no finished run")]
)
def test_what_is_no_bundle_is_a_note(comparing, text, words):
    choices, note = comparing.add_bundle((), pack(text))

    assert choices is None
    assert words in unpack_payload(note)[0]["note"]


def test_nothing_is_drawn_until_two_are_chosen(comparing):
    runs = kept(comparing, dropped_call_trace()).runs

    assert comparing.compare(runs, None, runs[0].name) is None
    assert comparing.compare(runs, "a run of long ago", runs[0].name) is None
