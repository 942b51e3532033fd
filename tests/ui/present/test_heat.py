"""Log probabilities beside tokens: shown where they belong to them beyond doubt, else not at all."""

import math
from array import array
from dataclasses import replace

from prompt_debugger.core.base.types import Span, Token, TokenKind, TokenLogprob
from prompt_debugger.ui.present import RunView, tokens_payload, unpack_payload
from prompt_debugger.ui.present.heat import Heat, prompt_heat, raw_heat
from tests.ui.present.traces import RAW_TEXT, dropped_call_trace, tokens_of


def add_logprobs(tokens, values=None, **changes):
    items = tuple(
        TokenLogprob(token.text, None, -0.1 * (i + 1), ((token.text, -0.1), ("other", -3.0)))
        for i, token in enumerate(tokens)
    )
    trace = dropped_call_trace()
    return replace(trace, raw=replace(trace.raw, logprobs=items if values is None else values, **changes))


def column(payload):
    """Return header and log probabilities of a payload."""
    header, columns = unpack_payload(payload)
    values = array("f")
    values.frombytes(columns[header["heat"]["offset"] :])
    return header, list(values)


def test_every_raw_token_has_its_own():
    trace = add_logprobs(tokens_of(RAW_TEXT))

    heat = raw_heat(trace)

    assert [round(value, 3) for value in heat.logprobs[:3]] == [-0.1, -0.2, -0.3]
    assert heat.alternatives[0] == (("<|tool_calls_section_begin|>", 163_005, -0.1), ("other", None, -3.0))


def test_those_of_another_run_are_not_shown():
    tokens = tokens_of(RAW_TEXT)
    shifted = tuple(TokenLogprob(token.text, None, -1.0) for token in (tokens[-1], *tokens[:-1]))

    assert raw_heat(add_logprobs(tokens, shifted)) is None
    assert raw_heat(add_logprobs(tokens, (*shifted, *shifted))) is None
    assert raw_heat(add_logprobs(tokens, ())) is None


def test_an_end_token_without_one_leaves_the_others_alone():
    tokens = tokens_of(RAW_TEXT)

    heat = raw_heat(add_logprobs(tokens[:-1]))

    assert heat.logprobs[-1] is None
    assert heat.logprobs[-2] is not None


def test_ids_and_texts_find_each_other_where_the_run_shows_both():
    known = tokens_of(RAW_TEXT)[0]
    by_id = (
        TokenLogprob(f"token_id:{known.id}", known.id, -0.5, ((f"token_id:{known.id}", -0.5), ("token_id:9", -2))),
    )

    heat = raw_heat(add_logprobs((), by_id))

    assert heat.alternatives[0] == ((known.text, known.id, -0.5), ("", 9, -2))


def test_a_merged_chip_has_the_sum_of_its_tokens():
    pieces = [
        Token(i, text, Span(0, len(text)), TokenKind.BYTE, bytes([byte]))
        for i, text, byte in ((5, "", 0xE4), (6, "", 0xB8), (7, "中", 0xAD))
    ]
    tokens = (*tokens_of("a"), *pieces, *tokens_of("b"))
    heat = Heat((-1.0, -0.25, -0.5, -0.25, None), ((), (("x", 1, -0.25),), (), (), (("y", None, -9.0),)))

    header, values = column(tokens_payload(tokens, heat))

    assert values[:2] == [-1.0, -1.0]
    assert math.isnan(values[2])
    assert header["heat"]["alternatives"] == [[1, [["x", 1, -0.25]]], [2, [["y", None, -9.0]]]]


def test_the_column_is_aligned_for_any_number_of_tokens():
    for count in range(1, 6):
        tokens = tokens_of(" a" * count)

        header, values = column(tokens_payload(tokens, Heat((-1.0,) * count, ((),) * count)))

        assert header["heat"]["offset"] % 4 == 0
        assert values == [-1.0] * count


def test_prompt_tokens_take_the_candidate_that_is_theirs():
    trace = dropped_call_trace()
    tokens = trace.prompt.tokens
    given = (
        (),
        *(
            (TokenLogprob("z", -5, -0.1), TokenLogprob(token.text, token.id, -0.5 * i))
            for i, token in enumerate(tokens[1:])
        ),
    )
    trace = replace(trace, chat=replace(trace.chat, prompt_logprobs=given))

    heat = prompt_heat(trace)

    assert heat.logprobs[:4] == (None, -0.0, -0.5, -1.0)
    assert [alternative[0] for alternative in heat.alternatives[2]] == ["z", tokens[2].text], "likeliest first"
    assert heat.alternatives[2][0] == ("z", -5, -0.1)


def test_prompt_values_of_other_tokens_are_not_shown():
    trace = dropped_call_trace()
    given = tuple((TokenLogprob("z", -5, -0.1),) for _ in trace.prompt.tokens)

    assert prompt_heat(replace(trace, chat=replace(trace.chat, prompt_logprobs=given))) is None
    assert prompt_heat(replace(trace, chat=replace(trace.chat, prompt_logprobs=given[1:]))) is None
    assert prompt_heat(trace) is None


def test_the_run_shows_them_and_a_run_without_any_has_no_heat():
    plain = RunView().finish(dropped_call_trace())["raw_tokens"]
    warm = RunView().finish(add_logprobs(tokens_of(RAW_TEXT)))["raw_tokens"]

    assert "heat" not in unpack_payload(plain)[0]
    assert "heat" in unpack_payload(warm)[0]


def test_a_token_that_could_not_be_is_a_number_to_json():
    tokens = tokens_of("a")

    header, values = column(tokens_payload(tokens, Heat((-math.inf,), ((("b", None, -math.inf),),))))

    assert header["heat"]["alternatives"] == [[0, [["b", None, -9999.0]]]]
    assert values == [-math.inf]
