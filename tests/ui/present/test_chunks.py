"""The line of time of a stream: what each chunk carried, and what is not known is left out."""

from dataclasses import replace

from prompt_debugger.core.base.types import ChatResult, StreamDelta
from prompt_debugger.ui.present.completion import MAX_CHUNKS, chunk_timing
from tests.ui.present.traces import dropped_call_trace


def streamed(*deltas):
    return replace(dropped_call_trace(), chat_stream=ChatResult({"role": "assistant"}, "stop", deltas=deltas))


def delta(at_s, ids=None, reason=None, **fields):
    return StreamDelta(fields, ids, reason, at_s)


CALL = {"index": 0, "function": {"name": "f", "arguments": "{}"}}


def test_each_chunk_says_when_it_came_and_what_it_carried():
    timing = chunk_timing(
        streamed(
            delta(0.1, role="assistant", content=""),
            delta(0.2, (1,), reasoning="Hm"),
            delta(0.5, (2, 3), content="Hi"),
            delta(0.6, (4,)),
            delta(0.7, (5,), tool_calls=[CALL]),
            delta(1.2, None, "stop"),
        )
    )

    assert [chunk[:4] for chunk in timing["chunks"]] == [
        [0.1, "empty", "", 0],
        [0.2, "reasoning", "Hm", 1],
        [0.5, "content", "Hi", 2],
        [0.6, "empty", "", 1],
        [0.7, "call", "f {}", 1],
        [1.2, "end", "stop", 0],
    ]
    assert timing["total_s"] == 1.2
    assert timing["figures"] == (
        "first chunk after 100 ms · first text after 200 ms · 6 chunks in 1.20 s · "
        "longest gap 500 ms, before chunk 6 · 1 with tokens and no text"
    )


def tokens_of_raw(trace, start, stop):
    return [trace.raw.text[token.char_span.start : token.char_span.stop] for token in [*trace.raw.tokens][start:stop]]


def test_chunks_of_this_very_output_know_their_characters():
    trace = dropped_call_trace()
    ids = trace.raw.token_ids
    deltas = (delta(0.1, ids[:2]), delta(0.2, ids[2:3]), delta(0.3))

    spans = [chunk[4] for chunk in chunk_timing(streamed(*deltas))["chunks"]]

    assert chunk_timing(streamed(*deltas))["chunks"][0][2] == "".join(tokens_of_raw(trace, 0, 2))
    tokens = trace.raw.tokens
    assert spans == [[tokens[0].char_span.start, tokens[1].char_span.stop], [*tokens[2].char_span], None]


def test_chunks_of_another_output_know_none():
    assert [chunk[4] for chunk in chunk_timing(streamed(delta(0.1, (99_999,)), delta(0.2, (7,))))["chunks"]] == [
        None,
        None,
    ]


def test_without_a_stream_or_its_times_there_is_no_line():
    assert chunk_timing(replace(dropped_call_trace(), chat_stream=None)) is None
    assert chunk_timing(streamed()) is None
    assert chunk_timing(streamed(delta(0.0), delta(0.0))) is None


def test_odd_chunks_are_data_and_long_streams_are_cut():
    odd = [delta(0.1, content=7), delta(0.2, tool_calls="x"), delta(0.3, tool_calls=[None, {"function": 3}])]
    many = [delta(0.4 + number / 1000, content="x" * 5_000) for number in range(MAX_CHUNKS)]

    timing = chunk_timing(streamed(*odd, *many))

    assert len(timing["chunks"]) == MAX_CHUNKS
    assert max(len(chunk[2]) for chunk in timing["chunks"]) < 300
