"""How close a call was: at the right token, against the best rival, and nothing said where nothing is known."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from prompt_debugger.core.api import parse
from prompt_debugger.core.base.types import Completion, Request, Server, TokenLogprob, Trace
from prompt_debugger.core.pipeline.recordings import load_recording
from prompt_debugger.core.tools.fixes.margin import ask_logprobs as asking
from prompt_debugger.core.tools.fixes.margin import asks_for_margin, margin_of_prose, trigger_margin

SECTION = "<|tool_calls_section_begin|>"


def recorded(name):
    recording = load_recording(name)
    assert recording is not None
    return recording.trace


def ask_logprobs(trace, **places):
    """Return a run whose tokens are certain, but for the alternatives that are given by index."""
    tokens = trace.raw.tokens
    made = []
    for index, token in enumerate(tokens):
        top = places.get(f"at_{index}", {token.text: 1.0})
        likely = tuple((text, math.log(share)) for text, share in top.items())
        made.append(TokenLogprob(token.text, token.id, dict(likely).get(token.text, -9.0), likely))
    return replace(trace, raw=replace(trace.raw, logprobs=tuple(made)))


def test_a_call_that_was_written_is_weighed_at_the_token_that_began_it():
    margin = trigger_margin(ask_logprobs(recorded("healthy-call"), at_0={SECTION: 0.7, "I": 0.2}))

    assert (margin.token_index, margin.marker, margin.is_listed, margin.rival) == (0, SECTION, True, "I")
    assert margin.margin == pytest.approx(0.5)
    assert "70.0%" in margin.sentence


def test_prose_in_place_of_a_call_is_weighed_at_its_first_token():
    trace = recorded("polluted-content")
    first = trace.raw.tokens[0].text
    margin = trigger_margin(ask_logprobs(trace, at_0={first: 0.9, SECTION: 0.08}))

    assert (margin.wrote, margin.rival) == (first, first)
    assert margin.margin == pytest.approx(-0.82)


def test_a_marker_that_the_server_does_not_list_has_at_most_what_is_left():
    trace = recorded("polluted-content")
    first = trace.raw.tokens[0].text
    margin = trigger_margin(ask_logprobs(trace, at_0={first: 0.9, "x": 0.09}))

    assert (margin.marker, margin.is_listed) == (SECTION, False)
    assert margin.probability == pytest.approx(0.01)
    assert "at most 1.0%" in margin.sentence


def test_after_reasoning_the_answer_counts():
    pieces = ["<think>", "I need no tool", "</think>", "It", " is warm."]
    tops = {3: (("It", math.log(0.6)), (SECTION, math.log(0.4)))}
    logprobs = tuple(TokenLogprob(piece, None, 0.0, tops.get(index, ())) for index, piece in enumerate(pieces))
    text = "".join(pieces)
    tool = {"type": "function", "function": {"name": "get_weather"}}
    trace = Trace(
        Request({"tools": [tool]}, ""),
        server=Server("", kind="vllm", tool_parser="kimi_k2"),
        raw=Completion(text, None, "stop", logprobs=logprobs),
        parse=parse(text, tools=[tool], format="kimi_k2").parse,
    )

    margin = trigger_margin(trace)

    assert (margin.token_index, margin.wrote) == (3, "It")
    assert margin.margin == pytest.approx(-0.2)


@pytest.mark.parametrize("change", [{"tools": None}, {"tools": []}, {"tool_choice": "none"}])
def test_nothing_is_reported_where_no_call_could_come(change):
    trace = ask_logprobs(recorded("healthy-call"), at_0={SECTION: 0.7, "I": 0.2})
    body = {**trace.request.body, **change}

    assert trigger_margin(replace(trace, request=replace(trace.request, body=body))) is None


def test_nothing_is_reported_without_alternatives_or_where_tokens_and_probabilities_disagree():
    trace = ask_logprobs(recorded("healthy-call"), at_0={SECTION: 0.7, "I": 0.2})
    fewer = replace(trace.raw, logprobs=trace.raw.logprobs[:3])

    assert trigger_margin(recorded("healthy-call")) is None
    assert trigger_margin(ask_logprobs(recorded("healthy-call"))) is None
    assert trigger_margin(replace(trace, raw=fewer)) is None


def change_body(trace, **changes):
    return replace(trace, request=replace(trace.request, body={**trace.request.body, **changes}))


def test_prose_where_a_call_could_have_been_asks_for_log_probabilities_once():
    prose = recorded("polluted-content")

    assert asks_for_margin(prose)
    for name in ("healthy-call", "dropped-call", "wrong-parser", "answer-swallowed-as-reasoning"):
        assert not asks_for_margin(recorded(name))
    for change in ({"tools": []}, {"tool_choice": "none"}, {"logprobs": True}):
        assert not asks_for_margin(change_body(prose, **change))
    for change in ({"chat": None}, {"parse": None}):
        assert not asks_for_margin(replace(prose, **change))


def test_the_margin_of_prose_is_none_where_a_call_was_written():
    likely = {SECTION: 0.4, "I": 0.5}

    assert margin_of_prose(ask_logprobs(recorded("polluted-content"), at_0=likely)).marker == SECTION
    assert margin_of_prose(ask_logprobs(recorded("healthy-call"), at_0=likely)) is None
    assert margin_of_prose(ask_logprobs(recorded("dropped-call"), at_0=likely)) is None


def test_a_request_that_asks_for_alternatives_keeps_its_number_of_them():
    assert asking({"messages": []}) == {"messages": [], "logprobs": True, "top_logprobs": 5}
    assert asking({"top_logprobs": 2, "logprobs": False}) == {"top_logprobs": 2, "logprobs": True}
