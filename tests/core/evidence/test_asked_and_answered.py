"""A request and an answer in one text: what links them, and what is said where nothing does."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.comparable import UNLINKED
from prompt_debugger.core.base.types import Certainty, Severity
from prompt_debugger.core.evidence import gather_evidence, read_evidence, show_evidence
from tests.attacks.growth import grows_linearly

RAW = '<tool_call>\n{"name": "read_file", "arguments": {"path": "notes.md"}}\n</tool_call><|im_end|>'


def asked(text="How warm is it in Tromsø?", *, model="acme/north-8b", tool="get_weather"):
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    tools = [{"type": "function", "function": {"name": tool, "parameters": parameters}}]
    return {"model": model, "messages": [{"role": "user", "content": text}], "tools": tools}


def answered(name="read_file", arguments='{"path": "notes.md"}', *, model="zeta-2", content=None):
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
    message = {"role": "assistant", "content": content, **({"tool_calls": [call]} if name else {})}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if name else "stop"}
    return {"id": "r", "object": "chat.completion", **({"model": model} if model else {}), "choices": [choice]}


def lines(request, answer):
    return f"{json.dumps(request)}\n{json.dumps(answer)}"


def report(request, answer):
    return "\n".join(
        f"{word}\n\n```json\n{json.dumps(one, indent=1)}\n```\n" for word, one in (("I send", request), ("and", answer))
    )


@pytest.mark.parametrize("shape", [lines, report])
async def test_where_nothing_links_them_what_rests_on_both_is_inferred_and_says_so(shape):
    trace = await show_evidence(read_evidence(shape(asked(), answered())))

    assert UNLINKED in trace.notes
    (finding,) = (one for one in trace.findings if one.code == "PD501")
    assert finding.certainty is Certainty.INFERRED
    assert "if request and answer belong together" in finding.detail
    assert "Probable stage: contract" in trace.verdict.sentence


async def test_a_raw_output_beside_a_request_is_no_other_case():
    trace = await show_evidence(read_evidence(f"{json.dumps(asked())}\n\n{RAW}"))

    (finding,) = (one for one in trace.findings if one.code == "PD515")
    assert finding.certainty is Certainty.INFERRED


@pytest.mark.parametrize("shape", [lines, report])
@pytest.mark.parametrize(
    ("request_body", "answer"),
    [
        (asked(), answered(model="north-8b-2026-01-02")),
        (asked(tool="read_files"), answered(model="")),
        (asked("What does notes.md say?"), answered()),
        (asked(tool="read_file"), answered(arguments="{}", model="")),
        (asked(), answered(name="", content="In Tromsø the water freezes.")),
    ],
    ids=["model", "a near name", "a word of the arguments", "tool", "a word of the content"],
)
def test_a_model_a_tool_or_words_in_common_link_them(shape, request_body, answer):
    assert UNLINKED not in read_evidence(shape(request_body, answer)).notes


async def test_tools_alone_are_linked_to_an_output_by_their_names():
    tools = json.dumps(asked()["tools"])
    for raw, certainty in (
        (RAW, {Certainty.INFERRED}),
        (RAW.replace("read_file", "get_weathers"), {Certainty.OBSERVED}),
    ):
        trace = await show_evidence(read_evidence(f"{tools}\n\n{raw}"))

        assert {one.certainty for one in trace.findings if one.code == "PD515"} == certainty


@pytest.mark.parametrize("called", ["read", "edit_file", "thread"])
def test_a_name_that_is_only_a_little_like_a_tool_s_links_nothing(called):
    text = lines(asked(tool="read_file"), answered(called, "{}", model=""))

    assert UNLINKED in read_evidence(text).notes


def test_the_same_tool_of_two_models_links_nothing():
    text = lines(asked(tool="read_file"), answered())

    assert UNLINKED in read_evidence(text).notes
    assert UNLINKED not in read_evidence(lines(asked(tool="read_file"), answered(model="north-8b"))).notes


async def test_an_answer_beside_a_request_that_has_its_own_is_another_one_s():
    events = [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": "It is cold in Tromsø."}}]}]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n"
    text = f"I send\n\n```json\n{json.dumps(asked())}\n```\n\nand get\n\n```\n{stream}```\n\nOr\n\n```json\n"
    text += f"{json.dumps(answered())}\n```\n"

    trace = await show_evidence(read_evidence(text))

    assert {one.certainty for one in trace.findings if one.code == "PD501"} <= {Certainty.INFERRED}


def test_parts_that_a_person_hands_over_one_by_one_need_nothing_in_common():
    evidence = gather_evidence([json.dumps(asked()), json.dumps(answered())])

    assert UNLINKED not in evidence.notes


@pytest.mark.parametrize(
    "whole",
    [
        json.dumps({"request": asked(), "response": answered()}),
        f"curl http://127.0.0.1:8000/v1/chat/completions -d '{json.dumps(asked())}'\n{json.dumps(answered())}",
    ],
)
def test_one_object_and_a_command_with_what_it_printed_are_one_run(whole):
    assert UNLINKED not in read_evidence(whole).notes


async def test_what_one_of_them_shows_alone_stays_as_it_is():
    answer = answered(arguments='{"path": "no')

    trace = await show_evidence(read_evidence(lines(asked(), answer)))

    certainties = {one.code: one.certainty for one in trace.findings if one.severity is Severity.ERROR}
    assert certainties == {"PD320": Certainty.OBSERVED, "PD501": Certainty.INFERRED}


def test_looking_for_what_they_share_takes_time_in_proportion_to_the_text():
    def run(size):
        read_evidence(lines(asked("north " * size), answered(content="south " * size)))

    assert grows_linearly(run, first=2_000)
