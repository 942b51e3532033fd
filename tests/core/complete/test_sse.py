"""Server-sent events from bytes, however they are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.complete.backends.sse import SseEvent, SseParser

PIECES = [
    b"data: ", b"data:", b"data", b"event: error", b": ping", b"id: 1", b"\n", b"\r", b"\r\n", b"\n\n", b"\r\n\r\n",
    b"{\"a\": 1}", b"[DONE]", "é😀".encode(), b"\xff\xfe", b"\xe2\x82", b"\xef\xbb\xbf", b" ", b"retry: 3", b"\x00",
]  # fmt: skip
STREAMS = st.lists(st.sampled_from(PIECES) | st.binary(max_size=6), max_size=40).map(b"".join)


def read(*chunks: bytes) -> list[SseEvent]:
    parser = SseParser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return [*events, *parser.finish()]


@given(STREAMS, st.lists(st.integers(0, 200), max_size=8))
def test_any_cutting_gives_the_same_events(data: bytes, cuts: list[int]) -> None:
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    pieces = [data[a:b] for a, b in pairwise(places)]

    assert read(*pieces) == read(data)
    assert read(*(data[i : i + 1] for i in range(len(data)))) == read(data)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"data: a\n\ndata: b\n\n", ["a", "b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        (b"data: a\r\rdata: b\r\r", ["a", "b"]),
        (b"data:a\n\n", ["a"]),
        (b"data:  a\n\n", [" a"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b"data\n\n", [""]),
        (b": comment\n\ndata: a\n: inside\n\n", ["a"]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b"id: 4\nretry: 10\nother: x\n\n", []),
        (b"\n\n\n", []),
        (b"", []),
    ],
)
def test_events_are_read_by_the_standard(data: bytes, expected: list[str]) -> None:
    assert [event.data for event in read(data)] == expected


def test_the_type_of_an_event_is_kept_and_belongs_to_it_alone() -> None:
    events = read(b"event: error\ndata: a\n\ndata: b\n\n")

    assert [event.event for event in events] == ["error", ""]


def test_a_character_split_between_reads_stays_whole() -> None:
    data = "data: 日本😀\n\n".encode()

    assert read(data[:8], data[8:9], data[9:]) == [SseEvent("日本😀")]


def test_bytes_that_are_not_utf8_are_marked() -> None:
    events = read(b"data: a\xffb\n\ndata: c\n\n")

    assert events == [SseEvent("a\ufffdb", is_utf8=False), SseEvent("c")]


@pytest.mark.parametrize("data", [b'data: {"a', b'data: {"a\n'])
def test_an_event_that_the_end_cuts_off_is_given_as_such(data: bytes) -> None:
    assert read(data) == [SseEvent('{"a', is_complete=False)]
