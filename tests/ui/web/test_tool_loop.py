"""The tool loop of the page: what waits for an answer, what is refused, and what a turn and its account show."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.types import ChatResult
from prompt_debugger.core.pipeline import Target, find_example
from prompt_debugger.core.pipeline.recordings import load_recording
from prompt_debugger.core.pipeline.render_only import render_request
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.conversation import add_turn, answers_to_calls, begin, request_after
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.web.fixes.loop import MAX_TURNS, ToolLoop
from prompt_debugger.ui.web.fixes.runs import PUBLIC_RUNS, PageRuns, Ran
from prompt_debugger.ui.web.handlers import Handlers
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields

LAB = TargetFields("", "", "", "kimi_k2", "none")


def page(pool=None, **settings):
    labs = PageLabs(pool or LabPool(), enabled=pool is not None)
    return ToolLoop(PageRuns(Handlers(PageSettings(lab=pool is not None, **settings), labs)))


def recorded(name):
    recording = load_recording(name)
    assert recording is not None
    return recording.trace


def order(**wanted):
    return json.dumps({"answers": [], "stub": "", "user": "", "turns": 1} | wanted)


def header_of(step):
    return unpack_payload(step.payload)[0]


async def collect(steps):
    return [step async for step in steps]


async def conversation_with(**function):
    """Return a recorded run, and a second turn in which its call came back changed."""
    trace = recorded("healthy-call")
    call = trace.chat.message["tool_calls"][0]
    changed = {**call, "function": {**call["function"], **function}}
    said = replace(trace, chat=ChatResult({**trace.chat.message, "tool_calls": [changed]}, "tool_calls"))
    answers = answers_to_calls(said, ["20 °C"], {})[0]
    later = await render_request(request_after(said, answers), Target())
    rendered = (await render_request(trace.request, Target())).local_prompt
    return add_turn(begin(replace(said, prompt=None, local_prompt=rendered)), later, answers)


async def test_the_calls_of_a_run_wait_for_answers():
    step = await page().show(recorded("healthy-call"), None)

    header = header_of(step)
    assert header["state"] == "done"
    assert header["sentence"] == "The model waits for 1 answer."
    assert header["open"] == [
        {"id": "functions.get_weather:0", "name": "get_weather", "arguments": '{"city": "Paris"}'}
    ]
    assert (header["turns"][0]["seam"], header["turns_left"]) == (None, MAX_TURNS - 1)
    assert step.conversation.turns[0].trace == recorded("healthy-call")


async def test_a_dropped_call_cannot_be_answered_and_says_so():
    header = header_of(await page().show(recorded("dropped-call"), None))

    assert header["open"] == []
    assert "dropped" in header["sentence"]
    assert header["source"] == "1 turn: 1 call written, 0 returned, 1 dropped."


async def test_before_a_run_there_is_nothing_to_answer():
    loop = page()

    assert (await loop.show(None, None)).payload == "", "no error: no one asked for anything yet"
    [step] = await collect(loop.run_turns(Ran(None, LAB, "a"), order(), None))
    assert header_of(step)["state"] == "error"
    assert "nothing has been run" in header_of(step)["sentence"].lower()
    assert unpack_payload(await loop.save(None))[0]["kind"] == "failure"
    assert unpack_payload(loop.request_of("1", None))[0]["kind"] == "failure"


@pytest.mark.parametrize(
    ("name", "asked", "words"),
    [
        ("healthy-call", order(), "There is no answer for get_weather."),
        ("healthy-call", order(answers=["  "], stub='{"search": 1}'), "There is no answer for get_weather."),
        ("healthy-call", order(answers=["20"], stub="{"), "The tools' answers are not valid JSON"),
        ("healthy-call", order(answers=["20"], turns=0), "The number of turns must be from 1 to"),
        ("healthy-call", order(answers=["20"], turns=True), "The number of turns must be from 1 to"),
        ("healthy-call", "no order", "The number of turns must be from 1 to"),
        ("dropped-call", order(), "The last answer contains no call."),
        ("healthy-call", order(answers=["20"]), "There is no server"),
    ],
)
async def test_what_cannot_go_on_says_why_and_keeps_the_conversation(name, asked, words):
    """The fields stay as they are: their turn is the same."""
    trace, loop = recorded(name), page()

    *_, step = await collect(loop.run_turns(Ran(trace, LAB, "a"), asked, None))

    header = header_of(step)
    assert header["state"] == "refused"
    assert header["sentence"].lower().startswith(words.lower())
    assert len(header["turns"]) == 1
    assert step.conversation is None


async def test_a_round_trip_that_changes_tokens_is_shown_at_its_first_token_with_its_cost():
    conversation = await conversation_with(arguments=json.dumps({"city": "Paris"}, indent=2))

    header = header_of(await page().show(conversation.last, conversation))

    seam = header["turns"][1]["seam"]
    assert seam["before"]["where"] == "output"
    assert seam["after"]["field"].endswith("function.arguments")
    assert seam["lost"] == seam["known"] - seam["kept"] > 0
    assert f"{seam['lost']} computed tokens of earlier turns could not be reused." in header["source"]
    assert header["turns"][1]["said"] == [{"who": "get_weather", "text": "20 °C"}]


async def test_an_opened_turn_stays_in_its_conversation_and_another_run_begins_one():
    conversation = await conversation_with()
    loop = page()
    title, first = loop.open("1", conversation)

    kept = await loop.show(first, conversation)
    begun = await loop.show(recorded("healthy-call"), conversation)

    assert title == "Turn 1 of the conversation."
    assert (len(header_of(kept)["turns"]), kept.conversation) == (2, None)
    assert len(begun.conversation.turns) == 1
    assert [loop.open(one, conversation) for one in ("0", "3", "-1", "x", "²")] == [None] * 5


async def test_a_turns_request_goes_into_the_editor_and_is_not_run():
    conversation = await conversation_with()

    header, text = unpack_payload(page().request_of("2", conversation))

    assert (header["kind"], header["runs"]) == ("apply", False)
    assert json.loads(text) == conversation.last.request.body


async def test_a_saved_conversation_contains_its_account_and_no_key():
    trace = recorded("healthy-call")
    said = replace(trace, chat=ChatResult({"role": "assistant", "content": "Bearer abcdefgh12345678"}, "stop"))

    header, data = unpack_payload(await page().save(begin(said)))

    assert (header["kind"], header["type"]) == ("file", "application/json")
    saved = json.loads(data)["conversation"]
    assert saved["turns"][0]["written"] == 1
    assert saved["turns"][0]["message"]["content"] == "Bearer [removed]"


async def test_a_public_page_has_fewer_turns():
    header = header_of(await page(public=True).show(recorded("healthy-call"), None))

    assert header["turns_left"] == PUBLIC_RUNS - 1


@pytest.mark.lab
async def test_typed_answers_and_then_the_stub_go_on_until_no_call_is_left(labs):
    first = await pipeline.run(read_request(find_example("healthy-call").request_text), Target(), labs)
    loop = page(labs)

    steps = await collect(
        loop.run_turns(Ran(first, LAB, "a"), order(answers=["20 degrees"], stub='{"*": "done"}', turns=3), None)
    )

    states = [header_of(step)["state"] for step in steps]
    assert (states[-1], set(states[:-1])) == ("done", {"running"})
    conversation = steps[-1].conversation
    assert len(conversation.turns) == 2
    assert conversation.turns[1].seam.lost == 0
    assert "20 degrees" in conversation.last.chat.message["content"]
    more = (
        await collect(loop.run_turns(Ran(conversation.turns[0].trace, LAB, "a"), order(user="And Rome?"), conversation))
    )[-1]
    assert [len(more.conversation.turns), header_of(more)["turns"][2]["said"]] == [
        3,
        [{"who": "user", "text": "And Rome?"}],
    ]
