"""Real XGrammar, the lab model's own tokens: what passes, where it steps in, and why."""

import pytest

from prompt_debugger.core.report.wire import dump_document
from prompt_debugger.core.tools.grammar import Cause, GrammarStatus, JudgedOutput, first_illegal_token
from tests.core.tools.grammar.outputs import (
    HELD_AT_AUTO,
    HELD_TO_SCHEMAS,
    SEARCH,
    TOOLS,
    WEATHER,
    kimi,
    kimi_call,
    tool,
    written,
)

pytestmark = pytest.mark.vllm

_GOOD = {"city": "Paris", "days": 3}


@pytest.fixture
def judge(engine, tokenizer):
    def run(raw, level="auto", tools=TOOLS, **more):
        return first_illegal_token(
            JudgedOutput(raw, tokenizer.encode(raw), tokenizer, **more), tools, "kimi_k2", level, engine=engine
        )

    return run


@pytest.fixture
def judge_text(engine):
    def run(family, raw, level="auto", tools=TOOLS, **more):
        return first_illegal_token(JudgedOutput(raw, **more), tools, family, level, engine=engine)

    return run


# --- what passes -------------------------------------------------------------


@pytest.mark.parametrize(
    "level", ["auto", "auto+strict", "auto+single", "required", "required+strict", "forced:get_weather"]
)
@pytest.mark.parametrize("family", HELD_AT_AUTO)
def test_a_call_as_declared_passes_in_every_family_at_every_level(judge_text, family, level):
    verdict = judge_text(family, written(family, "get_weather", _GOOD), level)

    assert (verdict.status, verdict.has_call, verdict.interventions) == (GrammarStatus.LEGAL, True, ())


def test_a_hyphen_in_a_tools_name_is_nothing_special(judge):
    verdict = judge(kimi(kimi_call("mcp-search", {"query": "x"}), kimi_call("mcp-search", {"query": "y"}, 1)))

    assert (verdict.status, verdict.reading) == (GrammarStatus.LEGAL, "tokens")


def test_text_before_a_call_passes_if_the_model_may_choose(judge):
    assert judge("Let me look. " + kimi(kimi_call("get_weather", _GOOD))).status is GrammarStatus.LEGAL


def test_an_answer_without_a_call_passes_and_the_verdict_says_that_there_is_none(judge):
    verdict = judge("It is sunny.<|im_end|>")

    assert (verdict.status, verdict.has_call) == (GrammarStatus.LEGAL, False)
    assert "no tool call" in verdict.sentence


def test_escapes_of_json_are_all_let_through(judge):
    raw = kimi(kimi_call("get_weather", '{"city": "\\u5317\\u4eac \\/ \\"x\\" 北京 😀"}'))

    assert judge(raw).status is GrammarStatus.LEGAL


@pytest.mark.parametrize("cut", range(30, 129, 7))
def test_a_cut_output_is_incomplete_and_not_steered(judge, cut):
    raw = kimi(kimi_call("get_weather", _GOOD))[:cut]

    verdict = judge(raw, finish_reason="length")

    assert (verdict.status, verdict.interventions) == (GrammarStatus.INCOMPLETE, ())


def test_reasoning_is_out_of_the_grammars_sight(judge_text):
    call = written("hermes", "get_weather", _GOOD)

    seen = judge_text("hermes", f"<think>maybe <tool_call> nonsense</think>{call}")
    opened_by_prompt = judge_text("hermes", f"hm <tool_call> nonsense</think>{call}", prompt_tail="<think>\n")
    never_ended = judge_text("hermes", f"<think>hm {call}")

    assert (seen.status, opened_by_prompt.status) == (GrammarStatus.LEGAL, GrammarStatus.LEGAL)
    assert (GrammarStatus.OFF, "never ends" in never_ended.sentence) == (never_ended.status, True)
    assert seen.starts_at == len("<think>maybe <tool_call> nonsense</think>")


@pytest.mark.parametrize(
    ("key", "cause"), [("\\u00e9", Cause.SPELLING), ("\\u00e8", Cause.UNKNOWN_PROPERTY), ("è", Cause.UNKNOWN_PROPERTY)]
)
def test_a_declared_key_that_is_written_with_an_escape_is_not_called_undeclared(engine, key, cause):
    schema = {"type": "object", "properties": {"é": {"type": "null"}}, "required": []}
    raw = kimi(kimi_call("f", '{"' + key + '": null}'))

    verdict = first_illegal_token(JudgedOutput(raw), [tool("f", schema)], "kimi_k2", "required+strict", engine=engine)

    assert verdict.first.cause is cause
    assert ("is not declared" in verdict.sentence) == (cause is Cause.UNKNOWN_PROPERTY)


# --- where it steps in, and why ----------------------------------------------

_STEERED = [
    ('{"citty": "Paris"}', Cause.UNKNOWN_PROPERTY, "ty", "tools[0].function.parameters.properties", ""),
    ('{"city": "Paris", "wind": 1}', Cause.UNKNOWN_PROPERTY, None, "tools[0].function.parameters.properties", ""),
    ('{"days": 3}', Cause.MISSING_PROPERTY, None, "tools[0].function.parameters.required", ""),
    ("{}", Cause.MISSING_PROPERTY, "}", "tools[0].function.parameters.required", ""),
    ('{"days": 3, "city": "Paris"}', Cause.PROPERTY_ORDER, None, "tools[0].function.parameters.properties", ""),
    ('{"city": "Paris", "days": "3"}', Cause.VALUE, None, "tools[0].function.parameters.properties.days.type", "days"),
    ('{"city": "Paris", "days": 30}', Cause.VALUE, "0", "tools[0].function.parameters.properties.days.maximum", "days"),
    ('{"city": "Paris", "unit": "k"}', Cause.VALUE, "k", "tools[0].function.parameters.properties.unit.enum", "unit"),
    ('{"city": 5}', Cause.VALUE, None, "tools[0].function.parameters.properties.city.type", "city"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "cause", "token", "path", "argument"), _STEERED)
def test_arguments_off_the_schema_are_traced_to_the_rule_that_they_break(
    judge, arguments, cause, token, path, argument
):
    verdict = judge(kimi(kimi_call("get_weather", arguments)))

    first = verdict.first
    assert (GrammarStatus.STEERED, cause) == (verdict.status, first.cause)
    assert (path, argument, "get_weather") == (first.rule.path, first.rule.argument, first.rule.tool)
    assert token in (None, first.token_text)
    assert (len(verdict.interventions), verdict.then) == (1, "Everything that follows would have been accepted.")


_NESTED = [
    ('{"query": "x", "options": {}}', Cause.MISSING_PROPERTY, ".properties.options.required", "options"),
    (
        '{"query": "x", "options": {"limit": "1"}}',
        Cause.VALUE,
        ".properties.options.properties.limit.type",
        "options.limit",
    ),
    ('{"query": "x", "sites": ["a.com"]}', Cause.VALUE, ".properties.sites.items.pattern", "sites[]"),
    ('{"query": "x", "sites": "a.org"}', Cause.VALUE, ".properties.sites.type", "sites"),
]


@pytest.mark.parametrize(("arguments", "cause", "path", "argument"), _NESTED)
def test_rules_deep_in_a_schema_are_found(judge, arguments, cause, path, argument):
    first = judge(kimi(kimi_call("mcp-search", arguments))).first

    assert (cause, f"tools[1].function.parameters{path}") == (first.cause, first.rule.path)
    assert argument == first.rule.argument


@pytest.mark.parametrize("family", HELD_TO_SCHEMAS)
@pytest.mark.parametrize(
    ("arguments", "cause"),
    [({"city": "x", "days": "three"}, Cause.VALUE), ({"town": "x"}, Cause.UNKNOWN_PROPERTY)],
)
def test_every_family_tells_a_wrong_value_from_an_unknown_key(judge_text, family, arguments, cause):
    raw = written(family, "get_weather", arguments)

    verdict = judge_text(family, raw)

    assert (GrammarStatus.STEERED, cause) == (verdict.status, verdict.first.cause)
    at = raw[verdict.first.char_offset :].lstrip(' "')
    assert at.startswith(("three", "town", 'true">three'))  # DSML says that a text is to come before it comes


@pytest.mark.parametrize("family", HELD_AT_AUTO)
def test_every_family_knows_a_tool_that_was_not_declared(judge_text, family):
    verdict = judge_text(family, written(family, "get_wether", _GOOD))

    assert (verdict.status, verdict.first.cause) == (GrammarStatus.STEERED, Cause.TOOL_NAME)
    assert "`get_wether`" in verdict.first.sentence
    assert "nearest is `get_weather`" in verdict.first.sentence


def test_a_token_that_was_allowed_to_begin_but_not_to_end_is_named_whole(judge, tokenizer):
    raw = kimi(kimi_call("get_wether", _GOOD))

    first = judge(raw).first

    token = tokenizer.tokens_of_ids(tokenizer.encode(raw))[1][first.token_index]
    assert (token.id, token.text) == (first.token_id, first.token_text)
    assert raw.startswith("get_we" + first.token_text[len(first.accepted) :], raw.index("get_we"))
    assert first.char_offset == raw.index("get_wether") + len("get_we")
    assert first.allowed[0].startswith(first.accepted + "ather")


def test_text_before_a_call_is_steered_if_the_request_insists_on_one(judge):
    verdict = judge("Sure. " + kimi(kimi_call("get_weather", _GOOD)), "required")

    assert (
        verdict.first.cause,
        verdict.first.token_index,
        verdict.first.char_offset,
    ) == (Cause.TEXT_OUTSIDE_CALL, 0, 0)
    assert verdict.first.allowed[0].startswith("<|tool_calls_section_begin|>")
    assert verdict.then == "Everything that follows would have been accepted."


def test_the_other_tool_is_steered_if_one_is_forced(judge):
    verdict = judge(kimi(kimi_call("mcp-search", {"query": "x"})), "forced:get_weather")

    assert Cause.OTHER_TOOL is verdict.first.cause
    assert "forces `get_weather`" in verdict.first.sentence


@pytest.mark.parametrize("level", ["auto+single", "required+single", "forced:get_weather"])
def test_a_second_call_is_steered_if_calls_may_not_come_in_parallel(judge, level):
    verdict = judge(kimi(kimi_call("get_weather", _GOOD), kimi_call("get_weather", _GOOD, 1)), level)

    assert Cause.CALL_COUNT is verdict.first.cause


def test_a_call_that_ends_too_early_is_steered_at_the_end_token(judge, tokenizer):
    raw = kimi(kimi_call("get_weather", _GOOD)).replace("<|tool_calls_section_end|>", "")

    verdict = judge(raw)

    assert (verdict.first.cause, verdict.first.token_text) == (Cause.END_TOO_EARLY, "<|im_end|>")
    assert (len(tokenizer.encode(raw)) - 1, raw.index("<|im_end|>")) == (
        verdict.first.token_index,
        verdict.first.char_offset,
    )
    assert "<|tool_calls_section_end|>" in verdict.first.allowed
    assert verdict.token_reading is None


def test_a_server_that_stopped_without_showing_its_end_token_ended_anyway(judge_text):
    verdict = judge_text(
        "hermes", '<tool_call>\n{"name": "get_weather", "arguments": {"city": "x"}}', finish_reason="stop"
    )

    assert Cause.END_TOO_EARLY is verdict.first.cause


# --- what follows ------------------------------------------------------------


def test_each_intervention_is_forgiven_and_the_rest_judged(judge):
    calls = kimi_call("get_weather", '{"days": "x", "bad": 1}'), kimi_call("nope", "{}", 1)
    raw = kimi(*calls).replace("section_begin|>", "section_begin|>\n")

    verdict = judge(raw)

    wanted = [Cause.SPELLING, Cause.MISSING_PROPERTY, Cause.VALUE, Cause.UNKNOWN_PROPERTY, Cause.TOOL_NAME]
    assert wanted == [item.cause for item in verdict.interventions]
    assert [raw.index(text) for text in ("\n", "days", '"x"', "bad", "nope")] == [
        item.char_offset for item in verdict.interventions
    ]
    assert verdict.then == "Everything that follows would have been accepted."


def test_a_missing_prefix_is_put_in_to_see_what_follows(judge):
    verdict = judge(kimi(kimi_call("get_weather", '{"city": "x", "days": 99}')).replace("functions.", ""))

    assert [item.cause for item in verdict.interventions] == [Cause.SPELLING, Cause.VALUE]
    assert verdict.first.forgiven_by == "putting in 'functions.'"


# --- levels ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "tools", "words"),
    [
        ("off", TOOLS, "switched off"),
        ("auto", [tool("get_weather", WEATHER, strict=None)], "strict: true"),
        ("required", [], "no tools"),
        ("forced:absent", TOOLS, "does not declare"),
    ],
)
def test_where_nothing_is_enforced_the_verdict_says_why(judge, level, tools, words):
    verdict = judge(kimi(kimi_call("get_weather", "{")), level, tools)

    assert (verdict.status, words in verdict.sentence) == (GrammarStatus.OFF, True)


def test_a_tool_that_is_not_strict_may_have_any_arguments_but_no_other_name(judge):
    tools = [tool("get_weather", WEATHER, strict=None)]

    free = judge(kimi(kimi_call("get_weather", {"x": 1})), "required", tools)
    named = judge(kimi(kimi_call("other", {"x": 1})), "required", tools)
    strict = judge(kimi(kimi_call("get_weather", {"x": 1})), "required+strict", tools)

    assert (free.status, named.first.cause) == (GrammarStatus.LEGAL, Cause.TOOL_NAME)
    assert Cause.UNKNOWN_PROPERTY is strict.first.cause


def test_glm_is_held_to_keys_and_types_even_if_no_one_asked(judge_text):
    verdict = judge_text(
        "glm45", written("glm45", "get_weather", {"town": "x"}), tools=[tool("get_weather", WEATHER, strict=None)]
    )

    assert GrammarStatus.STEERED is verdict.status


def test_a_format_without_a_structural_tag_is_never_steered(judge_text):
    verdict = judge_text("pythonic", "[get_weather()]")

    assert (verdict.status, verdict.structural_tag) == (GrammarStatus.OFF, None)


# --- other opinions ----------------------------------------------------------


def test_a_second_opinion_shows_where_the_grammar_is_stricter_than_the_schema(judge):
    order = judge(kimi(kimi_call("get_weather", '{"days": 3, "city": "x"}'))).second_opinion
    extra = judge(kimi(kimi_call("get_weather", '{"city": "x", "wind": 1}'))).second_opinion
    value = judge(kimi(kimi_call("get_weather", '{"city": "x", "days": 99}'))).second_opinion

    assert (order.schema_errors, extra.schema_errors) == ((), ())
    assert (order.llguidance, extra.llguidance, value.llguidance) == ("steps in", "accepts", "steps in")
    assert value.schema_errors == ("$.days: 99 is greater than the maximum of 10",)


def test_an_enumerated_text_must_be_spelled_as_the_grammar_spells_it(judge):
    tools = [tool("get_weather", {"type": "object", "properties": {"city": {"enum": ["北京"]}}})]

    plain = judge(kimi(kimi_call("get_weather", '{"city": "北京"}')), tools=tools)
    escaped = judge(kimi(kimi_call("get_weather", '{"city": "\\u5317\\u4eac"}')), tools=tools)

    assert (plain.status, escaped.first.cause) == (GrammarStatus.LEGAL, Cause.VALUE)
    assert escaped.sentence.endswith("JSON Schema itself has no objection to these arguments.")


def test_a_marker_spelled_with_ordinary_tokens_is_not_a_marker_to_who_reads_ids(engine, tokenizer):
    raw = kimi(kimi_call("get_weather", _GOOD))
    marker = "<|tool_call_end|>"
    before, after = raw.split(marker)
    spelled = [token for char in marker for token in tokenizer.encode(char)]
    ids = [*tokenizer.encode(before), *spelled, *tokenizer.encode(after)]

    verdict = first_illegal_token(JudgedOutput(raw, ids, tokenizer), TOOLS, "kimi_k2", engine=engine)

    assert (verdict.status, verdict.token_reading.status) == (GrammarStatus.LEGAL, GrammarStatus.STEERED)
    assert verdict.token_reading.char_offset == raw.index(marker)


def test_a_marker_inside_a_string_passes_as_text_and_not_as_a_token(judge):
    raw = kimi(kimi_call("get_weather", {"city": "a<|tool_call_end|>b"}))

    verdict = judge(raw)

    assert (verdict.status, verdict.token_reading.status) == (GrammarStatus.LEGAL, GrammarStatus.STEERED)


# --- the JSON form -----------------------------------------------------------


def test_a_verdict_never_calls_an_output_broken(judge):
    outputs = [kimi(kimi_call("get_weather", arguments)) for arguments, *_ in _STEERED]
    verdicts = [judge(raw, level) for raw in outputs for level in ("auto", "required")]

    words = " ".join(str(dump_document(verdict)) for verdict in verdicts).lower()

    assert "steered" in words
    assert [word for word in ("broken", "invalid", "wrong") if word in words] == []


def test_the_json_form_contains_all_of_a_verdict(judge):
    verdict = judge(kimi(kimi_call("mcp-search", '{"query": "x", "options": {"limit": "1"}}')))

    written_out = dump_document(verdict)

    first = written_out["interventions"][0]
    assert tuple(written_out[key] for key in ("status", "family", "structural_tag", "enforcement")) == (
        "steered",
        "kimi_k2",
        "kimi",
        "auto",
    )
    assert ("value", verdict.first.token_id, "integer") == (first["cause"], first["token_id"], first["rule"]["rule"])
    assert written_out["second_opinion"]["schema_errors"] == ["$.options.limit: '1' is not of type 'integer'"]


def test_schemas_are_not_changed_by_being_relaxed(judge):
    before = str(WEATHER) + str(SEARCH)

    judge(kimi(kimi_call("get_weather", '{"days": "x"}')))

    assert before == str(WEATHER) + str(SEARCH)
