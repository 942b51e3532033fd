"""Each clause of the verdict's sentence: when it is said, and when it is left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import (
    Certainty,
    ChatResult,
    Conclusion,
    Finding,
    FindingEvidence,
    JSONObject,
    Prompt,
    Refusal,
    Request,
    Server,
    Severity,
    Stage,
    Trace,
    Verdict,
)
from prompt_debugger.core.diagnose import reach_verdict
from prompt_debugger.core.diagnose.calls.written_calls import COMPLAINED
from prompt_debugger.core.diagnose.verdict import examined
from tests.core.diagnose.cases import build_trace

BODY: JSONObject = {"messages": [{"role": "user", "content": "Hi."}]}
CHAT = ChatResult({"role": "assistant", "content": "Hello."}, "stop")


def found(
    code: str,
    stage: Stage,
    title: str,
    *,
    severity: Severity = Severity.ERROR,
    certainty: Certainty = Certainty.OBSERVED,
    follows: str | None = None,
    field: str | None = None,
) -> Finding:
    evidence = () if field is None else (FindingEvidence("request", field=field),)
    return Finding(code, "a-fault", severity, stage, title, "", evidence, certainty=certainty, follows=follows)


def verdict(*findings: Finding, body: JSONObject | None = None, refusal: Refusal | None = None) -> Verdict:
    return reach_verdict(Trace(Request({} if body is None else body, ""), findings=findings, refusal=refusal))


REFUSED = found("PD100", Stage.REQUEST, "The server refused the request.", certainty=Certainty.INFERRED)


def test_a_stage_that_is_only_concluded_is_called_probable() -> None:
    assert verdict(REFUSED, body=BODY).sentence == "The server refused the request. Probable stage: request."
    sure = replace(REFUSED, certainty=Certainty.OBSERVED)
    assert verdict(sure, body=BODY).sentence == "The server refused the request. Guilty stage: request."
    other = found("PD301", Stage.COMPLETE, "It was cut.", certainty=Certainty.INFERRED)
    assert verdict(other, body=BODY).sentence == "It was cut. Guilty stage: complete."


def test_bare_words_of_an_error_name_no_stage_and_count_no_calls() -> None:
    given = verdict(REFUSED, refusal=Refusal(None, "it went wrong"))

    assert given.sentence == (
        "The server refused the request. The message does not say at which stage of a run it occurred."
    )
    assert (given.stage, given.conclusion) == (None, Conclusion.FAULT)
    assert (given.dropped_calls, given.altered_calls, given.invented_calls) == (0, 0, 0)


@pytest.mark.parametrize(
    ("body", "refusal"), [(BODY, Refusal(None, "it went wrong")), ({}, Refusal(400, "it went wrong")), ({}, None)]
)
def test_with_a_request_or_a_status_the_stage_is_named(body: JSONObject, refusal: Refusal | None) -> None:
    assert verdict(REFUSED, body=body, refusal=refusal).stage is Stage.REQUEST


@pytest.mark.parametrize(
    ("field", "severity", "stage", "is_named"),
    [
        ("tools", Severity.ERROR, Stage.REQUEST, True),
        ("messages", Severity.ERROR, Stage.REQUEST, False),
        ("tools", Severity.WARNING, Stage.REQUEST, False),
        ("tools", Severity.ERROR, Stage.RENDER, False),
    ],
)
def test_what_else_is_wrong_with_a_refused_request_is_named_unless_it_is_the_same_field(
    field: str, severity: Severity, stage: Stage, *, is_named: bool
) -> None:
    refused = replace(REFUSED, evidence=(FindingEvidence("request", field="messages"),))
    other = found("PD104", stage, "The schema is broken.", severity=severity, field=field)
    third = found("PD105", Stage.REQUEST, "A third.", field="n")

    sentence = verdict(refused, other, third, body=BODY).sentence

    also = "the schema is broken." if is_named else "A third."
    assert sentence == f"The server refused the request. Probable stage: request. Also in the request: {also}"


@pytest.mark.parametrize(
    ("certainty", "stage", "complaint", "is_cause"),
    [
        (Certainty.OBSERVED, Stage.PARSE, Certainty.INFERRED, True),
        (Certainty.INFERRED, Stage.PARSE, Certainty.INFERRED, False),
        (Certainty.OBSERVED, Stage.COMPLETE, Certainty.INFERRED, False),
        (Certainty.OBSERVED, Stage.PARSE, Certainty.OBSERVED, False),
    ],
)
def test_what_was_seen_in_an_answer_says_more_than_a_clients_complaint(
    certainty: Certainty, stage: Stage, complaint: Certainty, *, is_cause: bool
) -> None:
    seen = found("PD401", stage, "The call was dropped.", certainty=certainty)
    refused = replace(REFUSED, certainty=complaint, follows="PD401")

    sentence = verdict(refused, seen, body=BODY).sentence

    assert sentence.startswith("The call was dropped. Guilty" if is_cause else "The server refused the request. ")
    assert is_cause or sentence.endswith("Cause: the call was dropped.")


def test_a_warning_is_named_first_of_an_answer_that_stands_alone() -> None:
    warning = found("PD406", Stage.PARSE, "The name is odd.", severity=Severity.WARNING)
    alone = Trace(Request({}, ""), chat=CHAT, findings=(warning,))
    served = replace(alone, server=Server("http://127.0.0.1:1/v1", "vllm"))

    assert reach_verdict(alone).sentence == (
        "Warning: the name is odd. The raw output is not known, so whether anything was lost is unknown."
    )
    assert reach_verdict(served).sentence == (
        "The raw output is not known, so whether anything was lost is unknown. Warning: the name is odd. "
        "Not checked: the prompt, which the server does not show."
    )


def test_a_warning_that_another_explains_gives_way_to_it() -> None:
    late = found("PD406", Stage.PARSE, "The name is odd.", severity=Severity.WARNING, follows="PD202")
    early = found("PD202", Stage.RENDER, "The prompt lacks tools.", severity=Severity.WARNING)

    assert verdict(late, early).sentence.startswith("Warning: the prompt lacks tools. (1 more)")


def test_notes_end_the_sentence_and_a_known_prompt_is_not_said_to_be_unchecked() -> None:
    trace = Trace(
        Request(BODY, ""),
        server=Server("http://127.0.0.1:1/v1", "vllm"),
        prompt=Prompt("server", "Hi.", (), None),
        chat=CHAT,
        notes=("One.", "Two."),
    )

    sentence = reach_verdict(trace).sentence

    assert "Not checked" not in sentence
    assert sentence.endswith("One. Two.")


@pytest.mark.parametrize(
    ("notes", "words"),
    [
        (0, "No problem was found in the request and the answer. "),
        (
            1,
            "Nothing more serious than a note was found in the request and the answer: the field is old. ",
        ),
        (
            3,
            "Nothing more serious than a note was found in the request and the answer: the field is old (2 more). ",
        ),
    ],
)
def test_healthy_parts_are_named_with_the_first_note(notes: int, words: str) -> None:
    note = found("PD120", Stage.REQUEST, "The field is old.", severity=Severity.NOTE)
    trace = Trace(Request(BODY, ""), chat=CHAT, findings=(note,) * notes)

    assert reach_verdict(trace).sentence == (
        f"{words}The raw output is not known, so whether anything was lost is unknown."
    )


def test_a_complaint_is_not_answered_with_no_problem() -> None:
    trace = Trace(Request(BODY, ""), chat=CHAT, notes=(COMPLAINED,))

    assert reach_verdict(trace).sentence.startswith(
        "The problem described is not visible in the request and the answer alone. "
    )


def test_a_call_shown_alone_and_a_described_answer_are_said_to_be_that() -> None:
    case = {"raw": "Let me look.", "vocabulary": "none"}
    shown = found("PD463", Stage.PARSE, "This text is a tool call.", severity=Severity.WARNING)
    described = found("PD469", Stage.PARSE, "The answer was empty.", severity=Severity.NOTE)

    assert reach_verdict(replace(build_trace(case), findings=(shown,))).sentence == (
        "This text is a tool call. The text does not show where it came from."
    )
    assert verdict(described).sentence == (
        "The answer is described in words and not shown, so whether anything was lost is unknown."
    )


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (
            "Four.<|im_end|><|im_start|>user\nAnd five?",
            "The text opens another turn (`<|im_start|>`) after an end token",
        ),
        ("<|im_end|><|im_start|>user\nAnd five?", "The text opens turns (`<|im_start|>`), as a prompt does"),
        ("Four.<|im_start|>user\nAnd five?", "The text opens turns (`<|im_start|>`), as a prompt does"),
        ("Four.", "The raw output contains no tool call"),
    ],
)
def test_a_text_that_goes_on_after_its_end_differs_from_a_prompt(raw: str, words: str) -> None:
    assert reach_verdict(build_trace({"raw": raw, "vocabulary": "none"})).sentence.startswith(words)


def test_several_parts_are_listed_and_the_tools_count_only_without_messages() -> None:
    prompt = Prompt("server", "Hi.", (), None)
    tools: JSONObject = {"tools": [{"type": "function"}]}

    assert examined(Trace(Request(BODY | tools, ""), prompt=prompt, chat=CHAT)) == (
        "the request, the prompt and the answer"
    )
    assert examined(Trace(Request(tools, ""), chat=CHAT, chat_stream=CHAT)) == "the tools and the streamed answer"
    assert examined(Trace(Request({}, ""))) == ""
    assert (
        reach_verdict(Trace(Request(tools, ""))).sentence == "Only the tools were examined, and no problem was found."
    )
    assert reach_verdict(Trace(Request({}, ""), prompt=prompt)).sentence == (
        "Only the prompt was examined, and no problem was found."
    )
    rendered = Trace(Request(BODY, ""), local_prompt=Prompt("local", "Hi.", (), None))
    assert reach_verdict(rendered).sentence == "Rendered only: no model was asked."
