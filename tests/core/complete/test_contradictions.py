"""What contradicts itself is no evidence, and what only looks odd still is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import ChatResult, Completeness, JSONObject, TokenLogprob, Usage
from prompt_debugger.core.complete.answers import read_chat
from prompt_debugger.core.complete.contradictions import (
    contradiction_in_ids,
    contradiction_in_list,
    contradiction_in_text,
    is_foreign,
    is_reversed,
)
from prompt_debugger.core.complete.logprob_text import completion_of_logprobs, ids_of_logprobs, text_of_tokens
from prompt_debugger.core.complete.own_run import AnswerContext, OwnRun, read_own_run
from prompt_debugger.core.render.tokenizers import load_tokenizer
from tests.conftest import ROOT

ZERO: JSONObject = {"temperature": 0}
CALL: JSONObject = {"type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
MESSAGE: JSONObject = {"role": "assistant", "content": None, "tool_calls": [CALL]}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]


def token(text: str, logprob: float, *rivals: tuple[str, float], token_id: int | None = None) -> TokenLogprob:
    top = tuple(sorted(((text, logprob), *rivals), key=lambda pair: -pair[1]))
    return TokenLogprob(text, token_id, logprob, top)


def chat(*tokens: TokenLogprob, message: JSONObject = MESSAGE) -> ChatResult:
    return ChatResult(message, "tool_calls", usage=Usage(9, len(tokens)), logprobs=tokens)


# As mlx-lm 0.32.2 listed them with `top_logprobs: 3` for a healthy call.
ANY_OF_TOP = chat(
    token("I", -3.25, ("<|tool_calls_section_begin|>", -0.0625), ("L", -8.6875)),
    token("co", -11.5, ("<|tool_call_begin|>", 0.0)),
    token("get", -12.3125, ("functions", 0.0)),
    token("in", -13.25, (".", 0.0)),
)


def test_a_token_far_below_its_rival_at_temperature_0_was_not_taken() -> None:
    found = contradiction_in_list(ANY_OF_TOP, ZERO, None)

    assert found is not None
    assert "token 3, 'in', has -13.25 where '.' has 0.00" in found


@pytest.mark.parametrize(
    "fields",
    [
        {"temperature": 0.7},
        {},
        {"temperature": 0, "repetition_penalty": 1.1},
        {"temperature": 0, "logit_bias": {"5": 10}},
        {"temperature": 0, "response_format": {"type": "json_object"}},
        {"temperature": 0, "tools": TOOLS, "tool_choice": "required"},
    ],
)
def test_where_another_token_may_be_taken_than_the_likeliest_nothing_is_concluded(fields: JSONObject) -> None:
    short = replace(ANY_OF_TOP, message={"content": "No."})  # too short to say that the list is another's

    assert contradiction_in_list(short, {**fields}, None) is None


def test_a_tie_is_not_a_contradiction() -> None:
    tied = chat(token("Sure", -0.70, ("Yes", -0.69)), message={"content": "Of course."})

    assert contradiction_in_list(tied, ZERO, None) is None


def test_a_list_that_contains_all_of_the_message_is_believed() -> None:
    """A server may apply a penalty of its own by default; the list then shows what was sampled all the same."""
    prose = chat(token("Hello", -2.0, ("Hi", -0.1)), token(" there.", -0.1), message={"content": "Hello there."})

    assert contradiction_in_list(prose, ZERO, None) is None


def test_a_list_that_says_what_the_ids_say_is_believed() -> None:
    assert contradiction_in_list(ANY_OF_TOP, ZERO, "I co get in") is None
    assert contradiction_in_list(ANY_OF_TOP, ZERO, "<|tool_calls_section_begin|>") is not None


def test_a_list_without_the_message_in_it_is_another_one_s_at_any_temperature() -> None:
    found = contradiction_in_list(ANY_OF_TOP, {"temperature": 1}, None)

    assert found is not None
    assert "do not make up the message" in found


def test_more_ids_than_were_counted() -> None:
    of_two = ChatResult({"content": "hi"}, "stop", token_ids=(1, 2, 3, 4), usage=Usage(3, 2))

    assert "4 ids and counted 2 tokens" in (contradiction_in_ids(of_two) or "")
    assert contradiction_in_ids(of_two, choices=2) is None
    assert contradiction_in_ids(replace(of_two, token_ids=(1, 2, 3))) is None  # an end token may go uncounted
    assert contradiction_in_ids(replace(of_two, usage=None)) is None
    assert contradiction_in_ids(replace(of_two, usage=Usage(3, 0))) is None  # a proxy that was told nothing
    assert contradiction_in_ids(replace(of_two, token_ids=None)) is None


ANSWER = "The weather in Paris is warm today."
FOREIGN = {
    "another text": ("zq xv 17 // lorem ipsum dolor", {"content": ANSWER}, True),
    "the same text": (ANSWER + "<|im_end|>", {"content": ANSWER}, False),
    "a part that a parser took away": (f"<think>hm</think>{ANSWER} <tool_call>", {"content": ANSWER[12:]}, False),
    "too short to say": ("zq xv", {"content": "Paris."}, False),
    "nothing in the message": ("zq xv 17 lorem ipsum", {"content": None}, False),
    "a call": ('<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}', MESSAGE, False),
    "a call out of nowhere": ("I would rather not say anything about it.", MESSAGE, True),
    "escaped in the output": (
        '{"city": "\\u5317\\u4eac\\u5e02\\u671d\\u9633\\u533a\\u5efa\\u56fd\\u8def\\u516b\\u5341\\u516b\\u53f7"}',
        {"content": "北京市朝阳区建国路八十八号"},
        False,
    ),
    "other whitespace": ("The  weather\nin Paris is\twarm  today.", {"content": ANSWER}, False),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_text_is_foreign_where_most_of_the_message_is_missing_in_it(name: str) -> None:
    text, message, expected = FOREIGN[name]
    assert isinstance(message, dict)

    assert is_foreign(text, message) is expected
    assert (contradiction_in_text(text, message) is not None) is expected


def test_an_entry_of_a_vocabulary_is_read_as_the_text_it_is_for() -> None:
    byte_level = [token(text, 0.0) for text in ('{"', "city", '":Ġ"', "Ã©", '"}', "<|im_end|>")]
    pieces = [token(text, 0.0) for text in ("▁Hello", "▁there", "<0x0A>", "<0xC3>", "<0xA9>")]
    prose = [token(text, 0.0) for text in ("Ġgantija", " is old")]

    assert text_of_tokens(byte_level) == '{"city": "é"}<|im_end|>'
    assert text_of_tokens(pieces) == " Hello there\né"
    assert text_of_tokens(prose) == "Ġgantija is old"  # Maltese: a space among them is a space


IDS_ALONE = {
    "choices": [
        {
            "index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"},
            "logprobs": {"content": [{"id": 8, "logprob": -0.06}, {"id": 10, "logprob": 0.0}]},
        }
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2},
}  # fmt: skip


def test_ids_without_texts_are_ids() -> None:
    """mlx-lm lists them so where no alternatives are asked for."""
    found = read_chat(IDS_ALONE, "", 0.0)  # type: ignore[arg-type]  # it is JSON

    assert ids_of_logprobs(found) == (8, 10)
    assert completion_of_logprobs(found, "stop", None) is None  # there is no text


TOKENIZER = load_tokenizer(ROOT / "assets" / "lab-model")


async def own_run(found: ChatResult, body: JSONObject = ZERO, *, is_known: bool = False) -> OwnRun:
    async def decode(ids: tuple[int, ...] | None) -> str | None:
        return None if ids is None else TOKENIZER.decode(ids)

    return await read_own_run(found, AnswerContext(body, decode, is_decoder_known=is_known, tokenizer=TOKENIZER))


def listed(text: str, *, message: JSONObject, texts: bool = True, ids: tuple[int, ...] | None = None) -> ChatResult:
    """An answer that lists the tokens of a text, with ids of its own or those of the text."""
    right = TOKENIZER.encode(text)
    pairs = zip(right, ids or right, strict=False)
    tokens = [TokenLogprob(TOKENIZER.decode((one,)) if texts else "", other, 0.0) for one, other in pairs]
    return replace(chat(*tokens, message=message), finish_reason="stop")


async def test_the_ids_of_listed_tokens_are_the_run() -> None:
    found = await own_run(listed(ANSWER, message={"content": ANSWER}, texts=False))

    assert found.completion is not None
    assert (found.completion.text, found.completion.completeness) == (ANSWER, Completeness.WHOLE)
    assert found.doubts == ()


async def test_ids_of_another_vocabulary_are_not_the_run() -> None:
    ids = tuple(range(300, 300 + len(TOKENIZER.encode(ANSWER))))
    found = await own_run(listed(ANSWER, message={"content": None}, ids=ids))

    assert found.completion is None
    assert found.doubts == (
        "The ids of the listed tokens decode to different text than the list gives, so the list is not used.",
    )
    assert found.answer.logprobs is None


async def test_ids_that_decode_to_another_text_are_not_the_run_unless_the_tokenizer_is_known() -> None:
    answer = ChatResult({"content": ANSWER}, "stop", token_ids=tuple(range(300, 320)), usage=Usage(3, 20))

    doubted, known = await own_run(answer), await own_run(answer, is_known=True)

    assert (doubted.completion, len(doubted.doubts)) == (None, 1)
    assert "Wrong tokenizer?" in doubted.doubts[0]
    assert known.completion is not None  # then it is the server that gave another message
    assert known.doubts == ()


async def test_ids_of_a_run_outlive_a_list_that_contradicts_itself() -> None:
    ids = TOKENIZER.encode("<|tool_calls_section_begin|>")
    answer = replace(ANY_OF_TOP, token_ids=ids, usage=Usage(9, len(ids)), finish_reason="length")
    found = await own_run(answer, is_known=True)

    assert found.completion is not None
    assert (found.completion.token_ids, found.completion.logprobs) == (ids, None)
    assert (found.answer.logprobs, len(found.doubts)) == (None, 1)


SAID = "It is warm in Paris today and the sun is out, so take a hat and water with you."


@pytest.mark.parametrize("is_known", [True, False])
async def test_ids_in_the_reverse_order_are_not_the_run(is_known: bool) -> None:
    ids = TOKENIZER.encode(SAID)
    answer = ChatResult({"content": SAID}, "stop", token_ids=ids[::-1], usage=Usage(3, len(ids)))
    right = replace(answer, token_ids=ids)

    reversed_run, run = await own_run(answer, is_known=is_known), await own_run(right, is_known=is_known)

    assert (reversed_run.completion, reversed_run.answer.token_ids) == (None, None)
    assert reversed_run.doubts == (
        "The ids of the run spell the message from its end to its beginning, so they are not used.",
    )
    assert (run.completion is not None, run.doubts) == (True, ())


async def test_listed_tokens_in_the_reverse_order_are_not_used() -> None:
    found = listed(SAID, message={"content": SAID})
    turned = replace(found, logprobs=(found.logprobs or ())[::-1])

    assert "The listed tokens spell the message" in (contradiction_in_list(turned, {}, None) or "")
    assert contradiction_in_list(found, {}, None) is None


def test_words_that_a_message_has_in_another_order_are_no_contradiction() -> None:
    text = "and the sun is out today in Paris, so take a hat and water with you. It is warm"

    assert not is_reversed(text, {"content": SAID})
    assert not is_reversed("out is sun", {"content": "sun is out"})  # too few to say


WORDS = (token("I", -0.1), token(" look", -0.1), token(".", -0.1))
THOUGHT: JSONObject = {"content": "I look.", "reasoning_content": "They ask for the weather."}


@pytest.mark.parametrize("message", [{**MESSAGE, "content": "I look."}, THOUGHT])
def test_a_list_of_the_content_alone_is_not_the_output(message: JSONObject) -> None:
    """OpenAI lists the tokens of the content: a call beside it is not one that the model did not write."""
    found = contradiction_in_list(chat(*WORDS, message=message), {}, None)

    assert found is not None
    assert "may be of the content alone" in found


@pytest.mark.parametrize("message", [{"content": "I look."}, {"content": "I look.", "reasoning": ""}])
def test_a_list_of_all_that_a_message_has_is_the_output(message: JSONObject) -> None:
    assert contradiction_in_list(chat(*WORDS, message=message), {}, None) is None


def test_a_list_with_ids_or_with_more_than_the_content_is_of_the_whole_output() -> None:
    """llama.cpp gives an id with each token, and vLLM lists end tokens and markers, too."""
    message: JSONObject = {**MESSAGE, "content": "I look at the weather."}
    texts = ("I look", " at the", " weather", ".")
    with_ids = [token(text, -0.1, token_id=at) for at, text in enumerate(texts)]
    with_end = [*(token(text, -0.1) for text in texts), token("<|im_end|>", -0.1)]

    for listed in (with_ids, with_end):
        found = contradiction_in_list(chat(*listed, message=message), {}, None)
        assert found is None or "content alone" not in found
