"""Streaming against the whole parse: which chunking fails, how small it gets, and where the messages part."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.parse.engines.vllm_worker.message import GrowingMessage, Message, written_like
from prompt_debugger.core.parse.engines.vllm_worker.piece import Piece, texts_by_prefix
from prompt_debugger.core.parse.engines.vllm_worker.splits import Follower, compare


def content(text):
    return SimpleNamespace(content=text, reasoning=None, tool_calls=())


def call(index, name=None, arguments=None, call_id=None):
    function = SimpleNamespace(name=name, arguments=arguments)
    return SimpleNamespace(
        content=None, reasoning=None, tool_calls=(SimpleNamespace(index=index, id=call_id, function=function),)
    )


def grown(*deltas, first_only=False):
    growing = GrowingMessage()
    for delta in deltas:
        growing.add(delta, first_only=first_only)
    return growing


def pieces(text):
    return [Piece(number, one, one, is_marker=False) for number, one in enumerate(text)]


def streams(text, reader):
    """A parser that makes content of each delta by itself."""

    def stream(ends, watch=None):
        growing, start = GrowingMessage(), 0
        for index, end in enumerate(ends):
            growing.add(content(reader(text[start:end])), first_only=False)
            start = end
            if watch is not None:
                watch(index, growing)
        return growing.message()

    return stream


def test_a_message_grows_by_what_its_deltas_bring():
    growing = grown(
        content("a"), call(1, "later", "{"), call(0, "first", None, "id0"), call(1, None, "}"), content("b")
    )

    assert growing.message() == Message(
        None,
        "ab",
        [
            {"id": "id0", "name": "first", "arguments": ""},
            {"id": None, "name": "later", "arguments": "{}"},
        ],
    )


def test_a_function_may_be_absent_or_a_mapping():
    bare = SimpleNamespace(index=0, id="x", function=None)
    mapped = SimpleNamespace(index=0, id="y", function={"name": "go", "arguments": "{}"})
    growing = grown(SimpleNamespace(content="", reasoning="r", tool_calls=[bare, mapped]))

    assert growing.message() == Message("r", None, [{"id": "x", "name": "go", "arguments": "{}"}])


def test_without_parallel_calls_only_the_first_counts():
    growing = grown(call(0, "one"), call(1, "two"), first_only=True)

    assert [one["name"] for one in growing.message().calls] == ["one"]


FRAGMENTS = st.sampled_from(["", "a", "b", "ab", "ba"])
DELTAS = st.lists(
    st.one_of(FRAGMENTS.map(content), st.builds(call, st.integers(0, 2), FRAGMENTS, FRAGMENTS)), max_size=8
)


def can_become(so_far, whole):
    """The same question, answered from the texts themselves."""
    texts = [(so_far.content or "", whole.content or "")]
    texts += [
        (got[name] or "", want[name] or "")
        for got, want in zip(so_far.calls, whole.calls, strict=False)
        for name in ("name", "arguments")
    ]
    return len(so_far.calls) <= len(whole.calls) and all(want.startswith(got) for got, want in texts)


@given(DELTAS, DELTAS)
def test_a_follower_sees_at_once_when_a_message_leaves_the_way(deltas, others):
    whole = grown(*others).message()
    growing, follower = GrowingMessage(), Follower(whole)
    for delta in deltas:
        growing.add(delta, first_only=False)
        expected = can_become(growing.message(), whole)

        assert follower.is_on_the_way(growing) == expected
        if not expected:
            return


@given(DELTAS)
def test_a_message_is_on_its_own_way_wherever_its_calls_come_in_order(deltas):
    deltas.sort(key=lambda delta: [one.index for one in delta.tool_calls])
    growing, follower = GrowingMessage(), Follower(grown(*deltas).message())
    for delta in deltas:
        growing.add(delta, first_only=False)

        assert follower.is_on_the_way(growing)


def test_a_long_answer_is_followed_part_by_part():
    """Joining or comparing all of it at each of its deltas would take hours."""
    part = "word " * 40
    whole = Message(None, part * 100_000)
    growing, follower = GrowingMessage(), Follower(whole)
    for _ in range(100_000):
        growing.add(content(part), first_only=False)
        assert follower.is_on_the_way(growing)

    assert growing.message() == whole


class Counted(int):
    """The index of a call, which counts how often any is compared."""

    compared = 0

    def __eq__(self, other):
        Counted.compared += 1
        return int(self) == int(other)

    def __lt__(self, other):
        Counted.compared += 1
        return int(self) < int(other)

    __hash__ = int.__hash__


def test_many_calls_are_followed_call_by_call():
    def compared_for(count):
        deltas = [call(Counted(index), name="f", arguments="{}") for index in range(count)]
        growing, follower = GrowingMessage(), Follower(grown(*deltas).message())
        Counted.compared = 0
        for delta in deltas:
            growing.add(delta, first_only=False)
            assert follower.is_on_the_way(growing)
        return Counted.compared

    assert compared_for(2_000) < 2.5 * compared_for(1_000)


class Vocabulary:
    """Decodes bytes as ids, and counts them."""

    def __init__(self):
        self.decoded = 0

    def decode(self, ids):
        self.decoded += len(ids)
        return bytes(ids).decode("utf-8", "replace")


@given(st.text("ab é日👩\ufffd", max_size=300))
def test_each_token_adds_what_the_whole_text_gains(text):
    ids, texts, done = text.encode(), [], ""
    for stop in range(1, len(ids) + 1):
        so_far = ids[:stop].decode("utf-8", "replace")
        so_far = done if so_far.endswith("\ufffd") else so_far
        texts.append(so_far[len(done) :])
        done = so_far

    assert texts_by_prefix(Vocabulary().decode, ids) == texts


def test_a_long_output_is_decoded_in_linear_time():
    def decoded_for(count):
        vocabulary = Vocabulary()
        texts_by_prefix(vocabulary.decode, "日本語 word ".encode() * count)
        return vocabulary.decoded

    assert decoded_for(400) < 2.1 * decoded_for(200)


def test_what_streams_alike_is_equal():
    found = compare(
        Message(None, "abcdef"), pieces("abcdef"), streams("abcdef", str), seed=0, budget_s=600, thorough=True
    )

    assert (found.equal, found.first_unequal, found.parting) == (True, None, None)
    assert {"token by token", "as one delta"} <= {trial.name for trial in found.trials}


def test_the_smallest_failing_chunking_is_reported_with_the_delta_at_which_it_parts():
    """This parser loses an `x` that ends a delta."""
    text = "abxcd"
    stream = streams(text, lambda delta: delta.removesuffix("x"))

    found = compare(Message(None, text), pieces(text), stream, seed=0, budget_s=600, thorough=True)

    assert not found.equal
    assert found.smallest_split == ("abx", "cd")
    assert found.parts_at == 1
    assert found.parting.before.content == "ab"
    assert found.parting.after.content == found.parting.streamed.content == "abcd"
    assert found.first_unequal.endswith("they diverge at delta 2 of 2, 'cd'")


def test_a_parser_that_raises_parts_at_the_delta_at_which_it_does():
    def fails(delta):
        if delta == "x":
            raise ValueError("no x")
        return delta

    found = compare(Message(None, "abx"), pieces("abx"), streams("abx", fails), seed=0, budget_s=600)

    assert found.smallest_split == ("ab", "x")
    assert found.parts_at == 1
    assert "streaming raised ValueError: no x" in found.first_unequal


@pytest.mark.parametrize("text", ["", "a"])
def test_an_output_of_one_piece_or_none_has_nothing_to_cut(text):
    found = compare(Message(None, text or None), pieces(text), streams(text, str), seed=0, budget_s=600)

    assert (found.equal, found.tried) == (True, len(text))


def test_arguments_that_are_the_same_json_are_written_alike_and_others_are_left():
    whole = Message(calls=[{"name": "f", "arguments": '{"a": "\\u00e9"}'}, {"name": "g", "arguments": "{}"}])
    same, other = {"name": "f", "arguments": '{"a":"é"}'}, {"name": "f", "arguments": '{"a": "e"}'}

    assert written_like(Message(calls=[same, other, same]), whole).calls == [whole.calls[0], other, same]
    assert written_like(Message(content="x"), whole) == Message(content="x")
