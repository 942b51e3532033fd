"""Long answers are read in the sandbox, within bounds; what is left out is said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import JSON, JSONObject, TokenLogprob
from prompt_debugger.core.complete import answers, assemble, chat_stream, growing_tokens, json_answers, reading
from prompt_debugger.core.complete.answers import read_chat
from prompt_debugger.core.complete.assemble import MessageAssembler
from prompt_debugger.core.complete.backends.decoding import Text
from prompt_debugger.core.complete.backends.failures import Call, failure_of_format
from prompt_debugger.core.complete.backends.limits import MAX_IDS
from prompt_debugger.core.complete.backends.sse import SseEvent
from prompt_debugger.core.complete.chat_stream import ChatStreamReader
from prompt_debugger.core.complete.growing_tokens import GrowingIds, GrowingLogprobs
from prompt_debugger.core.complete.json_answers import read_json
from prompt_debugger.core.complete.raw_completion import CompletionReader
from prompt_debugger.core.complete.shapes import ids_of
from tests.core.sandbox import hostile

STOP: JSONObject = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def events_of(*deltas: Mapping[str, JSON]) -> list[SseEvent]:
    """Return the events of a stream that ends well."""
    chunks: list[JSON] = [{"choices": [{"index": 0, "delta": dict(delta)}]} for delta in deltas]
    return [SseEvent(data) for data in (*map(json.dumps, (*chunks, STOP)), "[DONE]")]


@pytest.mark.parametrize("is_long", [False, True])
async def test_long_and_short_answers_are_read_alike(monkeypatch: pytest.MonkeyPatch, is_long: bool) -> None:
    monkeypatch.setattr(reading, "IN_PLACE_CHARS", 0 if is_long else 10**9)
    deltas: list[JSONObject] = [{"content": "a"}, {"tool_calls": [{"index": 0, "function": {"name": "f"}}]}]
    chat, raw = ChatStreamReader(), CompletionReader()
    for event in events_of(*deltas):
        await chat.read(event, 0.0)
    await raw.read_whole('{"choices": [{"text": "a", "token_ids": [1], "finish_reason": "stop"}]}')

    result = await chat.end("", 0.0)

    assert (result.error, result.finish_reason) == (None, "stop")
    assert result.message == {"content": "a", "tool_calls": [{"function": {"name": "f"}}]}
    assert [delta.delta for delta in result.deltas] == [*deltas, {}]
    assert raw.finish("", 0.0, None).token_ids == (1,)


async def test_a_reading_that_takes_too_much_is_a_fault_of_the_answer() -> None:
    with pytest.raises(BackendError, match=r"took more than 0\.3 s of processor time") as caught:
        await reading.read(reading.IN_PLACE_CHARS + 1, hostile.search, "(a+)+$", "a" * 40 + "!")

    assert caught.value.kind == "too-large"


def test_a_message_of_more_values_than_any_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers.bound_message, "__defaults__", (10,))

    def error_of(message: JSONObject) -> str | None:
        return read_chat({"choices": [{"message": message}]}, "", 0.0).error

    assert error_of({"a": [1, 2, 3, 4, 5, 6, 7]}) is None
    assert "so it was not read to the end" in str(error_of({"a": [1, 2, 3, 4, 5, 6, 7, 8]}))


def test_a_streamed_message_stops_growing_where_no_message_is_as_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble, "MAX_VALUES", 20)
    reader = ChatStreamReader()
    for event in events_of(*({f"k{number}": 0} for number in range(30))):
        reader.feed(event, 0.0)

    result = reader.finish("", 0.0)

    assert "the streamed message contains more than" in str(result.error)
    assert len(result.message) == 11
    assert len(result.deltas) == 31


def test_text_that_grows_is_not_a_further_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble, "MAX_VALUES", 20)
    assembler = MessageAssembler()
    for _ in range(100):
        assembler.add({"content": "a"})

    assert (assembler.has_unread_values, assembler.message()) == (False, {"content": "a" * 100})


def test_events_of_more_values_than_any_stream_has_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_stream, "MAX_STREAM_VALUES", 30)
    reader = ChatStreamReader()
    for event in events_of(*[{"content": "a"}] * 20):
        reader.feed(event, 0.0)

    result = reader.finish("", 0.0)

    assert "the events of the stream contain more than 30 values" in str(result.error)
    assert (len(result.deltas), result.message) == (10, {"content": "a" * 10})


def test_more_ids_than_any_context_holds_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing_tokens, "MAX_IDS", 3)
    ids = GrowingIds()

    assert ids.reported is None
    assert [ids.add(some) for some in ((1, 2), None, (3,))] == [(1, 2), None, (3,)]
    assert ids.reported == (1, 2, 3)
    assert [ids.add((4,)), ids.reported] == [None, None]
    assert ids_of([1] * MAX_IDS) is not None
    assert ids_of([1] * (MAX_IDS + 1)) is None


def test_alternatives_to_later_tokens_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing_tokens, "MAX_ALTERNATIVES", 2)
    monkeypatch.setattr(growing_tokens, "MAX_LOGPROBS", 3)
    token, growing = TokenLogprob("a", 1, -1.0, (("b", -2.0),)), GrowingLogprobs()

    growing.add([token, token, token])

    assert [len(one.top) for one in growing.reported or ()] == [1, 1, 0]
    growing.add([token])
    assert growing.reported is None


def test_json_of_more_items_than_any_answer_has_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_answers, "MAX_ITEMS", 3)

    assert read_json("[1,2,3,4]") == [1, 2, 3, 4]
    with pytest.raises(BackendError, match="More than 3 items"):
        read_json("[1,2,3,4,5]")


@given(st.binary(max_size=40), st.lists(st.integers(0, 40), max_size=5))
def test_bytes_in_any_pieces_are_the_same_text(data: bytes, cuts: list[int]) -> None:
    text = Text()
    places = sorted({0, *(cut for cut in cuts if cut < len(data)), len(data)})
    for start, end in pairwise(places):
        text.add(data[start:end])

    assert text.whole == data.decode("utf-8", "replace")
    assert text.is_utf8 is (data == data.decode("utf-8", "replace").encode() and _is_utf8(data))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def test_no_part_of_a_key_is_left_where_a_long_answer_is_cut() -> None:
    key = "key-" + "0123456789" * 3
    call = Call("POST", "http://h/v1", key)

    for before in range(len(key) + 1):
        error = failure_of_format(call, 200, "text/plain", "x" * before + key * 3_000, "odd")
        assert "0123" not in error.body
