"""A bundle gives back the very trace it was written from, and says where a file is damaged."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import ParserOutcome, ServerOutcome, Trace, VllmOutcome
from prompt_debugger.core.report import read_bundle, trace_to_json, write_bundle
from prompt_debugger.core.report.wire import DamageError, trace_from_json
from tests.core.diagnose.strategies import traces
from tests.core.report.strategies import instances, jsons
from tests.ui.present.traces import dropped_call_trace, tokens_of


@pytest.mark.slow
@given(traces())
def test_reading_what_was_written_gives_the_same_trace(trace):
    bundle = read_bundle(write_bundle(trace, "1.2.3"))

    assert bundle == (trace, "1.2.3", False)


@given(instances(Trace))
def test_every_part_of_a_trace_comes_back_whatever_is_in_it(trace):
    text = write_bundle(trace)

    json.loads(text, parse_constant=pytest.fail)
    assert read_bundle(text) == (trace, "", False)


@given(st.sampled_from([VllmOutcome, ServerOutcome, ParserOutcome]).flatmap(instances))
def test_what_an_engine_adds_comes_back_as_the_same_kind(outcome):
    trace = dropped_call_trace()
    trace = replace(trace, parse=replace(trace.parse, parsers={"vllm:x": outcome}))

    back = read_bundle(write_bundle(trace)).trace.parse.parsers

    assert back == {"vllm:x": outcome}
    assert type(back["vllm:x"]) is type(outcome)


def test_it_is_the_document_of_the_contract_nothing_left_out():
    trace = dropped_call_trace()

    document = json.loads(write_bundle(trace, "1.2.3"))

    assert {name: document["bundle"][name] for name in ("version", "program")} == {"version": 2, "program": "1.2.3"}
    assert contains(document, trace_to_json(trace))


def contains(whole, part):
    if isinstance(part, dict):
        return all(name in whole and contains(whole[name], value) for name, value in part.items())
    if isinstance(part, list):
        return len(whole) == len(part) and all(map(contains, whole, part))
    return whole == part


@pytest.mark.slow
def test_a_run_is_reported_once():
    trace = dropped_call_trace()
    tokens = tokens_of("def f(x): return x + 1\n" * 2_000)
    trace = replace(trace, prompt=replace(trace.prompt, tokens=tokens))

    text = write_bundle(trace)

    assert read_bundle(text).trace == trace
    assert len(text) < 1.1 * len(json.dumps(trace_to_json(trace), separators=(",", ":")))


def test_a_number_that_json_cannot_say_is_kept_and_the_file_is_strict():
    trace = dropped_call_trace()
    trace = replace(trace, raw=replace(trace.raw, elapsed_s=float("inf")), sent={"temperature": float("-inf")})

    text = write_bundle(trace)

    assert read_bundle(text).trace == trace
    json.loads(text, parse_constant=pytest.fail)


# --- files that are not what they should be -----------------------------------


def refused(text):
    with pytest.raises(RequestError) as caught:
        read_bundle(text)
    assert caught.value.hint
    return caught.value


def changed(path, value):
    document = json.loads(write_bundle(dropped_call_trace(), "9.9"))
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return json.dumps(document)


@pytest.mark.parametrize(
    ("path", "value", "field", "words"),
    [
        (("bundle", "version"), 3, "bundle.version", "is 3; this program reads 2"),
        (("schema_version",), "1", "schema_version", "is '1'"),
        (("prompt",), [], "prompt", "expected an object"),
        (("evidence",), "telepathy", "evidence", "expected one of 'same-run'"),
        (("raw", "text"), None, "raw.text", "expected a text"),
        (("raw", "finish_reason"), 7, "raw.finish_reason", "expected a text"),
        (("raw", "stop_reason"), [], "raw.stop_reason", "expected a text"),
        (("raw", "elapsed_s"), "1.5", "raw.elapsed_s", "expected a number"),
        (("chat", "message"), [], "chat.message", "expected an object"),
        (("prompt", "tokens", 3, "id"), "7", "prompt.tokens[3].id", "'7', expected a whole number"),
        (("prompt", "tokens", 3, "id"), True, "prompt.tokens[3].id", "True, expected a whole number"),
        (("prompt", "tokens", 3, "injected"), 1, "prompt.tokens[3].injected", "expected true or false"),
        (("prompt", "tokens", 3, "bytes"), "zz", "prompt.tokens[3].bytes", "bytes in hex"),
        (("prompt", "spans", 0, "char_span"), [4, 2], "prompt.spans[0].char_span", "[start, stop]"),
        (("prompt", "spans", 0, "char_span"), [-1, 2], "prompt.spans[0].char_span[0]", "a number from 0"),
        (("prompt", "spans", 0, "char_span"), [1], "prompt.spans[0].char_span", "shorter than expected"),
        (("prompt", "spans", 0, "char_span"), [1, 2, 3], "prompt.spans[0].char_span", "shorter"),
        (("colour",), 1, "colour", "this field is unknown"),
        (("raw", "colour"), 1, "raw.colour", "this field is unknown"),
        (("refusal",), {"status": 400}, "refusal", "lacks `message`"),
        (("vocabulary",), {"size": 1, "special": {"one": "x"}}, "vocabulary.special.one", "a whole number"),
        (("parse", "parsers"), {"vllm:x": {"vllm_version": 1}}, "parse.parsers.vllm:x", "lacks `reasoning`"),
        (("sent",), {"$json": "{"}, "sent", "the text of a JSON value"),
    ],
)
def test_a_damaged_file_names_the_place(path, value, field, words):
    error = refused(changed(path, value))

    assert error.field == field
    assert words in error.message


def test_damage_names_the_version_that_wrote_the_file():
    assert "version 9.9" in refused(changed(("colour",), 1)).hint


def test_an_older_bundle_is_refused_by_its_version_and_says_who_can_open_it():
    error = refused(json.dumps({"schema_version": 1, "bundle": {"version": 1, "program": "0.1.0", "trace": {}}}))

    assert (error.field, error.message) == ("bundle.version", "`bundle.version` is 1; this program reads 2.")
    assert "version 0.1.0" in error.hint


def test_a_value_that_nests_deeper_than_a_request_may_is_kept_as_its_text():
    deep = json.loads("[" * 300 + "]" * 300)
    trace = replace(dropped_call_trace(), sent={"deep": deep})

    document = json.loads(write_bundle(trace))

    assert json.loads(document["sent"]["$json"]) == {"deep": deep}
    assert read_bundle(write_bundle(trace)).trace == trace


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not valid JSON"),
        ("[]", "A bundle is a JSON object"),
        ('{"messages": []}', "This is a request"),
        (json.dumps(trace_to_json(dropped_call_trace())), "output of `run --json`"),
        ("{}", "no field `bundle`"),
        ('{"bundle": {"version": NaN}}', "`NaN` is not JSON"),
        ("[" * 200_000, "cannot be read: its values are nested too deeply."),
        ('{"bundle": ' + "9" * 5_000 + "}", "cannot be read: one of its numbers has thousands of digits."),
    ],
)
def test_what_is_not_a_bundle_is_distinguished(text, words):
    assert words in refused(text).message


def test_a_file_that_ends_early_says_where():
    text = write_bundle(dropped_call_trace())

    error = refused(text[: len(text) // 2])

    assert "the end is missing" in error.message
    assert error.line == text[: len(text) // 2].count("\n") + 1


def test_a_file_that_is_too_long_is_sent_to_the_command_line():
    with pytest.raises(RequestError, match="at most 10 are read"):
        read_bundle(write_bundle(dropped_call_trace()), max_chars=10)


def test_a_file_that_was_changed_by_hand_opens_and_says_so():
    text = write_bundle(dropped_call_trace())

    assert read_bundle(text.replace("Paris", "Rome!")).is_edited
    assert not read_bundle(json.dumps(json.loads(text), indent=4)).is_edited


@given(st.data())
def test_any_damage_is_one_error_or_a_trace(data):
    document = json.loads(write_bundle(dropped_call_trace()))
    place, parent, key = document, {"": document}, ""
    for _ in range(data.draw(st.integers(1, 6))):
        keys = [*place] if isinstance(place, dict) else [*range(len(place))] if isinstance(place, list) else []
        if not keys:
            break
        parent, key = place, data.draw(st.sampled_from(keys))
        place = parent[key]
    parent[key] = data.draw(jsons)

    try:
        bundle = read_bundle(json.dumps(document))
    except RequestError as error:
        assert error.hint  # noqa: PT017  # either way is right
    else:
        assert isinstance(bundle.trace, Trace)


@given(jsons)
def test_decoding_anything_raises_damage_only(raw):
    with pytest.raises(DamageError):
        trace_from_json(raw)
