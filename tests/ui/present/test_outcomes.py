"""The badge says what came out, the cards say where: refused, cut and lost runs, and a request at fault."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from prompt_debugger.core.base.types import (
    Conclusion,
    Fate,
    Finding,
    FindingEvidence,
    Ledger,
    LedgerEntry,
    Prompt,
    Refusal,
    Severity,
    Span,
    Stage,
    Trace,
    Verdict,
)
from prompt_debugger.ui.present import RunView, unpack_payload
from prompt_debugger.ui.present.completion import completion_payload
from prompt_debugger.ui.present.reasons import empty_payload, text_payload
from prompt_debugger.ui.present.stages import stages_payload
from prompt_debugger.ui.present.verdict import verdict_payload
from tests.ui.present.traces import dropped_call_trace

WRONG_TYPE = Finding(
    code="PD000",
    name="wrong-type",
    severity=Severity.ERROR,
    stage=Stage.REQUEST,
    title="A type is unknown",
    detail="",
    evidence=(FindingEvidence("request", field="tools[0].function.parameters"),),
)


def header(payload: str) -> dict[str, Any]:
    return dict(unpack_payload(payload)[0])


def of_stage(stage: Stage, trace: Trace) -> Trace:
    """Return the run with a verdict that names a stage and no call."""
    verdict = Verdict(0, 0, 0, stage, f"Something. Guilty stage: {stage}.", Conclusion.FAULT)
    return replace(trace, verdict=verdict, findings=())


def refused() -> Trace:
    trace = replace(dropped_call_trace(), raw=None, chat=None, chat_stream=None, parse=None)
    return replace(of_stage(Stage.REQUEST, trace), refusal=Refusal(400, "type: int"), findings=(WRONG_TYPE,))


def test_the_badge_names_an_outcome_and_never_a_stage() -> None:
    badges = {header(verdict_payload(of_stage(stage, dropped_call_trace())))["badge"] for stage in Stage}

    assert badges == {"LOST"}
    assert header(verdict_payload(refused()))["badge"] == "REFUSED"
    unread = replace(of_stage(Stage.PARSE, refused()), refusal=Refusal(500, "Failed to parse input at pos 12"))
    assert header(verdict_payload(unread))["badge"] == "FAULT FOUND"  # it took the request, and not its model's output


def test_a_fault_without_a_lost_character_is_not_a_loss() -> None:
    trace = of_stage(Stage.RENDER, dropped_call_trace())
    assert trace.parse is not None
    kept = replace(trace.parse.ledger, entries=(LedgerEntry(Span(0, 1), Fate.MARKUP),))
    unread = Ledger(trace.parse.ledger.entries)

    for ledger in (kept, unread):
        badge = header(verdict_payload(replace(trace, parse=replace(trace.parse, ledger=ledger))))["badge"]
        assert badge == "FAULT FOUND"


def test_a_request_at_fault_has_a_card_that_leads_to_the_place() -> None:
    card = header(stages_payload(refused()))["request"]

    assert (card["title"], card["state"], card["figures"]) == ("Request", "guilty", ["1 error"])
    assert card["evidence"]["field"] == "tools[0].function.parameters"
    assert header(stages_payload(dropped_call_trace()))["request"] is None


def test_after_a_refusal_every_pane_gives_the_reason() -> None:
    panes = header(completion_payload(refused()))
    cards = {card["opens"]: card for card in header(stages_payload(refused()))["cards"]}

    assert all("refused the request, HTTP 400" in panes[name]["empty"] for name in ("raw", "stream", "message"))
    assert cards["complete"]["figures"] == ["no output", "refused, HTTP 400"]
    assert cards["parse"]["hint"] == "there was no answer to parse"


def test_after_a_refusal_account_tokens_and_template_give_the_reason() -> None:
    trace = replace(refused(), prompt=None, local_prompt=None)
    views = RunView().finish(trace)

    for name, what in (
        ("ledger", "no raw output to account for"),
        ("raw_tokens", "no raw output"),
        ("prompt_tokens", "tokens of the prompt"),
        ("template", "chat template"),
    ):
        empty = header(str(views[name]))["empty"]
        assert what in empty
        assert "The server refused the request, HTTP 400." in empty


def test_a_message_without_a_raw_output_is_still_shown():
    trace = replace(dropped_call_trace(), raw=None, parse=None)
    assert trace.chat is not None

    shown = header(empty_payload(trace, "ledger"))

    assert shown["empty"] == "There is no raw output to account for."
    assert json.loads("".join(text for text, *_ in shown["message"])) == trace.chat.message
    assert "message" not in header(empty_payload(trace, "raw_tokens"))
    assert "message" not in header(empty_payload(replace(trace, chat=None), "ledger"))


def test_a_view_that_has_something_to_show_gives_no_reason() -> None:
    views = RunView().finish(dropped_call_trace())

    for name in ("ledger", "raw_tokens", "prompt_tokens", "template"):
        assert "empty" not in header(str(views[name]))


def test_a_run_that_is_not_over_gives_no_reason_yet() -> None:
    trace = replace(dropped_call_trace(), raw=None, chat=None, chat_stream=None, parse=None, verdict=None)
    view = RunView()
    changed = view.update(trace, "Asking the model")

    assert changed["ledger"] is changed["raw_tokens"] is None
    assert header(str(view.finish(refused())["ledger"]))["empty"]


def test_a_report_leaves_what_is_empty_to_its_own_words() -> None:
    assert RunView(explains=False).finish(refused())["ledger"] is None


def test_before_a_run_the_panes_say_what_they_will_show() -> None:
    trace = replace(refused(), refusal=None, verdict=None)

    assert header(completion_payload(trace))["raw"]["empty"].startswith("What the model wrote")


def test_an_error_beside_an_answer_says_nothing_of_a_missing_answer() -> None:
    beside = replace(dropped_call_trace(), raw=None, parse=None, refusal=Refusal(None, "expected a tool call"))
    trace = of_stage(Stage.PARSE, beside)

    assert trace.chat is not None
    assert header(verdict_payload(trace))["badge"] == "FAULT FOUND"
    assert "no answer" not in str(header(stages_payload(trace)))
    assert "no output" not in str(header(stages_payload(trace)))


def test_a_prompt_whose_tokens_are_unknown_is_shown_as_text():
    prompt = Prompt(source="local", text="<|user|>Hi", spans=(), tokens=None)

    assert header(text_payload(prompt))["text"] == "<|user|>Hi"
    assert text_payload(replace(prompt, text="")) is None
    assert text_payload(None) is None
