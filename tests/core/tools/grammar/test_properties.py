"""Whatever follows its schema passes, in every family; whatever comes gets a verdict."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from prompt_debugger.core.report.wire import dump_document
from prompt_debugger.core.tools.grammar import GrammarStatus, JudgedOutput, first_illegal_token
from tests.core.tools.grammar.outputs import JSON_FAMILIES, TOOLS, kimi, kimi_call, tool, written
from tests.examples import examples

pytestmark = pytest.mark.vllm

_shared = settings(
    max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_name = st.from_regex(r"[a-zA-Zé北][a-zA-Z0-9_-]{0,12}", fullmatch=True)
# A grammar takes a key in its plain spelling, which is not that of every JSON writer: no letters to escape here.
_key = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_-]{0,12}", fullmatch=True)
# XGrammar wants an enumerated text spelled in one way, which is not that of every JSON writer: plain texts here.
_choices = st.lists(st.from_regex(r"[a-zA-Z0-9 _.-]{0,12}", fullmatch=True), min_size=1, max_size=4, unique=True)
_plain = st.one_of(
    st.tuples(st.just({"type": "string"}), _text),
    st.tuples(st.just({"type": "integer"}), st.integers(-(2**53), 2**53)),
    st.tuples(st.just({"type": "boolean"}), st.booleans()),
    st.tuples(st.just({"type": "null"}), st.none()),
    st.tuples(st.just({"type": "number"}), st.floats(-1e6, 1e6).map(lambda number: round(number, 3))),
    _choices.flatmap(lambda options: st.tuples(st.just({"type": "string", "enum": options}), st.sampled_from(options))),
)


def _list_of(pair):
    schema, value = pair
    return st.tuples(st.just({"type": "array", "items": schema}), st.lists(st.just(value), max_size=3))


def _object_of(pairs, kept):
    properties = {name: schema for name, (schema, _) in pairs.items()}
    required = [name for name in pairs if name in kept]
    value = {name: value for name, (_, value) in pairs.items() if name in kept}
    return {"type": "object", "properties": properties, "required": required}, value


def _objects(inner):
    named = st.dictionaries(_key, inner, min_size=1, max_size=4)
    return named.flatmap(
        lambda pairs: st.sets(st.sampled_from(sorted(pairs))).map(lambda kept: _object_of(pairs, kept))
    )


_values = st.recursive(_plain, lambda inner: inner.flatmap(_list_of) | _objects(inner), max_leaves=4)


@_shared
@given(name=_name, pair=_objects(_values), family=st.sampled_from(JSON_FAMILIES))
def test_a_call_made_from_its_schema_is_let_through(engine, name, pair, family):
    schema, arguments = pair
    raw = written(family, "zz", arguments).replace("zz", name, 1)

    verdict = first_illegal_token(JudgedOutput(raw), [tool(name, schema)], family, "required+strict", engine=engine)

    assert verdict.status is GrammarStatus.LEGAL, verdict.sentence


_LEVELS = ["auto", "required", "auto+single", "forced:get_weather"]
_pieces = st.sampled_from(
    ["<|tool_calls_section_begin|>", "<|tool_call_begin|>", "functions.", "get_weather", ":0", "<|tool_call_end|>",
     "<|tool_call_argument_begin|>", '{"city": "x"', "}", "<think>", "</think>", "\n", "é", "\ud800", "<|im_end|>", "{"]
)  # fmt: skip


@_shared
@given(
    pieces=st.lists(_pieces, max_size=14),
    level=st.sampled_from(_LEVELS),
)
@example(pieces=["\ud800", "<|tool_call_begin|>"], level="required")
def test_any_output_gets_a_verdict_whose_places_lie_in_it(engine, tokenizer, pieces, level):
    raw = "".join(pieces)

    verdict = first_illegal_token(JudgedOutput(raw), TOOLS, "kimi_k2", level, engine=engine)

    places = [item.char_offset for item in verdict.interventions]
    assert places == sorted(places)
    assert all(verdict.starts_at <= place <= len(raw) for place in places)
    assert bool(places) == (verdict.status is GrammarStatus.STEERED)
    assert dump_document(verdict)["status"] == verdict.status.value


@_shared
@given(pieces=st.lists(_pieces.filter(lambda piece: piece != "\ud800"), max_size=14))
def test_ids_and_text_agree_on_where_the_first_intervention_is(engine, tokenizer, pieces):
    raw = "".join(pieces)
    ids = tokenizer.encode(raw)

    by_text = first_illegal_token(JudgedOutput(raw), TOOLS, "kimi_k2", engine=engine)
    by_ids = first_illegal_token(JudgedOutput(raw, ids, tokenizer), TOOLS, "kimi_k2", engine=engine)

    assert by_ids.status is by_text.status
    if by_text.first is not None:
        assert by_ids.first.char_offset == by_text.first.char_offset
        if by_ids.first.token_index is not None:
            assert ids[by_ids.first.token_index] == by_ids.first.token_id


@_shared
@given(cut=st.integers(0, 200))
def test_no_start_of_a_legal_output_is_steered(engine, cut):
    calls = kimi_call("get_weather", {"city": "Zürich <|x|>", "days": 3}), kimi_call("mcp-search", {"query": "北"})
    raw = kimi(*calls)[:cut]

    verdict = first_illegal_token(JudgedOutput(raw), TOOLS, "kimi_k2", "required+strict", engine=engine)

    assert verdict.interventions == ()
