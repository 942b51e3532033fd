"""What is said of a fix that was tried is what the changed run shows."""

from dataclasses import replace

from prompt_debugger.core.base.types import Comparability
from prompt_debugger.core.tools.fixes.plans import Plan
from prompt_debugger.core.tools.fixes.try_fixes import Experiment
from prompt_debugger.ui.mcp.answers import trace_answer, tried_lines
from tests.ui.present.test_offered_fixes import recorded


def said(after, *, worked):
    made = Experiment(Plan("x"), [after], [0])
    return "\n".join(tried_lines(made, "PD401", recorded("dropped-call"), worked=worked))


def test_an_error_that_the_fix_brings_to_light_is_named_though_it_worked():
    text = said(recorded("truncated-call"), worked=True)

    assert "PD301" in text
    assert "no new error" not in text


def test_an_answer_that_stays_as_it_was_is_said_to():
    assert "The message is the same as before." in said(recorded("dropped-call"), worked=False)
    assert "The message is the same as before." not in said(recorded("healthy-call"), worked=True)


def test_a_run_without_a_call_says_that_none_was_lost():
    assert "No call was written" in trace_answer(recorded("missing-generation-prompt"), "h").text
    assert "No call was written" not in trace_answer(recorded("dropped-call"), "h").text


def test_nothing_is_said_of_loss_where_two_runs_may_differ():
    run = recorded("missing-generation-prompt")
    ledger = replace(run.parse.ledger, comparability=Comparability(None, "two runs may differ"))
    apart = replace(run, parse=replace(run.parse, ledger=ledger))

    assert "No call was written" not in trace_answer(apart, "h").text
