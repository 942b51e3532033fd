"""Payloads of the parse tools: what is said of parsers, splits, releases and constrained decoding."""

from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import Divergence, ParserOutcome, Server, Span, SplitTrial, VllmOutcome
from prompt_debugger.core.pipeline import account_of
from prompt_debugger.core.tools.experiments import CallHistory, ReleaseRow, ReleaseTable
from prompt_debugger.core.tools.grammar import (
    Cause,
    GrammarStatus,
    GrammarVerdict,
    Intervention,
    SchemaRule,
    SecondOpinion,
)
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.present.constrained import constrained_payload
from prompt_debugger.ui.present.parsers import matrix_payload
from prompt_debugger.ui.present.releases import releases_payload
from prompt_debugger.ui.present.splits import splits_payload
from prompt_debugger.ui.present.tool_state import jump_of
from tests.ui.present.strategies import HOSTILE
from tests.ui.present.traces import dropped_call_trace


def header(payload):
    return unpack_payload(payload)[0]


def call(name, arguments):
    return {"type": "function", "id": "x", "function": {"name": name, "arguments": arguments}}


@pytest.fixture
def trace():
    found = dropped_call_trace()
    return replace(found, server=Server("http://x/v1", kind="vllm", tool_parser="kimi_k2"))


@pytest.fixture
def right(trace):
    attempt = trace.parse.parsed.calls[0]
    return VllmOutcome(None, trace.parse.parsed.content, (call(attempt.name, attempt.arguments),), stream_equal=True)


# --- the matrix --------------------------------------------------------------


def test_the_matrix_names_who_reads_the_output_and_whether_the_server_does(trace, right):
    outcomes = {
        "vllm:kimi_k2": VllmOutcome(None, None, ()),
        "vllm:other": right,
        "vllm:failing": VllmOutcome(None, None, (), error="it raised"),
    }

    shown = header(matrix_payload(trace, outcomes))

    assert shown["sentence"] == (
        "1 of 2 parsers reads the call: `other`. 1 more could not be run. This server's own, "
        "`kimi_k2`, is not among them."
    )
    assert [row["name"] for row in shown["rows"]] == ["vllm:kimi_k2", "vllm:other", "vllm:failing"]
    assert [row["state"] for row in shown["rows"]] == ["wrong", "right", "error"]
    assert [row["own"] for row in shown["rows"]] == [True, False, False]


def test_a_parser_that_changes_the_arguments_or_makes_a_call_up_does_not_read_it(trace, right):
    attempt = trace.parse.parsed.calls[0]
    altered = replace(right, tool_calls=(call(attempt.name, '{"city": "Rome"}'),))
    invented = replace(right, tool_calls=(*right.tool_calls, call("made_up", "{}")))

    assert account_of(trace.parse, right).is_right
    assert account_of(trace.parse, altered).altered == 1
    assert account_of(trace.parse, invented).invented == 1


def test_blanks_between_text_and_a_call_are_no_loss(trace, right):
    shown = header(matrix_payload(trace, {"vllm:a": replace(right, content=None)}))

    assert shown["rows"][0]["state"] in ("right", "lossy")
    assert account_of(trace.parse, right).missing == 0


def test_no_one_asked_is_nothing_to_draw(trace):
    assert matrix_payload(replace(trace, parse=None)) is None
    assert matrix_payload(replace(trace, parse=replace(trace.parse, parsers={}))) is None


def test_streaming_that_was_not_tried_is_not_called_the_same(trace, right):
    outcomes = {
        "a": replace(right, stream_equal=None),
        "b": replace(right, splits_tried=9),
        "c": replace(right, stream_equal=False, splits_tried=2, first_unequal="fed whole: no"),
    }

    words = {row["name"]: row["stream"] for row in header(matrix_payload(trace, outcomes))["rows"]}

    assert words == {"a": "not tried", "b": "same in 9 splits", "c": "differs in some of 2 splits"}


def test_a_plain_outcome_without_vllms_facts_is_drawn_too(trace):
    shown = header(matrix_payload(trace, {"derender": ParserOutcome(None, "x", ())}))

    assert (shown["rows"][0]["own"], shown["rows"][0]["note"]) == (True, "")


# --- split fuzz --------------------------------------------------------------


def test_the_smallest_split_leads_to_its_token(trace, right):
    raw = trace.parse.raw
    outcome = replace(
        right,
        stream_equal=False,
        splits_tried=3,
        first_unequal="fed in 2 deltas: content is 'a'",
        smallest_split=(raw[:5], raw[5:]),
        parts_at=1,
        trials=(SplitTrial("as one delta", 1, None), SplitTrial("token by token", 9, "content is 'a'")),
        parting=Divergence({"content": "a"}, {"content": "ab"}, {"content": "ab"}),
    )

    shown = header(splits_payload(trace, "vllm:kimi_k2", outcome))

    assert shown["sentence"].startswith("`vllm:kimi_k2` streams a different message in 1 of 3 chunkings")
    assert shown["split"]["parts_at"] == 1
    assert shown["split"]["jump"] == jump_of(trace, Span(5, len(raw)))
    assert shown["split"]["before"] is not None


def test_a_split_whose_deltas_do_not_spell_the_output_leads_nowhere(trace, right):
    outcome = replace(right, stream_equal=False, smallest_split=("not the output",), parts_at=0)

    assert header(splits_payload(trace, "vllm:x", outcome))["split"]["jump"] is None


def test_streams_that_agree_have_no_split(trace, right):
    shown = header(splits_payload(trace, "vllm:x", replace(right, splits_tried=32)))

    assert shown["sentence"] == "`vllm:x` streams the same message in all 32 chunkings."
    assert "split" not in shown


def test_a_jump_goes_to_tokens_where_there_are_any(trace):
    without = replace(trace, raw=replace(trace.raw, tokens=None))

    assert jump_of(without, Span(2, 4)) == {"in": "raw", "char_span": [2, 4]}
    if trace.raw.tokens:
        assert "token_span" in jump_of(trace, Span(2, 4))


# --- releases ----------------------------------------------------------------


def test_the_release_in_which_a_call_vanishes_is_named(trace, right):
    table = ReleaseTable(
        "vllm:kimi_k2",
        (
            ReleaseRow("0.11.0", right),
            ReleaseRow("0.12.0", None, "not there"),
            ReleaseRow("0.17.0", VllmOutcome(None, None, (), tools_called=True)),
        ),
        (CallHistory("get_weather", "{}", ("0.11.0",), (), (("0.11.0", "0.17.0"),)),),
    )

    shown = header(releases_payload(trace, [table], total=3))

    assert shown["sentence"] == "`get_weather` vanishes in 0.17.0 (0.11.0 still took it)."
    (one,) = shown["tables"]
    assert (one["engine"], one["title"]) == ("vLLM", "")
    assert one["calls"][0]["taken"] == [True, None, False]
    assert [row["word"] for row in one["rows"]][1] == "not asked"
    assert "reports calls, but returns none" in one["rows"][2]["note"]


def test_several_engines_have_a_table_each_and_one_sentence(trace, right):
    call = trace.parse.parsed.calls[0]
    written = {"function": {"name": call.name, "arguments": call.arguments}}
    reads = VllmOutcome(None, None, (written,), engine="sglang")
    tables = [
        ReleaseTable("vllm:x", (ReleaseRow("0.11.0", VllmOutcome(None, "x", ())), ReleaseRow("0.12.0", reads)), ()),
        ReleaseTable("sglang:x", (ReleaseRow("0.5.9", reads),), ()),
        ReleaseTable("mlx-lm:x", (ReleaseRow("0.31.0", VllmOutcome(None, "x", ())),), ()),
    ]

    shown = header(releases_payload(trace, tables, total=4, engines=["vllm", "sglang", "mlx-lm", "lmdeploy"]))

    assert [one["title"] for one in shown["tables"]] == [
        "vLLM, parser vllm:x", "SGLang, parser sglang:x", "mlx-lm, parser mlx-lm:x",
    ]  # fmt: skip
    assert shown["sentence"] == (
        "The call is read by vLLM since 0.12.0 (0.11.0 does not read it); by SGLang in 0.5.9, the only release tested; "
        "mlx-lm does not read the call in 0.31.0, the only release tested; LMDeploy has no parser for this format."
    )
    assert header(releases_payload(trace, tables, total=9, is_running=True))["sentence"].startswith("Testing one")


def test_releases_that_agree_say_so(trace, right):
    table = ReleaseTable("vllm:x", (ReleaseRow("0.11.0", VllmOutcome(None, "x", ())),), ())

    assert header(releases_payload(trace, [table], total=1))["sentence"].startswith("No release reads a call here")
    assert header(releases_payload(trace, [table], total=2, is_running=True))["state"] == "running"


# --- first illegal token -----------------------------------------------------


def test_an_output_that_would_have_been_steered_is_never_called_broken(trace):
    verdict = GrammarVerdict(
        GrammarStatus.STEERED, "It would have been changed.", "kimi_k2", "kimi", "auto+strict", "tokens",
        has_call=True,
        interventions=(
            Intervention(
                12, 2, 99, "get", "g", ("functions.",), anything_but=False, may_end=True, cause=Cause.TOOL_NAME,
                sentence=HOSTILE[0], rule=SchemaRule("f", "tools[0].function.parameters.type", "", {"type": "object"}),
            ),
        ),
        then="Everything that follows would have been accepted.",
        second_opinion=SecondOpinion("f", (), is_json=True, llguidance="steps in", llguidance_offset=14),
    )  # fmt: skip

    shown = header(constrained_payload(trace, verdict))

    assert shown["word"] == "would have been changed"
    assert "broken" not in str(shown).lower()
    item = shown["interventions"][0]
    assert (item["place"], item["cause"], item["allowed"]) == ("token 2 · character 12", "tool name", ["functions."])
    assert item["sentence"] == HOSTILE[0]
    assert shown["opinion"]["schema"] == "has no objection"
    assert shown["opinion"]["llguidance"] == "steps in at character 14"


def test_a_grammar_that_sets_in_later_says_where(trace):
    verdict = GrammarVerdict(GrammarStatus.LEGAL, "Fine.", "kimi_k2", "kimi", "auto", "text", starts_at=30)

    shown = header(constrained_payload(trace, verdict))

    assert "character 30" in shown["starts"]["text"]
    assert (shown["word"], shown["interventions"]) == ("let through", [])


# --- several engines ---------------------------------------------------------


def test_engines_are_one_after_the_other_each_with_its_best_first(trace, right):
    sglang = replace(right, engine="sglang", release="0.5.23", layer="parser")
    outcomes = {
        "vllm:kimi_k2": VllmOutcome(None, None, (), release="0.32.0"),
        "vllm:other": VllmOutcome(None, None, (), release="0.32.0"),
        "sglang:abc": replace(sglang, tool_calls=()),
        "sglang:kimi_k2": sglang,
    }

    shown = header(matrix_payload(trace, outcomes))

    assert [row["name"] for row in shown["rows"]] == ["vllm:kimi_k2", "vllm:other", "sglang:kimi_k2", "sglang:abc"]
    assert [row["engine"] for row in shown["rows"][1:3]] == ["vLLM 0.32.0", "SGLang 0.5.23"]
    assert shown["sentence"].startswith(
        "Engines that read the call: SGLang 0.5.23 with `kimi_k2` (of 2); no parser of vLLM 0.32.0 (2) does."
    )
    assert shown["source"].startswith("vLLM 0.32.0 · SGLang 0.5.23 · ")
    assert "its server's own code was not run" in shown["rows"][2]["note"]


def test_that_no_engine_reads_it_is_the_headline(trace):
    outcomes = {
        "vllm:a": VllmOutcome(None, None, (), release="0.32.0"),
        "mlx-lm:b": VllmOutcome(None, None, (), engine="mlx-lm", release="0.32.2", layer="parser"),
    }

    assert header(matrix_payload(trace, outcomes))["sentence"].startswith(
        "No engine reads the call, of the 2 that answered: none of the parsers of vLLM 0.32.0 (1), mlx-lm 0.32.2 (1) "
        "returns what was written."
    )


def test_of_each_engine_the_familys_own_parser_is_marked_with_what_it_says_itself(trace):
    words = "warning: Unexpected tool_call_id format"
    outcomes = {
        "vllm:abc": VllmOutcome(None, None, (), release="0.32.0"),
        "vllm:kimi_k2+x": VllmOutcome(None, None, (), release="0.32.0"),
        "sglang:kimi_k2": VllmOutcome(None, None, (), engine="sglang", release="0.5.23", layer="parser", words=words),
        "sglang:kimi_k3": VllmOutcome(None, None, (), engine="sglang", release="0.5.23", layer="parser"),
        "transformers:qwen2": VllmOutcome(None, None, (), engine="transformers", release="5.19.0", layer="parser"),
    }

    rows = {row["name"]: row for row in header(matrix_payload(trace, outcomes))["rows"]}

    assert [name for name, row in rows.items() if row["first"]] == ["vllm:kimi_k2+x", "sglang:kimi_k2"]
    assert rows["sglang:kimi_k2"]["note"].startswith(f"it says: {words}")
    assert "it says" not in rows["sglang:kimi_k3"]["note"]
