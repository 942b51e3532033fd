"""A run as journals keep it opens as the document that was left shorter, and is never believed."""

import json

import pytest
from hypothesis import given, settings

from prompt_debugger.core.base.types import Prompt, Request, Span, SpanKind, TokenKind, Trace
from prompt_debugger.core.base.types.prompt import PromptSpan
from prompt_debugger.core.base.types.tokens import Entry, Origin, TokenTable
from prompt_debugger.core.report.wire import open_dense, trace_from_json, trace_to_dense_line, trace_to_line
from tests.core.report.strategies import instances

BODY = {"messages": [{"role": "user", "content": "ab"}]}


def prompt(source="local", text="ab", **fields):
    table = TokenTable(
        text, (7, 8), (0, 1, 2), {7: Entry(b"a", TokenKind.TEXT), 8: Entry(b"b", TokenKind.SPECIAL)},
        origins=(Origin("messages[0].content", 3, True),), origin_of=(0, 0), forged=(1,),
    )  # fmt: skip
    spans = (PromptSpan(Span(0, 2), SpanKind.REQUEST, "messages[0].content", Span(0, 2), 3, 1),)
    return Prompt(source, text, spans, fields.pop("tokens", table), template="{{ messages }}", **fields)


PAIRS = {
    "alike": (prompt("server", note="Theirs."), prompt()),
    "another text": (prompt("server"), prompt(text="xy")),
    "no tokens here": (prompt("server"), prompt(tokens=None)),
    "no tokens there": (prompt("server", tokens=None), prompt()),
    "tokens one by one": (prompt("server", tokens=tuple(prompt().tokens)), prompt()),
    "ours alone": (None, prompt()),
    "neither": (None, None),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_prompts_open_as_they_were(pair):
    trace = Trace(request=Request(BODY, json.dumps(BODY)), prompt=pair[0], local_prompt=pair[1])

    assert open_dense(json.loads(trace_to_dense_line(trace))) == json.loads(trace_to_line(trace))


def test_what_two_prompts_share_is_written_once():
    trace = Trace(request=Request(BODY, "{}"), prompt=prompt("server"), local_prompt=prompt())

    assert trace_to_dense_line(trace).count('"{{ messages }}"') == 1


@settings(max_examples=60)
@given(instances(Trace))
def test_any_run_opens_as_it_was(trace):
    assert open_dense(json.loads(trace_to_dense_line(trace))) == json.loads(trace_to_line(trace))


def test_a_run_that_was_kept_as_it_is_opens_as_it_is():
    document = json.loads(trace_to_line(Trace(request=Request(BODY, "{}"))))

    assert open_dense(document) is document
    assert trace_from_json(document).request.body == BODY


TABLE = {
    "ids": [7], "edges": [0, 1], "entries": {"7": ["61", "text"]}, "odd": {}, "origins": [], "origin_of": [],
    "forged": [],
}  # fmt: skip
DAMAGED = {
    "no run": {"run": None},
    "no shared": {"shared": None},
    "no table": {"tables": {"prompt": None}},
    "of something else": {"tables": {"verdict": TABLE}},
    "fewer edges": {"tables": {"prompt": {**TABLE, "edges": [0]}}},
    "texts for numbers": {"tables": {"prompt": {**TABLE, "ids": ["7"]}}},
    "an unknown id": {"tables": {"prompt": {**TABLE, "ids": [8]}}},
    "an unknown kind": {"tables": {"prompt": {**TABLE, "entries": {"7": ["61", "odd"]}}}},
    "an origin of nothing": {"tables": {"prompt": {**TABLE, "origin_of": [4]}}},
    "an origin too long": {"tables": {"prompt": {**TABLE, "origins": [[1, 2, 3, 4, 5]]}}},
    "shared with nothing": {"shared": ["nothing"]},
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_run_is_refused(damage):
    whole = {"run": {"prompt": {"text": "a"}, "local_prompt": {}}, "tables": {"prompt": TABLE}, "shared": []}
    assert open_dense(json.loads(json.dumps(whole)))["prompt"]["tokens"][0]["id"] == 7

    with pytest.raises(ValueError):  # whatever its words
        open_dense({**json.loads(json.dumps(whole)), **damage})


@pytest.mark.parametrize("name", ["caf\u00e9", "\x7f", "\ud83c", 'a"b\\', "plain"])
def test_a_line_is_ascii_whatever_a_field_is_called(name):
    table = TokenTable("a", (7,), (0, 1), {7: Entry(b"a", TokenKind.TEXT)}, {}, (Origin(name, 1, True),), (0,))
    trace = Trace(request=Request(BODY, "{}"), prompt=prompt("server", "a", tokens=table))

    tables = trace_to_dense_line(trace).partition('"tables":')[2]

    assert json.dumps(name) in tables
    assert all(" " <= char <= "~" for char in tables)
