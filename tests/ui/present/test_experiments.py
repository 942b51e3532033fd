"""The payloads of the bench: what a person reads, and that nothing in the data can break them."""

import json

import pytest
from hypothesis import HealthCheck, given, settings

from prompt_debugger.core.base.errors import RenderError, RequestError
from prompt_debugger.core.base.types import Span, Token, TokenKind
from prompt_debugger.core.render import load_tokenizer, render_local
from prompt_debugger.core.render.probes import ProbeAnswer, Support
from prompt_debugger.core.render.traced_render import run_job
from prompt_debugger.core.tools.experiments import (
    RenderSetup,
    compare_setups,
    explain_count,
    follow_turns,
    try_switches,
)
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.present.experiments import (
    MAX_HUNKS,
    bench_error_payload,
    count_payload,
    setups_payload,
    switches_payload,
    token_chips,
    turns_payload,
)
from prompt_debugger.ui.present.template import edit_error_payload, edited_payload, probes_payload
from tests.examples import examples
from tests.ui.present.strategies import hostile_texts

CHATML = (
    "{% for m in messages %}<|im_user|>{{ m.content }}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_assistant|>{% endif %}"
)
BODY = {"messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture(scope="module")
def setup(lab_model_dir):
    return RenderSetup(CHATML, load_tokenizer(lab_model_dir), renderer=run_job)


def header(payload):
    return unpack_payload(payload)[0]


def token(text, kind=TokenKind.TEXT, piece=None, token_id=7):
    return Token(token_id, text, Span(0, len(text)), kind, text.encode() if piece is None else piece)


# --- chips ---------------------------------------------------------------------


def test_a_chip_has_text_kind_ids_and_bytes():
    assert token_chips([token("<|x|>", TokenKind.SPECIAL)]) == [["<|x|>", "special", "7", "3c 7c 78 7c 3e"]]


def test_bytes_of_one_character_are_one_chip():
    first, second = token("é", TokenKind.BYTE, b"\xc3", 1), token("", TokenKind.BYTE, b"\xa9", 2)

    assert token_chips([first, second]) == [["é", "byte", "1 2", "c3 a9"]]


def test_a_byte_that_makes_no_character_is_shown_as_a_byte():
    assert token_chips([token("", TokenKind.BYTE, b"\xa9", 2)]) == [["a9", "byte", "2", "a9"]]


def test_without_a_tokenizer_the_text_is_one_chip_and_nothing_is_none():
    assert token_chips([], "two words") == [["two words", "word", "", ""]]
    assert token_chips([], "") == []


def test_tokens_left_out_are_counted():
    assert token_chips([token("a")], count=1_201)[-1] == ["1,200 more", "more", "", ""]
    assert len(token_chips([token("a")], count=1)) == 1


# --- switches ------------------------------------------------------------------


def test_switches_are_sorted_by_what_they_do(setup):
    shown = header(switches_payload(try_switches(BODY, setup), "Rendered here."))

    assert (shown["state"], shown["source"]) == ("done", "Rendered here.")
    assert shown["sentence"].startswith("6 tokens as pasted. Of ")
    assert shown["changes"][0]["name"] == "no-generation-prompt"
    assert shown["progress"]["fraction"] == 1
    assert shown["untried"] == []


def test_a_request_that_does_not_render_names_the_template_line(setup):
    failing = RenderSetup("a\n{{ raise_exception('no') }}", renderer=run_job)

    shown = header(switches_payload(try_switches(BODY, failing), ""))

    assert shown["failure"]["template_line"] == 2
    assert shown["sentence"].startswith("As pasted, the request produces no prompt.")


def test_switches_not_tried_are_named_only_at_the_end(setup):
    report = try_switches(BODY, setup)
    cut = type(report)(report.unit, 4, None, report.effects[:1], tuple(one.switch for one in report.effects[1:]))

    assert header(switches_payload(cut, "", is_running=True))["untried"] == []
    assert len(header(switches_payload(cut, ""))["untried"]) == len(report.effects) - 1


def test_a_difference_of_many_places_says_how_many_are_left_out(setup):
    body = {"messages": [{"role": "user", "content": f" {i} "} for i in range(40)]}
    shown = header(switches_payload(try_switches(body, setup), ""))

    change = next(one for one in shown["changes"] if one["name"] == "content-trimmed")["difference"]
    assert len(change["hunks"]) == MAX_HUNKS
    assert change["notes"][0].endswith("further stretches differ.")


# --- turns, counts, setups -------------------------------------------------------


def test_without_a_past_turn_the_payload_says_so(setup):
    assert "No past assistant turn" in header(turns_payload(follow_turns(BODY, setup), ""))["sentence"]


def test_a_turn_that_breaks_shows_both_sides(setup):
    stripping = CHATML.replace("{{ m.content }}", "{% if loop.last %}{{ m.reasoning }}{% endif %}{{ m.content }}")
    body = {
        "messages": [
            *BODY["messages"],
            {"role": "assistant", "content": "Hi", "reasoning": "Greet."},
            {"role": "user", "content": "Bye"},
        ]
    }

    shown = header(turns_payload(follow_turns(body, RenderSetup(stripping, setup.tokenizer, renderer=run_job)), ""))

    [turn] = shown["turns"]
    assert turn["state"] == "broken"
    assert turn["removed"] != turn["added"]
    assert shown["sentence"].startswith("The prefix first breaks after messages[1]")


def test_a_count_that_is_explained_has_another_tone_than_one_that_is_not(setup):
    exact = header(count_payload(explain_count(BODY, setup, 6), ""))
    none = header(count_payload(explain_count(BODY, setup, 900), ""))

    assert (exact["tone"], exact["explanations"][0]["names"]) == ("exact", [])
    assert none["tone"] == "none"
    assert none["explanations"][0]["off_by"] < 0


def test_counts_of_two_requests_are_put_together(setup):
    first, second = explain_count(BODY, setup, 4), explain_count({"messages": BODY["messages"] * 2}, setup, 999)

    alone = header(count_payload(first, ""))
    both = header(count_payload(second, "", earlier=[first]))

    assert alone["agreement"] is None
    assert both["agreement"] == {"sentence": "No single way explains all the counts 4, 999.", "names": []}


def test_two_setups_are_the_same_or_differ_by_tokens(setup):
    other = RenderSetup(CHATML.replace("im_user", "im_system"), setup.tokenizer, renderer=run_job)

    same = header(setups_payload(compare_setups(BODY, setup, setup), "", ""))
    differs = header(setups_payload(compare_setups(BODY, setup, other), "", "the second"))

    assert (same["sentence"], same["difference"]) == ("Both give the same prompt.", None)
    assert differs["sentence"] == "The prompts differ: −1 +1 tokens, from token 0 on."


# --- the template ------------------------------------------------------------------


def test_an_edited_template_counts_its_lines(setup):
    own = "a\nb\nc"
    prompt = render_local(BODY, template="a\nB\nc", renderer=run_job)

    notes = header(edited_payload(prompt, own, "Here."))["notes"]

    assert "Edited: 1 line differ from the model's own." in notes
    assert "Here." in notes


def test_lines_in_another_order_are_an_edit(setup):
    prompt = render_local(BODY, template="b\na", renderer=run_job)

    assert "Edited: the model's own lines in a different order." in header(edited_payload(prompt, "a\nb", ""))["notes"]


def test_without_a_tokenizer_the_text_itself_is_shown(setup):
    shown = header(edited_payload(render_local(BODY, template=CHATML, renderer=run_job), CHATML, ""))

    assert shown["text"] == "<|im_user|>Hello<|im_end|><|im_assistant|>"
    assert shown["sentence"] == "42 characters"


def test_errors_carry_their_place():
    of_template = RenderError("the template fails", template_line=3, template_column=5)
    of_request = RequestError("this is no JSON", line=2)

    assert header(edit_error_payload(of_template))["place"] == {"template_line": 3, "template_column": 5}
    assert header(bench_error_payload(of_template))["place"] == {"template_line": 3, "template_column": 5}
    assert header(edit_error_payload(of_request))["place"] == {"line": 2, "column": 1}
    assert header(bench_error_payload(RequestError("no", field="tokenizer")))["place"] == {"field": "tokenizer"}


def test_probes_are_counted_by_their_answers():
    answers = [ProbeAnswer("a", "A", Support.SUPPORTED, "Yes."), ProbeAnswer("b", "B", Support.REFUSED, "No.", "", 4)]

    shown = header(probes_payload(answers))

    assert shown["sentence"] == "2 probes: 1 supported · 1 refused."
    assert shown["probes"][1]["template_line"] == 4


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(hostile_texts, hostile_texts)
def test_no_text_breaks_a_payload(setup, text, other):
    body = {"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": other}, *BODY["messages"]]}
    payloads = [
        switches_payload(try_switches(body, setup), text),
        turns_payload(follow_turns(body, setup), text),
        setups_payload(compare_setups(body, setup, RenderSetup(CHATML + "x", renderer=run_job)), text, other),
        probes_payload([ProbeAnswer("a", text, Support.CHANGED, other, text)]),
        bench_error_payload(RequestError(text, other)),
    ]

    for payload in payloads:
        assert payload.isascii()
        json.dumps(header(payload))
