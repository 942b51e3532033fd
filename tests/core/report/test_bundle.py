"""A bundle gives back the very trace it was written from, and says where a file is damaged."""

import json
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.errors import RequestError
from prompt_debugger.core.parse.engines.outcome import VllmOutcome
from prompt_debugger.core.report import read_bundle, trace_to_json, write_bundle
from prompt_debugger.core.report.codec import DamageError, decode_value, encode_value, hints_of
from prompt_debugger.core.types import ParserOutcome, Trace
from tests.core.diagnose.strategies import traces
from tests.core.report.strategies import instances, jsons, texts, values
from tests.ui.present.traces import dropped_call_trace, tokens_of


@given(traces())
def test_reading_what_was_written_gives_the_same_trace(trace):
    bundle = read_bundle(write_bundle(trace, "1.2.3"))

    assert bundle == (trace, "1.2.3", False)


@pytest.mark.parametrize("field", fields(Trace), ids=lambda field: field.name)
def test_every_part_of_a_trace_comes_back_whatever_is_in_it(field):
    hint = hints_of(Trace)[field.name]

    @given(values(hint))
    def comes_back(value):
        assert decode_value(json.loads(json.dumps(encode_value(value, hint), allow_nan=False)), hint) == value

    comes_back()


@given(instances(VllmOutcome))
def test_what_an_engine_adds_comes_back_as_the_same_kind(outcome):
    raw = json.loads(json.dumps(encode_value({"vllm:x": outcome}, dict[str, ParserOutcome])))

    back = decode_value(raw, dict[str, ParserOutcome])

    assert back == {"vllm:x": outcome}
    assert type(back["vllm:x"]) is VllmOutcome


def test_it_is_the_document_of_the_contract_with_one_field_more():
    trace = dropped_call_trace()

    document = json.loads(write_bundle(trace))

    more = document.pop("bundle")
    assert document == trace_to_json(trace)
    assert more["version"] == 1


def test_a_long_prompt_is_written_in_columns():
    trace = dropped_call_trace()
    tokens = tokens_of("def f(x): return x + 1\n" * 2_000)
    trace = replace(trace, prompt=replace(trace.prompt, tokens=tokens))

    text = write_bundle(trace)

    assert read_bundle(text).trace == trace
    assert len(json.dumps(json.loads(text)["bundle"])) < 50 * len(tokens)


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
        (("bundle", "version"), 2, "bundle.version", "is 2; this program reads 1"),
        (("schema_version",), "1", "schema_version", "is '1'"),
        (("bundle", "trace"), [], "bundle.trace", "expected an object"),
        (("bundle", "trace", "evidence"), "telepathy", "bundle.trace.evidence", "expected one of same-run"),
        (("bundle", "trace", "raw", "text"), None, "bundle.trace.raw.text", "expected a text"),
        (
            ("bundle", "trace", "prompt", "tokens", "columns", "id", 3),
            "7",
            "bundle.trace.prompt.tokens.id[3]",
            "'7', expected a whole number",
        ),
        (
            ("bundle", "trace", "prompt", "spans", "columns", "char_span", 0),
            [4, 2],
            "bundle.trace.prompt.spans.char_span[0]",
            "[start, stop]",
        ),
        (("bundle", "trace", "colour"), 1, "bundle.trace.colour", "a field of Trace"),
        (("bundle", "trace", "request"), {"text": ""}, "bundle.trace.request", "lacks `body`"),
        (("bundle", "trace", "vocabulary", "special"), [[1]], "bundle.trace.vocabulary.special", "[key, value]"),
    ],
)
def test_a_damaged_file_names_the_place(path, value, field, words):
    error = refused(changed(path, value))

    assert error.field == field
    assert words in error.message


def test_damage_names_the_version_that_wrote_the_file():
    assert "version 9.9" in refused(changed(("bundle", "trace", "colour"), 1)).hint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no whole JSON"),
        ("[]", "a bundle is a JSON object"),
        ('{"messages": []}', "this is a request"),
        (json.dumps(trace_to_json(dropped_call_trace())), "output of `run --json`"),
        ("{}", "no field `bundle`"),
        ('{"bundle": {"version": NaN}}', "`NaN` is no JSON"),
        ("[" * 200_000, "cannot be read"),
        ('{"bundle": ' + "9" * 5_000 + "}", "cannot be read"),
    ],
)
def test_what_is_no_bundle_is_told_apart(text, words):
    assert words in refused(text).message


def test_a_file_that_ends_early_says_where():
    text = write_bundle(dropped_call_trace())

    error = refused(text[: len(text) // 2])

    assert "ends in the middle" in error.message
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
    place, parent, key = document["bundle"]["trace"], document["bundle"], "trace"
    for _ in range(data.draw(st.integers(0, 6))):
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


@given(values(dict[str, int]) | texts | jsons, st.sampled_from(["Trace", "ParserOutcome"]))
def test_decoding_anything_raises_damage_only(raw, name):
    kind = {"Trace": Trace, "ParserOutcome": ParserOutcome}[name]

    with pytest.raises(DamageError):
        decode_value(raw, kind)
