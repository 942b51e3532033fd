"""The ledger: who got which character, what was altered, lost or invented."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.account import count_calls, count_characters
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallMatch, CallOutcome, Certainty, Comparability, Fate
from prompt_debugger.core.formats import FORMATS
from prompt_debugger.core.parse import build_ledger

OPEN, CLOSE = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
BEGIN, ARGUMENTS, END = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"


def kimi(header, arguments):
    return f"{BEGIN}{header}{ARGUMENTS}{arguments}{END}"


def entry(name, arguments, call_id="x"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def keep(raw, message, *, name="kimi_k2", tail="", specials=frozenset()):
    parsed = FORMATS[name].read(raw, ReadContext(prompt_tail=tail, special_texts=specials))
    ledger = build_ledger(raw, parsed, message)
    assert raw == "".join(raw[slice(*e.char_span)] for e in ledger.entries)
    return ledger


def texts(raw, ledger, fate, target=None):
    return [
        raw[slice(*e.char_span)] for e in ledger.entries if e.fate is fate and (target is None or e.target == target)
    ]


CALLS = kimi("functions.f:0", '{"a": 1}') + kimi("g", '{"b": 2}')
RAW = f"Let me see.{OPEN}{CALLS}{CLOSE}Done.<|im_end|>"


def test_without_a_message_it_says_where_everything_should_go():
    ledger = keep(RAW, None)

    assert [(e.target, RAW[slice(*e.char_span)]) for e in ledger.entries if e.fate is Fate.CONTENT] == [
        ("content", "Let me see."),
        ("content", "Done."),
    ]
    assert texts(RAW, ledger, Fate.CALL_ARGUMENTS, "tool_calls[1].function.arguments") == ['{"b": 2}']
    assert texts(RAW, ledger, Fate.CALL_ID, "tool_calls[0].id") == ["functions.", ":0"]
    assert texts(RAW, ledger, Fate.END) == ["<|im_end|>"]
    assert [match.outcome for match in ledger.matches] == [CallOutcome.UNKNOWN, CallOutcome.UNKNOWN]
    assert ledger.comparability is None


def test_a_faithful_message_explains_everything():
    message = {
        "content": "Let me see.Done.",
        "tool_calls": [entry("f", '{"a":1}', "functions.f:0"), entry("g", '{"b": 2}', "g")],
    }

    ledger = keep(RAW, message)

    assert ledger.matches == (CallMatch(0, 0, (), CallOutcome.KEPT), CallMatch(1, 1, (), CallOutcome.KEPT))
    assert ledger.invented == ()
    assert texts(RAW, ledger, Fate.LOST) == texts(RAW, ledger, Fate.ALTERED) == []
    assert texts(RAW, ledger, Fate.CALL_ID, "tool_calls[0].id") == ["functions.", ":0"]
    assert texts(RAW, ledger, Fate.CALL_NAME, "tool_calls[0].function.name") == ["f"]


def test_a_dropped_call_is_lost_but_its_markup_and_the_end_are_not():
    ledger = keep(RAW, {"content": "Let me see.", "tool_calls": [entry("f", '{"a": 1}', "functions.f:0")]})

    assert texts(RAW, ledger, Fate.LOST) == ["g", '{"b": 2}', "Done."]
    assert ledger.matches == (CallMatch(0, 0, (), CallOutcome.KEPT), CallMatch(1, None, (), CallOutcome.DROPPED))
    assert texts(RAW, ledger, Fate.END) == ["<|im_end|>"]


def test_a_call_leaked_into_content_is_there_markup_and_all():
    ledger = keep(RAW, {"content": RAW.removesuffix("<|im_end|>")})

    assert texts(RAW, ledger, Fate.CONTENT, "content") == [RAW.removesuffix("<|im_end|>")]
    assert texts(RAW, ledger, Fate.LOST) == []
    assert [m.message_index for m in ledger.matches] == [None, None]


def test_call_text_without_its_special_tokens_is_found_in_content():
    ledger = keep(RAW, {"content": 'Let me see.functions.f:0{"a": 1}g{"b": 2}Done.'})

    assert texts(RAW, ledger, Fate.LOST) == []
    assert '{"a": 1}' in texts(RAW, ledger, Fate.CONTENT)
    assert ledger.invented == ()


def test_an_answer_swallowed_as_reasoning_is_in_reasoning():
    raw = "The answer is four.<|im_end|>"

    ledger = keep(raw, {"content": None, "reasoning_content": "The answer is four."})

    assert texts(raw, ledger, Fate.REASONING, "reasoning_content") == ["The answer is four."]


def test_reasoning_leaked_into_content_is_in_content():
    raw = "I think.</think>Hello."

    ledger = keep(raw, {"content": raw}, tail="<think>")

    assert texts(raw, ledger, Fate.CONTENT, "content") == [raw]


@pytest.mark.parametrize(
    ("returned", "altered"),
    [
        (entry("f", '{ "a":1 }', "functions.f:0"), ()),
        (entry("f", '{"a": 1.0}', "functions.f:0"), ()),
        (entry("f", '{"a": "1"}', "functions.f:0"), ("arguments",)),
        (entry("f", '{"a": true}', "functions.f:0"), ("arguments",)),
        (entry("f", "{}", "functions.f:0"), ("arguments",)),
        (entry("functions.f", '{"a": 1}', "functions.f:0"), ("name",)),
        (entry("f", '{"a": 1}', "call_123"), ("id",)),
        (entry("f", '{"a": 1}', None), ("id",)),
    ],
)
def test_only_a_change_of_value_is_an_alteration(returned, altered):
    raw = OPEN + kimi("functions.f:0", '{"a": 1}') + CLOSE

    ledger = keep(raw, {"content": None, "tool_calls": [returned]})

    outcome = CallOutcome.ALTERED if {"name", "arguments"} & set(altered) else CallOutcome.KEPT
    assert ledger.matches == (CallMatch(0, 0, altered, outcome),)


def test_a_random_id_is_not_an_alteration_where_the_format_has_none():
    raw = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'

    ledger = keep(raw, {"content": None, "tool_calls": [entry("f", '{"a": 1}', "chatcmpl-tool-1")]}, name="hermes")

    assert ledger.matches == (CallMatch(0, 0, (), CallOutcome.KEPT),)


def test_changed_arguments_show_what_changed():
    raw = OPEN + kimi("functions.f:0", '{"city": "Beijing", "days": 3}') + CLOSE

    ledger = keep(raw, {"tool_calls": [entry("f", '{"city": "Shanghai", "days": 3}', "functions.f:0")]})

    assert any(
        "Beij" in text or "ij" in text for text in texts(raw, ledger, Fate.ALTERED) + texts(raw, ledger, Fate.LOST)
    )
    assert ', "days": 3}' in "".join(texts(raw, ledger, Fate.CALL_ARGUMENTS))


def test_truncated_arguments_passed_on_as_they_are_are_not_altered():
    raw = f'{OPEN}{BEGIN}functions.f:0{ARGUMENTS}{{"city": "Br'

    ledger = keep(raw, {"tool_calls": [entry("f", '{"city": "Br', "functions.f:0")]})

    assert ledger.matches == (CallMatch(0, 0, (), CallOutcome.CUT),)


def test_invented_text_and_calls_are_named():
    raw = "Hello."

    ledger = keep(raw, {"content": "Hello. Goodbye!", "reasoning": "Hm?", "tool_calls": [entry("f", "{}")]})

    assert ledger.invented == ("content[6:15]", "reasoning", "tool_calls[0]")
    assert ledger.matches == (CallMatch(None, 0, (), CallOutcome.INVENTED),)


def test_text_shown_twice_is_not_invented():
    raw = "The same text in both."

    ledger = keep(raw, {"content": raw, "reasoning": raw})

    assert ledger.invented == ()


def test_white_space_that_a_server_trims_is_framing_not_loss():
    raw = "  Hello there. \n"

    ledger = keep(raw, {"content": "Hello there."})

    assert texts(raw, ledger, Fate.MARKUP) == ["  ", " \n"]
    assert texts(raw, ledger, Fate.LOST) == []


def test_a_character_replaced_in_content_is_altered():
    raw = "a < b, surely"

    ledger = keep(raw, {"content": "a &lt; b, surely"})

    assert texts(raw, ledger, Fate.ALTERED, "content") == ["<"]
    assert ledger.invented == ()


def test_a_draft_executed_from_reasoning_is_matched():
    draft = OPEN + kimi("functions.f:0", "{}") + CLOSE
    raw = f"<think>Maybe {draft}.</think>No."

    ledger = keep(raw, {"content": "No.", "reasoning": "Maybe .", "tool_calls": [entry("f", "{}", "functions.f:0")]})

    assert ledger.matches == (CallMatch(0, 0, (), CallOutcome.KEPT),)
    assert texts(raw, ledger, Fate.CALL_NAME) == ["f"]


def test_calls_are_paired_by_likeness_not_by_place():
    raw = (
        OPEN
        + kimi("functions.f:0", '{"a": 1}')
        + kimi("functions.g:1", "{}")
        + kimi("functions.f:2", '{"a": 2}')
        + CLOSE
    )
    returned = [entry("f", '{"a": 2}', "functions.f:2"), entry("f", '{"a": 1}', "functions.f:0")]

    ledger = keep(raw, {"tool_calls": returned})

    assert ledger.matches == (
        CallMatch(0, 1, (), CallOutcome.KEPT),
        CallMatch(1, None, (), CallOutcome.DROPPED),
        CallMatch(2, 0, (), CallOutcome.KEPT),
    )


def test_a_garbled_name_still_pairs_by_its_arguments():
    raw = OPEN + kimi("functions.search:0", '{"q": "tea"}') + CLOSE

    ledger = keep(
        raw, {"tool_calls": [entry('x"}<|tool_call_end|>functions.search', '{"q": "tea"}', "functions.search:0")]}
    )

    assert ledger.matches == (CallMatch(0, 0, ("name",), CallOutcome.ALTERED),)


def test_a_message_of_any_shape_is_taken():
    for message in ({}, {"content": 7}, {"tool_calls": {}}, {"tool_calls": [{"function": {"arguments": {"a": 1}}}]}):
        keep(RAW, message)


def test_values_of_tagged_arguments_are_compared_not_their_spelling():
    raw = "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</tool_call>"
    same, stripped = json.dumps({"a": "x"}), json.dumps({"a": "y"})

    assert keep(raw, {"tool_calls": [entry("f", same)]}, name="qwen3_coder").matches == (
        CallMatch(0, 0, (), CallOutcome.KEPT),
    )
    altered = keep(raw, {"tool_calls": [entry("f", stripped)]}, name="qwen3_coder")
    assert altered.matches == (CallMatch(0, 0, ("arguments",), CallOutcome.ALTERED),)
    assert texts(raw, altered, Fate.ALTERED) == ["<parameter=a>\nx\n</parameter>"]


@pytest.mark.parametrize("certainty", [None, Certainty.INFERRED, Certainty.OBSERVED])
def test_nothing_is_reported_of_loss_where_the_two_may_not_be_compared(certainty):
    parsed = FORMATS["kimi_k2"].read(RAW, ReadContext())
    message = {"content": "Something else.", "tool_calls": [entry("h", "{}")]}

    ledger = build_ledger(RAW, parsed, message, Comparability(certainty, "why"))

    outcomes = [match.outcome for match in ledger.matches]
    if certainty is None:
        assert outcomes == [CallOutcome.UNKNOWN] * 3
        assert ledger.invented == ()
        assert ledger.entries == build_ledger(RAW, parsed, None).entries
        assert count_characters(RAW, ledger) is None
    else:
        assert outcomes == [CallOutcome.DROPPED, CallOutcome.DROPPED, CallOutcome.INVENTED]
        assert texts(RAW, ledger, Fate.LOST)


def test_a_draft_that_was_left_alone_is_not_a_loss():
    raw = f"<think>Maybe {OPEN}{kimi('functions.f:0', '{}')}{CLOSE}.</think>No."

    ledger = keep(raw, {"content": "No.", "reasoning": raw[7 : raw.index("</think>")]})

    assert [match.outcome for match in ledger.matches] == [CallOutcome.DRAFT]
    assert count_calls(ledger).wrong == 0


@pytest.mark.parametrize("returned", [[], [entry("f", "{}", "functions.f:0")], [entry("f", '{"city": "Br', "x")]])
def test_a_call_in_which_the_output_ends_is_cut_whatever_a_server_makes_of_it(returned):
    raw = f'{OPEN}{BEGIN}functions.f:0{ARGUMENTS}{{"city": "Br'

    ledger = keep(raw, {"content": None, "tool_calls": returned})

    assert [match.outcome for match in ledger.matches] == [CallOutcome.CUT]


# --- near misses that a change of one figure or one word would let through -------------------------------------


@pytest.mark.parametrize(("word", "is_found"), [("abc", False), ("abcd", True)])
def test_a_short_agreement_with_text_from_elsewhere_is_an_accident(word, is_found):
    raw = OPEN + kimi("functions.f:0", f'{{"q": "{word}"}}') + CLOSE

    ledger = keep(raw, {"content": f"Sorry, no {word}!? I cannot 12."})

    assert (word in texts(raw, ledger, Fate.CONTENT)) is is_found
    assert any(word in text for text in texts(raw, ledger, Fate.LOST)) is not is_found


@pytest.mark.parametrize(
    ("content", "kept"), [('Hi there. {"q": "tea time"}', 1), ('{"q": "tea time"} Done.', 0)], ids=["last", "first"]
)
def test_of_two_equal_stretches_the_one_at_the_same_end_is_meant(content, kept):
    arguments = '{"q": "tea time"}'
    raw = f"Hi there.{OPEN}{kimi('functions.f:0', arguments)}{kimi('functions.g:1', arguments)}{CLOSE}Done."

    ledger = keep(raw, {"content": content})

    found = {entry.char_span.start for entry in ledger.entries if entry.fate is Fate.CONTENT}
    assert [place in found for place in (raw.index(arguments), raw.rindex(arguments))] == [kept == 0, kept == 1]


def test_calls_that_share_nothing_but_their_id_are_paired_by_it():
    raw = OPEN + kimi("functions.f:0", '{"q": 1}') + kimi("functions.g:1", '{"q": 2}') + CLOSE
    returned = [entry("x", '{"z": 3}', "functions.g:1"), entry("y", '{"z": 4}', "functions.f:0")]

    ledger = keep(raw, {"content": None, "tool_calls": returned})

    assert [(match.raw_index, match.message_index) for match in ledger.matches] == [(0, 1), (1, 0)]
    assert {match.altered for match in ledger.matches} == {("name", "arguments")}


def test_single_characters_found_again_in_other_arguments_are_not_kept():
    raw = OPEN + kimi("functions.f:0", '{"latitude": 34, "longitude": 118}') + CLOSE
    message = {"content": None, "tool_calls": [entry("f", '{"topic": "tech"}')]}

    ledger = keep(raw, message)

    kept = "".join(texts(raw, ledger, Fate.CALL_ARGUMENTS))
    assert not any(char.isalnum() for char in kept)


def test_a_single_character_between_kept_text_is_kept():
    raw = OPEN + kimi("functions.f:0", '{"text": "one (x) two"}') + CLOSE
    message = {"content": None, "tool_calls": [entry("f", '{"text": "one x two"}')]}

    ledger = keep(raw, message)

    assert texts(raw, ledger, Fate.LOST) == ["(", ")"]
