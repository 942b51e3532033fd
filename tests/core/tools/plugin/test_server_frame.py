"""What a server before 0.24 knows while it calls a parser: seen in the function that calls, by its name and its own."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from prompt_debugger.core.tools.plugin.inside.server_frame import server_call, takes_content_of_calls_alone

TOOL, REASONING, REQUEST, PROMPT = object(), object(), object(), [1, 2]


def through_a_wrapper():
    return server_call()


async def chat_completion_stream_generator(outputs, call=through_a_wrapper, request=REQUEST):
    """Call as the chat server up to 0.20 does."""
    tool_parser, reasoning_parser, res = TOOL, REASONING, SimpleNamespace(prompt_token_ids=PROMPT)
    for output in outputs:  # noqa: B007 - read by its name from the frame
        yield call(), tool_parser, reasoning_parser, res


def parse_delta(request, finished=None):
    """Call as the layer between does."""
    return server_call()


async def calls(*finish_reasons, **more):
    outputs = [SimpleNamespace(finish_reason=one) for one in finish_reasons]
    return [call async for call, *_ in chat_completion_stream_generator(outputs, **more)]


async def test_the_delta_with_a_finish_reason_is_the_last():
    first, last = await calls(None, "length")

    assert (first.is_last, last.is_last, last.hands_on) == (False, True, False)
    assert (last.request, last.tool_parser, last.reasoning_parser) == (REQUEST, TOOL, REASONING)
    assert last.prompt_ids is PROMPT


@pytest.mark.parametrize("finished", [True, False])
def test_the_layer_between_says_so_itself(finished):
    call = parse_delta(REQUEST, finished)

    assert (call.is_last, call.hands_on, call.request) == (finished, True, REQUEST)


async def test_parsers_are_those_of_the_layer_between_where_that_says_nothing():
    class Joined:
        _tool_parser, _reasoning_parser = object(), object()

        def parse_delta(self):
            return server_call()

    (call,) = await calls("stop", call=Joined().parse_delta)

    assert (call.is_last, call.hands_on) == (True, False)
    assert (call.tool_parser, call.reasoning_parser) == (Joined._tool_parser, Joined._reasoning_parser)


async def test_an_unknown_caller_says_nothing():
    async def stream_of_another_server(output):
        yield server_call()

    assert server_call() is None
    assert [one async for one in stream_of_another_server(SimpleNamespace(finish_reason="stop"))] == [None]
    assert [one async for one, *_ in chat_completion_stream_generator([None, "text"])] == [None, None]
    assert parse_delta(REQUEST) is None


def test_a_server_that_takes_content_with_calls_alone_is_known_by_its_function():
    def _extract_tool_calls():
        return takes_content_of_calls_alone()

    def chat_completion_full_generator():
        return takes_content_of_calls_alone()

    assert (_extract_tool_calls(), chat_completion_full_generator()) == (True, False)
