"""The seam between two turns: what goes on is silent, what a round trip changes is shown at its first token."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import ChatResult, Completeness
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.pipeline.recordings import load_recording
from prompt_debugger.core.pipeline.render_only import render_request
from prompt_debugger.core.tools.conversation import (
    add_turn,
    answers_from_stub,
    answers_to_calls,
    begin,
    conversation_to_json,
    read_stub,
    request_after,
    seam_between,
)


@pytest.fixture(scope="module")
def recorded():
    recording = load_recording("healthy-call")
    assert recording is not None
    return recording.trace


async def next_turn(trace, message=None):
    """Return the run before as rendered here, and the next one, in which the message comes back as `message`."""
    chat = trace.chat if message is None else ChatResult(message, "tool_calls")
    said = replace(trace, chat=chat)
    answers = answers_to_calls(said, ["20 °C"], {})[0]
    later = await render_request(request_after(said, answers), Target())
    return replace(trace, prompt=None, local_prompt=(await render_request(trace.request, Target())).local_prompt), later


def altered(trace, **function):
    call = trace.chat.message["tool_calls"][0]
    call_id = function.pop("id", call["id"])
    changed = {**call, "id": call_id, "function": {**call["function"], **function}}
    return {**trace.chat.message, "tool_calls": [changed]}


async def test_a_message_that_comes_back_as_it_was_goes_on_where_the_model_ended(recorded):
    last, now = await next_turn(recorded)

    seam = seam_between(last, now)

    assert (seam.unit, seam.lost, seam.first, seam.problem) == ("token", 0, None, "")
    assert seam.kept == seam.known == len(last.local_prompt.tokens) + len(last.raw.tokens)
    assert seam.next_count == len(now.local_prompt.tokens) > seam.known


async def test_arguments_written_anew_are_shown_at_their_first_token(recorded):
    rewritten = json.dumps({"city": "Paris"}, indent=2)
    last, now = await next_turn(recorded, altered(recorded, arguments=rewritten))

    seam = seam_between(last, now)

    assert seam.before.where == "output"
    assert seam.after.field.endswith("function.arguments")
    assert seam.lost == seam.known - seam.first > 0
    assert seam.before.lead.endswith("{") or seam.before.text.startswith("{")
    assert "arguments" in seam.cause


async def test_an_id_of_the_servers_own_is_shown_at_its_first_token(recorded):
    last, now = await next_turn(recorded, altered(recorded, id="chatcmpl-tool-1"))

    seam = seam_between(last, now)

    assert seam.before.where == "output"
    assert seam.after.field.endswith(".id")
    assert seam.after.text + seam.after.tail != seam.before.text + seam.before.tail


async def test_an_output_that_tells_no_ids_is_compared_by_its_characters(recorded):
    last, now = await next_turn(recorded)
    textual = replace(last, raw=replace(last.raw, tokens=None, token_ids=None))

    seam = seam_between(textual, now)

    assert (seam.unit, seam.lost) == ("character", 0)
    assert seam.known == len(last.local_prompt.text) + len(last.raw.text)


async def test_nothing_is_reported_of_an_output_without_its_control_tokens(recorded):
    last, now = await next_turn(recorded)
    stripped = replace(last, raw=replace(last.raw, completeness=Completeness.STRIPPED))

    assert seam_between(stripped, now).problem
    assert seam_between(replace(last, raw=None), now).problem


async def test_a_servers_prompt_is_never_compared_with_one_of_ours(recorded):
    last, now = await next_turn(recorded)
    of_server = replace(last, prompt=replace(last.local_prompt, text="otherwise", tokens=()))

    assert seam_between(of_server, now).lost == 0


async def test_a_conversation_counts_calls_and_lost_tokens_over_all_turns(recorded):
    last, now = await next_turn(recorded, altered(recorded, id="chatcmpl-tool-1"))
    answers = answers_to_calls(last, ["20 °C"], {})[0]

    document = conversation_to_json(add_turn(begin(last), now, answers))

    first, second = document["turns"]
    assert (first["written"], first["returned"], first["seam"]) == (1, 1, None)
    assert second["answers"] == [{"call_id": "functions.get_weather:0", "name": "get_weather", "content": "20 °C"}]
    assert document["lost"] == second["seam"]["lost"] > 0
    assert document["outcomes"] == {"kept": 1}


def test_a_stub_answers_by_name_or_for_any_and_says_which_tool_it_does_not_know(recorded):
    named, unknown = answers_from_stub({"get_weather": {"degrees": 20}}, recorded)
    anyone, _ = answers_from_stub({"*": "done"}, recorded)

    assert ([answer.content for answer in named], unknown) == (['{"degrees": 20}'], ())
    assert [answer.content for answer in anyone] == ["done"]
    assert answers_from_stub({"search": ""}, recorded) == ((), ("get_weather",))


def test_the_next_request_contains_the_message_as_the_server_gave_it_and_nothing_that_is_null(recorded):
    answers, _ = answers_from_stub({"*": "20"}, recorded)
    body = request_after(recorded, answers, user="And Rome?").body

    *_, message, result, user = body["messages"]
    assert message == {"role": "assistant", "content": None, "tool_calls": recorded.chat.message["tool_calls"]}
    assert (result["role"], result["tool_call_id"], result["content"]) == ("tool", "functions.get_weather:0", "20")
    assert user == {"role": "user", "content": "And Rome?"}


@pytest.mark.parametrize("text", ["", "[1]", '"text"'])
def test_a_stub_that_is_not_an_object_is_refused(text):
    with pytest.raises(RequestError):
        read_stub(text)


def test_a_typed_answer_comes_before_the_stubs_and_a_blank_one_is_none(recorded):
    def contents(texts, stub):
        answers, unknown = answers_to_calls(recorded, texts, stub)
        return [answer.content for answer in answers], unknown

    assert contents(["20 °C"], {"*": "done"}) == (["20 °C"], ())
    assert contents([" \n"], {"get_weather": ""}) == ([""], ())
    assert contents([], {}) == ([], ("get_weather",))


def test_a_run_without_a_message_has_nothing_to_go_on_from(recorded):
    with pytest.raises(RequestError, match="no message"):
        request_after(replace(recorded, chat=None), ())
