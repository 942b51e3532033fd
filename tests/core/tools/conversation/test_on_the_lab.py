"""The tool loop on the real lab: a call is answered, the model goes on, and every token between is accounted for."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.pipeline import Target, find_example
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.conversation import converse

pytestmark = pytest.mark.lab


async def conversation_from(body, stub, labs, **options):
    trace = await pipeline.run(read_request(json.dumps(body)), Target(), labs)
    *_, conversation = [one async for one in converse(trace, Target(), labs, stub, **options)]
    return conversation


async def test_an_answered_call_goes_on_where_the_model_ended_and_the_loop_ends_by_itself(labs):
    body = json.loads(find_example("healthy-call").request_text)

    conversation = await conversation_from(body, {"get_weather": "20 degrees"}, labs)

    first, second = conversation.turns
    assert (first.written, first.returned, second.returned) == (1, 1, 0)
    assert (second.seam.unit, second.seam.lost) == ("token", 0)
    assert "20 degrees" in second.trace.chat.message["content"]
    assert conversation.ended == "the answer contains no call"


async def test_a_tool_without_an_answer_ends_the_loop(labs):
    body = json.loads(find_example("healthy-call").request_text)

    conversation = await conversation_from(body, {}, labs)

    assert len(conversation.turns) == 1
    assert conversation.ended == "no answer was given for get_weather"
