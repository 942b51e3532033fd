"""The verdict in two lines and its next step: result, the chain of causes, the button."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import Conclusion, Finding, Severity, Stage, Trace, Verdict
from prompt_debugger.core.pipeline import load_recording
from prompt_debugger.ui.present.chains import chain_of, grouped
from prompt_debugger.ui.present.findings import findings_payload
from prompt_debugger.ui.present.payload import unpack_payload
from prompt_debugger.ui.present.verdict import next_step, read_result, verdict_payload


def recorded(name):
    recording = load_recording(name)
    assert recording is not None
    return recording.trace


def finding(code, follows=None, severity=Severity.ERROR):
    return Finding(code, "name", severity, Stage.PARSE, f"{code} is wrong.", "", follows=follows)


def test_the_cause_is_the_chain_from_its_root():
    trace = recorded("dropped-call")
    result = read_result(trace, trace.verdict)

    assert result.sentence == "The model wrote 1 tool call, the server returned none. Guilty stage: parse."
    assert [part["code"] for part in result.cause] == ["PD104", "PD404"]


def test_a_healthy_run_speaks_of_calls_in_green():
    strip = unpack_payload(verdict_payload(recorded("healthy-call")))[0]

    assert strip["sentence"] == "1 call written, 1 returned. Nothing lost."
    assert strip["cause"] == [{"text": "168 of 168 characters accounted for.", "code": None}]
    assert (strip["tone"], strip["badge"], strip["step"]) == ("success", "NOTHING LOST", None)
    assert strip["quote"] == "Nothing lost: 168 of 168 characters accounted for."


@pytest.mark.parametrize(
    ("detail", "expected"),
    [
        ("HTTP 400: tools are off. The server has no tool parser. It refuses.", "The server has no tool parser."),
        ("Its words: tools are off.", "Its words: tools are off."),
        ("The server has no tool parser. Its words: tools are off.", "The server has no tool parser."),
    ],
)
def test_the_second_line_does_not_repeat_the_words_of_the_first(detail, expected):
    found = replace(finding("PD100"), title="The request was refused: tools are off", detail=detail)
    verdict = Verdict(0, 0, 0, Stage.PARSE, "The request was refused: tools are off. Stage: parse.", Conclusion.FAULT)
    trace = replace(recorded("healthy-call"), findings=(found,), verdict=verdict)

    assert [part["text"] for part in read_result(trace, verdict).cause] == [expected]


def test_a_root_alone_says_why_by_its_detail():
    trace = recorded("missing-generation-prompt")

    cause = read_result(trace, trace.verdict).cause
    assert len(cause) == 1
    assert cause[0]["code"] is None
    assert trace.findings[0].detail.startswith(cause[0]["text"].rstrip("."))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("dropped-call", "try"), ("wrong-parser", "try"), ("healthy-call", None), ("truncated-call", "try")],
)
def test_the_next_step_of_the_examples(name, kind):
    trace = recorded(name)
    step = next_step(trace, trace.verdict)

    assert (step and step["kind"]) == kind


def unknown_server() -> Trace:
    """A run on a server that shows neither prompt nor output, and whose tokenizer is not known."""
    trace: Trace = recorded("healthy-call")
    assert trace.verdict is not None
    verdict = replace(trace.verdict, conclusion=Conclusion.UNKNOWN)
    return replace(trace, prompt=None, local_prompt=None, raw=None, parse=None, findings=(), verdict=verdict)


def test_a_server_that_shows_nothing_is_to_get_its_tokenizer():
    trace = unknown_server()

    assert next_step(trace, trace.verdict)["kind"] == "tokenizer"


@pytest.mark.parametrize("known", ["local_prompt", "prompt", "raw"])
def test_a_tokenizer_is_not_asked_for_where_one_is_there_or_nothing_was_answered(known):
    trace = unknown_server()
    for one in (replace(trace, **{known: getattr(recorded("healthy-call"), known)}), replace(trace, chat=None)):
        assert next_step(one, one.verdict) is None


def test_notes_on_a_run_stand_in_the_second_line():
    trace = recorded("dropped-call")
    notes = ("Only a raw completion was asked for.", "The server may apply a hidden grammar.")
    said = "1 tool call was written. Warning: it is odd. Not checked: the prompt, which the server does not show. "
    verdict = Verdict(0, 0, 0, None, said + " ".join(notes), Conclusion.UNCHECKED)

    result = read_result(replace(trace, notes=notes, findings=()), verdict)

    assert result.sentence == "1 tool call was written."
    assert [part["text"] for part in result.cause] == [
        f"Warning: it is odd. Not checked: the prompt, which the server does not show. {' '.join(notes)}"
    ]


def test_a_warning_that_is_the_news_stays_in_the_first_line():
    trace = replace(recorded("dropped-call"), notes=(), findings=())
    verdict = Verdict(0, 0, 0, None, "Warning: it is odd. The raw output is not known.", Conclusion.UNKNOWN)

    assert read_result(trace, verdict) == ("Warning: it is odd. The raw output is not known.", ())


@pytest.mark.parametrize("notes", [(), ("A note of which the sentence says nothing.",)])
def test_a_verdict_without_notes_is_one_line(notes):
    trace = replace(recorded("dropped-call"), notes=notes, findings=())
    verdict = Verdict(0, 0, 0, None, "The raw output is not known.", Conclusion.UNKNOWN)

    assert read_result(trace, verdict) == ("The raw output is not known.", ())


def test_flags_of_someone_elses_server_are_shown_and_not_tried():
    trace = recorded("wrong-parser")
    elsewhere = replace(trace, server=replace(trace.server, is_lab=False))

    assert next_step(elsewhere, trace.verdict)["kind"] == "show"


def test_the_output_of_a_server_that_hides_its_parser_is_shown_to_all():
    trace = recorded("dropped-call")
    loss = finding("PD999")
    silent = replace(trace.server, is_lab=False, tool_parser=None)
    verdict = Verdict(1, 0, 0, Stage.PARSE, loss.title, Conclusion.FAULT)
    hidden = replace(trace, server=silent, findings=(loss,), verdict=verdict)

    assert next_step(hidden, verdict)["kind"] == "parsers"
    shown = replace(hidden, server=replace(silent, tool_parser="hermes"))
    assert next_step(shown, verdict) is None


def test_a_paste_with_its_request_can_be_asked_again_and_a_raw_output_alone_asks_the_parsers():
    trace = recorded("dropped-call")
    verdict = Verdict(0, 0, 0, None, "The raw output is not known.", Conclusion.UNKNOWN)
    pasted = replace(trace, server=None, findings=(), verdict=verdict)
    assert next_step(pasted, verdict)["kind"] == "ask"

    alone = replace(pasted, request=replace(trace.request, body={}), chat=None)
    assert next_step(alone, verdict)["kind"] == "parsers"
    assert next_step(replace(pasted, server=trace.server), verdict) is None  # it would give no ids the next time, too


def test_a_fault_before_the_calls_names_no_outcome_of_theirs():
    trace = recorded("dropped-call")
    turn = replace(finding("PD999"), stage=Stage.COMPLETE, title="The model opened another turn.")
    verdict = Verdict(1, 0, 0, Stage.COMPLETE, f"{turn.title} Guilty stage: complete.", Conclusion.FAULT)

    def badge(of):
        return unpack_payload(verdict_payload(replace(trace, findings=(turn,), verdict=of)))[0]["badge"]

    assert badge(verdict) == "FAULT FOUND"
    assert badge(replace(verdict, stage=Stage.PARSE)) == "DROPPED"


def test_findings_are_grouped_by_their_root():
    one, two, three, other = finding("A", "B"), finding("B", "C"), finding("C", severity=Severity.WARNING), finding("D")

    assert [f.code for f in chain_of(one, (one, other, two, three))] == ["C", "B", "A"]
    assert grouped((one, other, two, three)) == [[3, 2, 0], [1]]


def test_a_circle_of_causes_ends():
    one, two = finding("A", "B"), finding("B", "A")

    assert sorted(n for group in grouped((one, two)) for n in group) == [0, 1]


def test_the_view_of_the_findings_has_the_groups_and_one_fix_for_each():
    trace = recorded("dropped-call")
    header = unpack_payload(findings_payload(trace))[0]

    codes = [card["code"] for card in header["findings"]]
    assert [[codes[i] for i in group] for group in header["groups"]] == [["PD104", "PD404", "PD401"]]
    assert sum(card["offered"] is not None for card in header["findings"]) == 1
