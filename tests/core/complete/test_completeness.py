"""Is a raw text all that the model wrote? Judged with the lab model's own tokenizer, near misses first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.base.types import Completeness, Completion, Usage
from prompt_debugger.core.complete.completeness import Witness, decoded_from_ids, has_shape_of_call, judge_completeness
from prompt_debugger.core.render import load_tokenizer
from tests.conftest import ROOT

CALL = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|><|im_end|>'
)
STRIPPED_CALL = 'functions.get_weather:0{"city": "Paris"}'
PROSE = "It is sunny in Paris."


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    found = load_tokenizer(str(ROOT / "assets" / "lab-model"))
    assert found is not None
    return found


def witness(tokenizer: Tokenizer | None, **changes: object) -> Witness:
    base = Witness("openai-compatible", tokenizer, prompt_length=50, tool_names=("get_weather",))
    return replace(base, **changes)  # type: ignore[arg-type]  # names are the fields of Witness


def counted(text: str, tokens: int | None, *, finish_reason: str = "stop", prompt_tokens: int = 50) -> Completion:
    return Completion(text, None, finish_reason, usage=Usage(prompt_tokens, tokens))


def test_ids_decoded_are_whole() -> None:
    found = decoded_from_ids(Completion("x", (1,), "stop"))

    assert found.completeness is Completeness.WHOLE
    assert "ids" in found.completeness_reason


def test_a_call_whose_markers_were_taken_out_is_stripped(tokenizer: Tokenizer) -> None:
    found = judge_completeness(counted(STRIPPED_CALL, len(tokenizer.encode(CALL))), witness(tokenizer))

    assert found.completeness is Completeness.STRIPPED
    assert "were removed" in found.completeness_reason
    assert "`return_token_ids`" in found.completeness_reason


@pytest.mark.parametrize("more", [0, 1])
def test_prose_lacks_nothing_whether_the_end_token_is_counted_or_not(tokenizer: Tokenizer, more: int) -> None:
    found = judge_completeness(counted(PROSE, len(tokenizer.encode(PROSE)) + more), witness(tokenizer))

    assert found.completeness is Completeness.WHOLE
    assert ("the end token" if more else "counted as many") in found.completeness_reason


def test_fewer_tokens_counted_than_the_text_has_prove_nothing(tokenizer: Tokenizer) -> None:
    length = len(tokenizer.encode(PROSE))
    found = judge_completeness(counted(PROSE, length - 1), witness(tokenizer))

    assert found.completeness is Completeness.UNKNOWN
    assert f"{length} tokens, of which the server counted only {length - 1}" in found.completeness_reason


def test_one_token_more_without_an_end_is_not_the_end_token(tokenizer: Tokenizer) -> None:
    cut = counted(PROSE, len(tokenizer.encode(PROSE)) + 1, finish_reason="length")

    assert judge_completeness(cut, witness(tokenizer)).completeness is Completeness.UNKNOWN


def test_one_token_more_may_be_the_only_marker_of_what_reads_like_a_call(tokenizer: Tokenizer) -> None:
    text = '[{"name": "get_weather", "arguments": {"city": "Paris"}}]'
    found = judge_completeness(counted(text, len(tokenizer.encode(text)) + 1), witness(tokenizer))

    assert found.completeness is Completeness.UNKNOWN


def test_a_word_in_more_tokens_than_needed_is_no_proof(tokenizer: Tokenizer) -> None:
    found = judge_completeness(counted(PROSE, len(tokenizer.encode(PROSE)) + 2), witness(tokenizer))

    assert found.completeness is Completeness.UNKNOWN


def test_a_word_in_more_tokens_than_needed_next_to_control_tokens_is_no_loss_but_said(tokenizer: Tokenizer) -> None:
    tokens = len(tokenizer.encode(CALL))
    found = judge_completeness(counted(CALL, tokens + 1, finish_reason="length"), witness(tokenizer))

    assert found.completeness is Completeness.WHOLE
    assert found.completeness_reason == (
        f"The server counted {tokens + 1} tokens, and the text has {tokens}, control tokens among them: "
        "a word was written in more tokens than needed."
    )


@pytest.mark.parametrize(("finish_reason", "more"), [("length", 2), ("stop", 3)])  # one of three is the end token
def test_two_tokens_that_a_short_text_lacks_are_proof_and_one_is_not(
    tokenizer: Tokenizer, finish_reason: str, more: int
) -> None:
    length = len(tokenizer.encode(PROSE))
    enough, too_few = (
        judge_completeness(counted(PROSE, length + count, finish_reason=finish_reason), witness(tokenizer))
        for count in (more, more - 1)
    )

    assert (too_few.completeness, enough.completeness) == (Completeness.UNKNOWN, Completeness.STRIPPED)
    assert f"{length}: 2 that the model wrote are missing" in enough.completeness_reason


def test_a_few_odd_words_in_a_long_text_are_not_proof(tokenizer: Tokenizer) -> None:
    text = PROSE * 40
    length = len(tokenizer.encode(text))

    few = judge_completeness(counted(text, length + 1 + length // 60), witness(tokenizer))
    many = judge_completeness(counted(text, length + length // 5), witness(tokenizer))

    assert (few.completeness, many.completeness) == (Completeness.UNKNOWN, Completeness.STRIPPED)


@pytest.mark.parametrize(
    "completion",
    [
        Completion(PROSE, None, "stop", stop_reason="###", usage=Usage(50, 40)),
        Completion(PROSE + "\ufffd", None, "length", usage=Usage(50, 40)),
    ],
)
def test_a_stop_string_or_a_cut_character_explains_missing_tokens(tokenizer: Tokenizer, completion: Completion) -> None:
    assert judge_completeness(completion, witness(tokenizer)).completeness is Completeness.UNKNOWN


def test_stop_strings_of_the_request_explain_missing_tokens(tokenizer: Tokenizer) -> None:
    found = judge_completeness(counted(PROSE, 40), witness(tokenizer, has_stop_strings=True))

    assert found.completeness is Completeness.UNKNOWN


def test_a_byte_by_byte_character_is_counted_as_the_server_counts(tokenizer: Tokenizer) -> None:
    text = "Sunny ☀️ in Zürich 🌞"
    found = judge_completeness(counted(text, len(tokenizer.encode(text)) + 1), witness(tokenizer))

    assert found.completeness is Completeness.WHOLE


def test_another_models_tokenizer_counts_nothing(tokenizer: Tokenizer) -> None:
    calls = counted(STRIPPED_CALL, len(tokenizer.encode(CALL)), prompt_tokens=71)
    prose = counted(PROSE, len(tokenizer.encode(PROSE)), prompt_tokens=71)

    for completion in (calls, prose):
        found = judge_completeness(completion, witness(tokenizer))
        assert found.completeness is Completeness.UNKNOWN
        assert "71 prompt tokens" in found.completeness_reason


def test_a_server_that_tokenizes_differently_counts_nothing(tokenizer: Tokenizer) -> None:
    prose = counted(PROSE, len(tokenizer.encode(PROSE)) + 1)
    found = judge_completeness(prose, witness(tokenizer, tokenizes_alike=False))

    assert found.completeness is Completeness.UNKNOWN
    assert "tokenizes the prompt" in found.completeness_reason


def test_a_server_that_adds_bos_by_itself_still_counts_alike(tokenizer: Tokenizer) -> None:
    found = judge_completeness(counted(PROSE, len(tokenizer.encode(PROSE)), prompt_tokens=51), witness(tokenizer))

    assert found.completeness is Completeness.WHOLE


@pytest.mark.parametrize("usage", [None, Usage(50, 0), Usage(0, 0, 0), Usage()])
def test_without_a_count_text_is_unknown_unless_it_contains_control_tokens(
    tokenizer: Tokenizer, usage: Usage | None
) -> None:
    bare = judge_completeness(Completion(PROSE, None, "stop", usage=usage), witness(tokenizer))
    marked = judge_completeness(Completion(CALL, None, "stop", usage=usage), witness(tokenizer))

    assert (bare.completeness, marked.completeness) == (Completeness.UNKNOWN, Completeness.WHOLE)
    assert "(`usage`)" in bare.completeness_reason


def test_markers_spelled_in_ordinary_tokens_prove_nothing(tokenizer: Tokenizer) -> None:
    found = judge_completeness(counted(CALL, len(tokenizer.encode(CALL)) + 40), witness(tokenizer))

    assert found.completeness is Completeness.UNKNOWN


def test_fewer_tokens_than_the_text_has_prove_nothing(tokenizer: Tokenizer) -> None:
    found = judge_completeness(counted(PROSE, len(tokenizer.encode(PROSE)) - 2), witness(tokenizer))

    assert found.completeness is Completeness.UNKNOWN


def test_vllm_keeps_what_it_is_asked_to_keep() -> None:
    found = judge_completeness(counted(PROSE, 90), witness(None, server_kind="vllm"))

    assert found.completeness is Completeness.WHOLE


def test_llama_cpp_leaves_control_tokens_out_even_where_some_are_there(tokenizer: Tokenizer) -> None:
    unknown = judge_completeness(Completion(CALL, None, "stop"), witness(tokenizer, server_kind="llama.cpp"))
    prose = counted(PROSE, len(tokenizer.encode(PROSE)) + 1)

    assert unknown.completeness is Completeness.UNKNOWN
    assert "llama.cpp" in unknown.completeness_reason
    assert judge_completeness(prose, witness(tokenizer, server_kind="llama.cpp")).completeness is Completeness.WHOLE


def test_without_a_tokenizer_the_reason_asks_for_one() -> None:
    found = judge_completeness(counted(PROSE, 9), witness(None))

    assert found.completeness is Completeness.UNKNOWN
    assert "`--tokenizer`" in found.completeness_reason
    assert found.completeness_reason.startswith("The server gives text only")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (STRIPPED_CALL, True),
        ('get_weather\n{"city": "Paris"}', True),
        ('get_weather{"city": "Paris"}', True),
        ('{"name": "x", "parameters": {}}', True),
        ("Call get_weather with {city}.", False),
        ("forget_weather {", False),
        ("", False),
    ],
)
def test_what_is_left_of_a_call_is_recognised(text: str, expected: bool) -> None:
    assert has_shape_of_call(text, ("get_weather", "")) is expected


def test_the_reason_names_the_server_that_keeps_control_tokens() -> None:
    found = judge_completeness(counted(STRIPPED_CALL, None), witness(None, server_kind="vllm"))

    assert found.completeness is Completeness.WHOLE
    assert found.completeness_reason.startswith("The server is vLLM, was asked to keep control tokens")


def test_the_reason_quotes_a_control_token_that_is_still_there(tokenizer: Tokenizer) -> None:
    found = judge_completeness(counted(CALL, None), witness(tokenizer))

    assert found.completeness is Completeness.WHOLE
    assert found.completeness_reason == "The text still contains control tokens, such as `<|im_end|>`."


def test_an_empty_text_of_which_nothing_was_counted_is_whole(tokenizer: Tokenizer) -> None:
    found = judge_completeness(counted("", 0), witness(tokenizer))

    assert (found.completeness, found.completeness_reason) == (
        Completeness.WHOLE,
        "The text has 0 tokens, and the server counted as many.",
    )


def test_one_token_more_than_what_reads_like_a_call_is_a_token_too_many(tokenizer: Tokenizer) -> None:
    text = '[{"name": "get_weather", "arguments": {"city": "Paris"}}]'
    length = len(tokenizer.encode(text))

    found = judge_completeness(counted(text, length + 1), witness(tokenizer))

    assert found.completeness_reason.startswith(f"The server counted {length + 1} tokens, and the text has {length}:")


@pytest.mark.parametrize("changes", [{"prompt_length": None}, {}])
def test_a_prompt_that_only_one_side_counted_shows_no_other_counting(
    tokenizer: Tokenizer, changes: dict[str, None]
) -> None:
    prompt_tokens = 900 if changes else 0
    exact = counted(PROSE, len(tokenizer.encode(PROSE)), prompt_tokens=prompt_tokens)

    assert judge_completeness(exact, witness(tokenizer, **changes)).completeness is Completeness.WHOLE
