"""Values travel exactly, and nothing else travels."""

from __future__ import annotations

import gc
import io
import os
import pickle
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given

from prompt_debugger.core.base import types
from prompt_debugger.core.base.errors import BackendError, DebuggerError
from prompt_debugger.core.base.types import Request, Span, Token, TokenKind, Trace
from prompt_debugger.core.sandbox import frames, values
from prompt_debugger.core.sandbox.frames import HEADER, frame_size, pack, read_frame, unpack
from prompt_debugger.core.sandbox.values import UnknownValueError, admit, decode_value, encode_value
from tests.core.report.strategies import instances

SPAN, TOKEN, KIND = (f"{cls.__module__}:{cls.__qualname__}" for cls in (Span, Token, TokenKind))
NESTED = {"a": [1, 2.5, None, True, "\ud800", b"\x00"], "b": {"c": [[], {}, ()]}, "d": (1, ("x", Span(0, 3)))}


def carried(value: object) -> object:
    return unpack(pack(value)[HEADER:])


def ordered(plain: object) -> object:
    """Return an encoded value with the members of each set in one order: two equal sets may tell theirs in two."""
    if isinstance(plain, dict):
        return {key: ordered(value) for key, value in plain.items()}
    if isinstance(plain, tuple) and plain[:1] == ("s",):
        return ("s", sorted(map(ordered, plain[1]), key=repr))
    return type(plain)(map(ordered, plain)) if isinstance(plain, (list, tuple)) else plain


@given(instances(Trace))
def test_every_trace_arrives_as_it_left(trace):
    arrived = carried(trace)

    assert arrived == trace
    assert ordered(encode_value(arrived)) == ordered(encode_value(trace))


def test_plain_values_keep_their_kinds():
    arrived = carried(NESTED)

    assert arrived == NESTED
    assert type(arrived["d"][1][1]) is Span
    assert carried(frozenset({"a", 1})) == frozenset({"a", 1})


def test_a_token_table_arrives_with_spans_and_kinds():
    tokens = tuple(
        Token(number, f"t{number}", Span(number, number + 1), kind, b"x", field=None if number % 2 else "a")
        for number in range(50)
        for kind in TokenKind
    )

    arrived = carried(tokens)

    assert arrived == tokens
    assert {type(token.kind) for token in arrived} == {TokenKind}


def test_a_mapping_of_many_records_travels_by_columns_and_arrives_as_it_left():
    spans = {f"s{number}": Span(number, number + 1) for number in range(5)}
    kinds = dict(enumerate([*TokenKind, *TokenKind]))
    mixed = {**spans, "none": None}
    few = dict(list(spans.items())[: values._COLUMN_FROM])

    assert [encode_value(some)[0] for some in (spans, few)] == ["m", "m"]
    assert type(encode_value(dict(list(few.items())[1:]))) is dict
    for value in (spans, kinds, mixed, {"a": [1], "b": [2], "c": [3], "d": []}):
        arrived = carried(value)
        assert arrived == value
        assert list(arrived) == list(value)
        assert [*map(type, arrived.values())] == [*map(type, value.values())]


@pytest.mark.parametrize(
    ("plain", "reason"),
    [
        (("m", [[]], ("t", [1])), "the keys are missing"),
        (("m", ["a", "b"], ("t", [1])), "other values than keys"),
        (("m", ["a"], ("t", [1, 2])), "other values than keys"),
        (("m", "a", ("t", [1])), "the keys are missing"),
        (("m", ["a"], [1]), "the values are missing"),
    ],
)
def test_a_mapping_that_is_none_is_refused(plain, reason):
    with pytest.raises(UnknownValueError, match=reason):
        decode_value(plain)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ((), ("t", [])),
        ((1, "a"), ("t", [1, "a"])),
        ((1, [2, (3,)]), ("t", [1, [2, ("t", [3])]])),
        ({"a": 1}, {"a": 1}),
        ({"a": (1,)}, {"a": ("t", [1])}),
        (dict.fromkeys("abcde", 1), dict.fromkeys("abcde", 1)),
        ({letter: [1] for letter in "abcde"}, {letter: [1] for letter in "abcde"}),
        (frozenset({"a"}), ("s", ["a"])),
        (TokenKind.TEXT, ("e", KIND, "text")),
        ((TokenKind.TEXT,) * 3, ("t", [("e", KIND, "text")] * 3)),
        ((TokenKind.TEXT,) * 4, ("e*", KIND, ["text"] * 4)),
        (Span(1, 2), ("r", SPAN, [1, 2])),
        ((Span(1, 2),) * 3, ("t", [("r", SPAN, [1, 2])] * 3)),
        ((Span(1, 2),) * 4, ("c", SPAN, [("t", [1] * 4), ("t", [2] * 4)])),
        (((1,),) * 4, ("t", [("t", [1])] * 4)),
    ],
    ids=repr,
)
def test_a_value_becomes_containers_and_atoms_and_many_alike_become_columns(value, plain):
    assert encode_value(value) == plain
    assert decode_value(plain) == value


def test_what_has_nothing_to_encode_is_not_copied():
    """A list of a hundred thousand numbers would be gone through in vain."""
    atoms, members = [1, "a", None], {"a": 1}

    assert encode_value(atoms) is atoms
    assert decode_value(atoms) is atoms
    assert decode_value(members) is members


def test_records_enums_and_errors_may_be_admitted_each_as_what_it_is(monkeypatch):
    monkeypatch.setattr(values, "_VALUES", {})
    monkeypatch.setattr(values, "_ERRORS", {})

    for cls in (Span, TokenKind, BackendError):
        assert admit(cls) is cls
    assert [*values._VALUES.values()] == [Span, TokenKind]
    assert [*values._ERRORS.values()] == [BackendError]
    with pytest.raises(TypeError, match="int is not a record, enum or error"):
        admit(int)


@pytest.mark.parametrize(
    ("value", "reason"),
    [({(1, 2): 3}, "a key is of the kind tuple"), (1j, "complex may not travel"), (os, "module may not travel")],
)
def test_what_may_not_travel_is_named(value, reason):
    with pytest.raises(UnknownValueError, match=reason):
        encode_value(value)


def test_the_size_of_a_frame_is_known_from_its_header_on():
    frame = pack("a" * 300)

    assert frame_size(frame) == frame_size(frame[:HEADER]) == len(frame)
    assert [frame_size(frame[:length]) for length in range(HEADER)] == [None] * HEADER


def test_an_error_arrives_with_its_facts():
    error = BackendError("no", "try again", kind="status", status=503, body="busy")

    arrived = carried(error)

    assert type(arrived) is BackendError
    assert (str(arrived), vars(arrived)) == (str(error), vars(error))


def test_many_values_travel_in_pieces_between_which_other_threads_have_their_turn(monkeypatch):
    many = [f"value {number}" for number in range(100_000)]
    written, read = [], []

    class Sink(frames._Sink):
        def write(self, piece):
            written.append(len(piece))
            return super().write(piece)

    class Source(frames._Source):
        def read(self, size):
            read.append(size)
            return super().read(size)

        def readinto(self, buffer):
            read.append(len(buffer))
            return super().readinto(buffer)

    monkeypatch.setattr(frames, "_Sink", Sink)
    monkeypatch.setattr(frames, "_Source", Source)

    assert carried(many) == many
    assert max(written) < 100_000 < sum(written)
    assert max(read) < 200_000 < sum(read)


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 300_000])
def test_long_texts_and_bytes_arrive_as_they_left(size):
    value = ("é" * size, b"\x00" * size, ["a"] * size)

    assert carried(value) == value


class Stranger:
    pass


@pytest.mark.parametrize("value", [Stranger(), Stranger, os.system, lambda: None, {(1, 2): 3}, 1j])
def test_what_is_not_known_does_not_travel(value):
    with pytest.raises(UnknownValueError):
        pack(value)


class Attack:
    def __repr__(self):
        return "Attack()"  # a test's name must not hold an address: the workers of a run compare the names

    def __reduce__(self):
        return (os.system, ("true",))


@pytest.mark.parametrize(
    "plain",
    [
        Attack(),
        ("r", "os:system", ["true"]),
        ("r", "builtins:eval", ["1"]),
        ("c", "subprocess:Popen", [["true"]]),
        ("e", TOKEN, 1),
        ("r", KIND, ["text"]),
        ("e", KIND, "no such kind"),
        ("r", "prompt_debugger.core.base.types.request:Request", []),
        ("x", "builtins:SystemExit", {}),
        ("x", "prompt_debugger.core.base.errors:RequestError", "text"),
        ("?", 1),
        (),
        ("t", 5),
        {1, 2},
        bytearray(b"x"),
    ],
    ids=repr,
)
def test_a_frame_from_a_process_gone_bad_is_refused(plain):
    with pytest.raises(UnknownValueError):
        unpack(pickle.dumps(plain))


@pytest.mark.parametrize(
    ("plain", "reason"),
    [
        (("r", "os:system", ["true"]), "os:system may not travel"),
        (("e", TOKEN, 1), "Token is not an enum"),
        (("r", KIND, ["text"]), "TokenKind is not a record"),
        (("x", "builtins:SystemExit", {}), "builtins:SystemExit is not a known error"),
        (("x", "prompt_debugger.core.base.errors:RequestError", 5), "RequestError is not a known error"),
        (("e", KIND, "none"), "^ValueError: 'none' is not a valid"),
        (("?", 1), "'[?]' is not a kind of value"),
        (("t", 5), "a list is missing"),
        ({1, 2}, "set is not a plain value|a frame names `builtins.set`"),
    ],
)
def test_what_is_refused_is_named(plain, reason):
    with pytest.raises(UnknownValueError, match=reason):
        unpack(pickle.dumps(plain))


@pytest.mark.parametrize(("body", "reason"), [(b"", "EOFError: "), (b"\x80", "UnpicklingError: ")])
def test_a_frame_that_is_refused_says_why(body, reason):
    with pytest.raises(UnknownValueError, match=f"^{reason}"):
        unpack(body)


@pytest.mark.parametrize("body", [b"", b"\x80", b"cos\nsystem\n(S'true'\ntR.", b"garbage"])
def test_bytes_that_are_not_a_frame_are_refused(body):
    with pytest.raises(UnknownValueError):
        unpack(body)


def test_a_value_nested_too_deep_is_reported():
    value: list[object] = []
    for _ in range(5000):
        value = [value]

    with pytest.raises(UnknownValueError, match="too deep"):
        pack(Trace(Request({"a": value}, "")))


class _Colour(Enum):
    RED = "red"


class _Pair(NamedTuple):
    left: int
    right: str


class _Plain(tuple[int, ...]):
    """A tuple whose fields have no names."""


class _OwnError(DebuggerError):
    """An error that is let travel."""


@pytest.fixture
def admitted(monkeypatch):
    """What is admitted here is forgotten after the test."""
    monkeypatch.setattr(values, "_VALUES", dict(values._VALUES))
    monkeypatch.setattr(values, "_ERRORS", dict(values._ERRORS))


@pytest.mark.usefixtures("admitted")
@pytest.mark.parametrize("value", [_Colour.RED, _Pair(1, "a")])
def test_what_is_admitted_arrives_as_it_left(value):
    with pytest.raises(UnknownValueError, match="may not travel"):
        encode_value(value)

    admit(type(value))

    assert decode_value(encode_value(value)) == value


@pytest.mark.usefixtures("admitted")
def test_an_admitted_error_arrives_as_itself():
    admit(_OwnError)

    arrived = decode_value(encode_value(_OwnError("Broken.", "Repair it.")))

    assert (type(arrived), arrived.message, arrived.hint) == (_OwnError, "Broken.", "Repair it.")


def test_nothing_else_is_admitted():
    with pytest.raises(TypeError, match="Path is not a record, enum or error"):
        admit(Path)
    with pytest.raises(TypeError, match="_Plain is not a record"):
        admit(_Plain)


def test_what_may_travel_is_what_the_modules_of_our_values_declare():
    declared = list(values._declared_in(types.__name__))

    assert {Trace, Token, TokenKind, Request, Span} <= set(declared)
    assert all(isinstance(one, type) for one in declared)
    assert list(values._declared_in(types.__name__[:-1])) == []
    own = {name for name in values._VALUES if name.startswith(f"{types.__name__}.")}
    assert own == {f"{one.__module__}:{one.__qualname__}" for one in declared} & set(values._VALUES)


def test_an_unknown_kind_of_value_is_named():
    with pytest.raises(UnknownValueError, match=r"'\?' is not a kind of value"):
        decode_value(("?", 1))


@pytest.mark.parametrize("cut", [0, 1, HEADER - 1, HEADER, HEADER + 1])
def test_a_frame_that_breaks_off_is_an_end(cut):
    with pytest.raises(EOFError):
        read_frame(io.BytesIO(pack("abc")[:cut]))


def test_frames_are_read_one_after_the_other():
    stream = io.BytesIO(pack("abc") + pack([1, 2]) + pack(None))

    assert [read_frame(stream) for _ in range(3)] == ["abc", [1, 2], None]
    with pytest.raises(EOFError):
        read_frame(stream)


@pytest.mark.parametrize("plain", [("e", 1), ("e*", [1, 2])], ids=["one", "many"])
def test_what_is_no_enum_is_named(plain):
    name = f"{Token.__module__}:Token"
    with pytest.raises(UnknownValueError, match=f"{name} is not an enum"):
        decode_value((plain[0], name, *plain[1:]))


def test_many_records_of_one_class_travel_by_columns():
    spans, few = (Span(0, 1),) * 4, (Span(0, 1),) * 3

    assert [encode_value(one)[0] for one in (spans, few)] == ["c", "t"]
    assert encode_value((TokenKind.TEXT,) * 4)[0] == "e*"
    assert [decode_value(encode_value(one)) for one in (spans, few)] == [spans, few]


def test_a_list_or_mapping_of_atoms_of_all_kinds_arrives_as_it_stands():
    items = [None, True, 1, 1.5, "a", b"a"]
    members = dict(enumerate(items))

    assert decode_value(items) is items
    assert decode_value(members) is members
    assert encode_value(items) is items


def test_an_error_that_no_one_knows_is_named():
    with pytest.raises(UnknownValueError, match="builtins:SystemExit is not a known error"):
        decode_value(("x", "builtins:SystemExit", {}))


def test_what_is_no_plain_value_is_refused_by_the_name_of_its_class() -> None:
    with pytest.raises(UnknownValueError, match="set is not a plain value"):
        decode_value({1})


@pytest.mark.parametrize("is_on", [True, False])
def test_the_garbage_collector_rests_meanwhile_and_is_then_as_it_was(is_on, monkeypatch):
    seen = []
    monkeypatch.setattr(frames, "encode_value", lambda value: seen.append(gc.isenabled()) or value)
    monkeypatch.setattr(frames, "decode_value", lambda value: seen.append(gc.isenabled()) or value)
    was_on = gc.isenabled()
    try:
        (gc.enable if is_on else gc.disable)()
        assert carried([1]) == [1]
        assert (seen, gc.isenabled()) == ([False, False], is_on)
    finally:
        (gc.enable if was_on else gc.disable)()


@pytest.mark.parametrize("length", [0, 1, HEADER - 1, HEADER, HEADER + 1])
def test_a_stream_that_ends_within_a_frame_has_ended(length):
    with pytest.raises(EOFError):
        read_frame(io.BytesIO(pack("a text")[:length]))
    assert read_frame(io.BytesIO(pack("a text") + b"more")) == "a text"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"cos\nsystem\n.", "a frame has a line"),
        (pickle.dumps(Attack(), protocol=4), "a frame names `posix.system`"),
    ],
)
def test_what_a_frame_may_not_have_is_named(body, reason):
    with pytest.raises(UnknownValueError, match=reason):
        unpack(body)
