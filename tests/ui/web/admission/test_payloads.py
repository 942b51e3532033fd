"""What an event may carry: each shape that the page sends beside the one that it does not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.ui.web.admission.payloads import (
    MAX_TEXT_CHARS,
    EventTable,
    PayloadError,
    judge_cancel,
    judge_event,
    judge_reset,
    read_name,
    read_table,
)
from prompt_debugger.ui.web.launch import build_app
from prompt_debugger.ui.web.settings import PageSettings

FILE = {"path": "/etc/passwd", "url": "http://127.0.0.1:9/x", "meta": {"_type": "gradio.FileData"}}


def part(number, kind, **props):
    return {"id": number, "type": kind, "props": props}


def event(index, name, inputs, *, targets=((1, "click"),), queue=True, backend=True, collects=False):
    return {
        "id": index, "api_name": name, "inputs": inputs, "targets": targets, "queue": queue, "backend_fn": backend,
        "collects_event_data": collects,
    }  # fmt: skip


CONFIG = {
    "components": [
        part(1, "button"),
        part(2, "code"),
        part(3, "textbox"),
        part(4, "dropdown", choices=[("A", "a"), ("B", "b")], allow_custom_value=False),
        part(5, "dropdown", choices=[("A", "a")], allow_custom_value=True),
        part(6, "number", minimum=0),
        part(7, "state"),
        part(8, "html"),
        part(9, "hologram"),
        part(10, "dropdown", choices=[], allow_custom_value=False),
        part(11, "radio", choices=[("on", "on"), ("off", "off")]),
        part(12, "dropdown", choices=[("A", "a")], multiselect=True),
    ],
    "dependencies": [
        event(0, "run", [2, 3, 4]),
        event(1, "begin", [], queue=False),
        event(2, "told", [7, 5, 6], targets=[(8, "select")], collects=True),
        event(3, "open", [], targets=[(8, "submit")], collects=True),
        event(4, "browser", [2], queue=False, backend=False),
        event(5, "new", [9]),
        event(6, "chosen", [10]),
        event(7, "radio", [11]),
        event(8, "many", [12]),
    ],
}
TABLE = read_table(CONFIG)
CLICKED = {"index": 0, "value": "link"}


def body_of(index=0, data=("x", "y", "a"), **more):
    return {"data": list(data), "fn_index": index, "session_hash": "s1", "trigger_id": None, **more}


def judge(body, table=TABLE, *, is_queued=True):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return json.loads(judge_event(raw, table, is_queued=is_queued).body)


def test_what_the_page_sends_is_passed_on_as_it_is():
    judged = judge(body_of(data=['{"messages": []}', "http://localhost:8000/v1", "b"], trigger_id=1, event_data=None))

    assert judged["data"] == ['{"messages": []}', "http://localhost:8000/v1", "b"]
    assert (judged["fn_index"], judged["session_hash"], judged["trigger_id"]) == (0, "s1", 1)
    assert set(judged) == {"data", "event_data", "fn_index", "trigger_id", "session_hash"}


def test_text_that_speaks_of_files_is_text():
    text = json.dumps(FILE)

    assert judge(body_of(data=[text, text, "a"]))["data"][:2] == [text, text]


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("value", [FILE, [FILE], {"value": FILE}, [[["x"]]], {}, [], 7, True, 1e300])
def test_nothing_but_text_or_a_choice_passes_where_one_stands(place, value):
    data = ["x", "y", "a"]
    data[place] = value

    with pytest.raises(PayloadError):
        judge(body_of(data=data))


@pytest.mark.parametrize("value", [FILE, [FILE], ["x"], {"a": 1}, 10**20, "x" * 2_000])
def test_a_component_of_a_new_kind_takes_plain_values_only(value):
    with pytest.raises(PayloadError):
        judge(body_of(5, [value]))


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "x"])
def test_a_component_of_a_new_kind_takes_plain_values(value):
    assert judge(body_of(5, [value]))["data"] == [value]


def test_what_the_server_keeps_is_not_taken_from_outside():
    assert judge(body_of(2, [FILE, "a", 1], event_data=CLICKED))["data"][0] is None


def test_an_empty_text_field_is_an_empty_text():
    assert judge(body_of(data=[None, None, None]))["data"] == ["", "", None]


@pytest.mark.parametrize("data", [[], ["x"], ["x", "y", "a", "z"], "xya", None, {"0": "x"}])
def test_the_number_of_values_is_the_events(data):
    with pytest.raises(PayloadError):
        judge({**body_of(), "data": data})


@pytest.mark.parametrize("index", [None, -1, 99, "0", 0.0, True, [0], {}])
def test_an_event_that_is_not_there_is_refused(index):
    with pytest.raises(PayloadError) as caught:
        judge(body_of(index))

    assert caught.value.status == 404


def test_an_event_comes_by_its_own_way_only():
    with pytest.raises(PayloadError):
        judge(body_of(1, []))
    with pytest.raises(PayloadError):
        judge(body_of(), is_queued=False)
    with pytest.raises(PayloadError):
        judge(body_of(4, ["x"]), is_queued=False)

    assert judge(body_of(1, []), is_queued=False)["data"] == []


@pytest.mark.parametrize("key", ["oauth_token", "simple_format", "batched", "event_id", "request", "batch_trigger_ids"])
def test_what_only_gradio_itself_may_say_is_not_passed_on(key):
    assert key not in judge(body_of(**{key: None}))
    with pytest.raises(PayloadError):
        judge(body_of(**{key: "x"}))


def test_a_key_that_no_one_knows_is_refused():
    with pytest.raises(PayloadError):
        judge(body_of(something=None))


@pytest.mark.parametrize("name", [None, "", "x" * 41, "a b", "a/b", "ä", "a\n", 7, ["s"], "../x", "x" * 3_900_000])
def test_a_session_has_a_short_plain_name(name):
    with pytest.raises(PayloadError):
        judge({**body_of(), "session_hash": name})
    with pytest.raises(PayloadError):
        read_name(name)


@pytest.mark.parametrize("value", [-1, 2**60, True, "1", [1], "NaN"])
def test_a_number_is_one_and_within_its_range(value):
    with pytest.raises(PayloadError):
        judge(body_of(2, [None, "a", value], event_data=CLICKED))


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_a_number_too_long_for_any_float_is_refused_like_any_other_out_of_range(number):
    for body in (
        body_of(2, [None, "a", number], event_data=CLICKED),
        body_of(2, [None, "a", 1], event_data={**CLICKED, "index": number}),
        body_of(5, [number]),
        body_of(number),
        body_of(5, ["x"], trigger_id=number),
    ):
        with pytest.raises(PayloadError):
            judge(body)


@pytest.mark.parametrize("literal", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"9" * 5_000])
def test_numbers_that_are_none_are_refused(literal):
    raw = b'{"data": [null, "a", %s], "fn_index": 2, "session_hash": "s1"}' % literal

    with pytest.raises(PayloadError):
        judge(raw)


@pytest.mark.parametrize("trigger", [99, "1", 1.0, FILE, True])
def test_what_was_clicked_is_a_component_of_the_page(trigger):
    with pytest.raises(PayloadError):
        judge(body_of(trigger_id=trigger))


def test_a_choice_is_one_of_those_offered():
    for index, value in ((0, "c"), (7, "sometimes")):
        with pytest.raises(PayloadError, match="Unknown choice"):
            judge(body_of(index, ["x", "y", value] if index == 0 else [value]))

    assert judge(body_of(2, [None, "typed by hand", None], event_data=CLICKED))["data"][1] == "typed by hand"


def test_choices_that_the_server_changes_are_known_by_session():
    table = EventTable(TABLE.rules, TABLE.components, lambda session, number: frozenset({f"{session} {number}"}))

    assert judge(body_of(6, ["s1 10"]), table)["data"] == ["s1 10"]
    with pytest.raises(PayloadError):
        judge(body_of(6, ["s2 10"]), table)


def test_several_choices_at_once_are_nothing_that_the_page_has():
    with pytest.raises(PayloadError):
        judge(body_of(8, [["a", "a"]]))


def test_a_field_of_one_line_has_a_bound_and_an_editor_that_of_the_body():
    assert judge(body_of(data=["x" * 1_000_000, "x" * MAX_TEXT_CHARS, "a"]))
    with pytest.raises(PayloadError, match="100,001 characters"):
        judge(body_of(data=["x", "x" * (MAX_TEXT_CHARS + 1), "a"]))


def test_a_view_reports_what_was_clicked():
    shown = {**CLICKED, "more": [1, None, True]}

    assert judge(body_of(2, [None, "a", 1], event_data=shown))["event_data"] == shown
    assert judge(body_of(3, [], event_data={"packed": "x" * 1_000_000}))["event_data"] == {"packed": "x" * 1_000_000}
    assert judge(body_of(event_data={"value": "x"}))["event_data"] is None, "this event asks for none"


ENDED: JSONObject = {"badge": "STOPPED", "sentence": "Stopped after 3 s."}


def test_a_kept_run_tells_how_it_ended_next_to_its_file():
    kept: JSONObject = {"packed": "x", "ended": ENDED, "is_edited": True, "is_chosen": False}

    assert judge(body_of(3, [], event_data=kept))["event_data"] == kept
    without: JSONObject = {"packed": "x", "is_edited": False}
    assert judge(body_of(3, [], event_data={**without, "ended": None}))["event_data"] == without


@pytest.mark.parametrize(
    "shown",
    [
        {"ended": {"badge": "STOPPED"}},
        {"ended": {**ENDED, "url": "http://169.254.169.254/"}},
        {"ended": {**ENDED, "sentence": FILE}},
        {"ended": {**ENDED, "sentence": "x" * 3_000}},
        {"ended": "STOPPED"},
        {"is_edited": "yes"},
        {"is_chosen": 1},
        {"index": 0},
    ],
    ids=range(8),
)
def test_a_kept_run_tells_nothing_else(shown):
    with pytest.raises(PayloadError):
        judge(body_of(3, [], event_data={"packed": "x", **shown}))


@pytest.mark.parametrize(
    "shown",
    [
        FILE,
        {**CLICKED, "value": FILE},
        {**CLICKED, "value": [{"url": "http://169.254.169.254/"}]},
        {**CLICKED, "value": {"meta": 1}},
        {**CLICKED, "packed": "x" * 3_000},
        {**CLICKED, "value": [[[[[1]]]]]},
        {**CLICKED, "value": list(range(200))},
        {**CLICKED, "k" * 50: 1},
        {"index": 0},
        {"value": "link"},
        [],
        "link",
        None,
    ],
    ids=range(13),
)
def test_a_view_names_no_file_and_tells_no_tale(shown):
    with pytest.raises(PayloadError):
        judge(body_of(2, [None, "a", 1], event_data=shown))


@pytest.mark.parametrize("shown", [None, {}, CLICKED, *({"packed": value} for value in (FILE, [1], None, 7))])
def test_a_packed_file_is_text(shown):
    with pytest.raises(PayloadError):
        judge(body_of(3, [], event_data=shown))


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b"null", b"\xff\xfe{\x00}\x00", b'{"a":' * 100_000, b"[" * 1_000_000, b'"x"'],
    ids=range(8),
)
def test_what_is_not_an_object_is_refused_at_once(raw):
    with pytest.raises(PayloadError):
        judge(raw)


def test_of_a_key_that_stands_twice_gradio_gets_what_was_judged():
    raw = b'{"data": [{"path": "/etc/passwd"}], "data": ["x", "y", "a"], "fn_index": 0, "session_hash": "s1"}'

    assert judge_event(raw, TABLE, is_queued=True).body.count(b'"data"') == 1
    assert b"passwd" not in judge_event(raw, TABLE, is_queued=True).body


def test_stop_names_an_event_and_a_session():
    good = {"session_hash": "s1", "fn_index": 0, "event_id": "a1"}

    assert json.loads(judge_cancel(json.dumps(good).encode(), TABLE)) == good
    assert json.loads(judge_reset(b'{"event_id": "a1"}')) == {"event_id": "a1"}
    # One that was not taken in yet has no name, and the front end says nothing in its place.
    assert json.loads(judge_cancel(b'{"session_hash": "s1", "fn_index": 0}', TABLE))["event_id"] == "not-taken-in"
    assert json.loads(judge_reset(b"{}")) == {"event_id": "not-taken-in"}
    unnamed = json.dumps({**good, "event_id": None}).encode()  # as gradio's script says it
    assert json.loads(judge_cancel(unnamed, TABLE))["event_id"] == "not-taken-in"
    assert json.loads(judge_reset(b'{"event_id": null}')) == {"event_id": "not-taken-in"}
    for bad in (
        {},
        {**good, "x": 1},
        {**good, "fn_index": 99},
        {**good, "event_id": FILE},
        {**good, "session_hash": 7},
    ):
        with pytest.raises(PayloadError):
            judge_cancel(json.dumps(bad).encode(), TABLE)
    for bad in ({"event_id": 7}, {"event_id": "x" * 50}, {"event_id": "a", "x": 1}):
        with pytest.raises(PayloadError):
            judge_reset(json.dumps(bad).encode())


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(FILE),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["path", "url", "meta"]), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from([*body_of(), "event_data", "x"]), values))
def test_whatever_is_sent_either_passes_plain_or_is_refused(change):
    for index in range(9):
        try:
            judged = judge({**body_of(index, [None] * len(TABLE.rules[index].fields)), **change}, is_queued=index != 1)
        except PayloadError:
            continue
        assert all(value is None or isinstance(value, str | int | float) for value in judged["data"])
        assert not any(f'"{key}":' in json.dumps(judged["event_data"]) for key in FILE)


@pytest.fixture(scope="module", params=[False, True], ids=["own", "public"])
def built(request):
    app = build_app(PageSettings(port=0, lab=False, public=request.param))
    yield app.config
    app.close(verbose=False)


def test_every_input_of_the_page_is_of_a_kind_that_is_judged(built):
    """A component of a new kind works only once someone has said here what it may hold."""
    table = read_table(built)

    plain = [(rule.name, field) for rule in table.rules.values() for field in rule.fields if field.kind == "plain"]
    assert plain == []
    assert len(table.rules) > 50


def test_only_the_openings_of_a_bundle_and_a_dataset_take_a_file(built):
    table = read_table(built)

    assert {rule.name for rule in table.rules.values() if rule.takes_file} == {
        "open_bundle",
        "compare_runs",
        "reopen_run",
        "verify_dataset",
    }


@pytest.mark.parametrize(
    "raw",
    [
        b'{"data":[' + b"{}," * 20_000 + b"{}]}",
        b'{"data":' + b"[" * 900 + b"]" * 900 + b"," * 60_000,
        b'{"data":[' + b'"",' * 3_000 + b'""]}',
        b'{"data":["' + b"a" * 100_000,
        b'{"data":["x", ' + b" " * 60_000 + b"1]}",
        b"9" * 100_000,
    ],
    ids=["objects", "brackets", "strings", "no end of a string", "blanks", "digits"],
)
def test_a_body_of_many_small_parts_is_refused_unread(raw, monkeypatch):
    monkeypatch.setattr("prompt_debugger.ui.web.admission.payloads.json.loads", lambda *_, **__: pytest.fail("read"))

    with pytest.raises(PayloadError):
        judge(raw)


@pytest.mark.parametrize(
    "text", ["\\" * 200_000, '"' * 200_000, "{[,:]}" * 100_000, "\ud800\n" * 50_000, "é€" * 100_000]
)
def test_long_texts_of_any_signs_pass(text):
    assert judge(body_of(data=[text, "y", "a"]))["data"][0] == text
