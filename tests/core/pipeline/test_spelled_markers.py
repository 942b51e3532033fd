"""Where the ids of an output are known, a control token is an id and not the text that looks like one."""

from __future__ import annotations

from pathlib import Path

import pytest

from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.base.types import ChatResult, Completion, JSONObject, Parse, Request, Trace
from prompt_debugger.core.pipeline import CaseParser
from prompt_debugger.core.pipeline.census import take_census
from prompt_debugger.core.render.tokenizers import load_tokenizer

SECTION, BEGIN = "<|tool_calls_section_begin|>", "<|tool_call_begin|>"
ARGUMENTS, END, SECTION_END = "<|tool_call_argument_begin|>", "<|tool_call_end|>", "<|tool_calls_section_end|>"
CALL = f'{SECTION}{BEGIN}functions.f:0{ARGUMENTS}{{"a": "x"}}{END}{SECTION_END}'
PROSE = f"So Kimi calls a tool:\n{CALL}\nThat is all."


@pytest.fixture(scope="module")
def lab(lab_model_dir: Path) -> Tokenizer:
    return load_tokenizer(lab_model_dir)


def spelled(lab: Tokenizer, text: str) -> list[int]:
    """Return ids of a text in which no special token is recognised: each character by itself."""
    return [token_id for char in text for token_id in lab.encode(char)]


def census(lab: Tokenizer, ids: list[int]) -> Parse:
    text, tokens = lab.tokens_of_ids(ids)
    raw = Completion(text, tuple(ids), "stop", tokens=tokens)
    chat = ChatResult(message={"content": text}, finish_reason="stop")
    trace = Trace(Request(body={}, text=""), raw=raw, chat=chat)
    return take_census(trace, special_texts=frozenset(lab.vocabulary.special.values()))


def test_markup_spelled_in_ordinary_tokens_is_prose(lab: Tokenizer) -> None:
    ids = spelled(lab, PROSE)
    assert not set(ids) & set(lab.vocabulary.special)

    parse = census(lab, ids)

    assert parse.raw == PROSE
    assert (parse.parsed.content, parse.parsed.calls) == (PROSE, ())
    assert "".join(PROSE[slice(*one.char_span)] for one in parse.ledger.entries) == PROSE


def test_the_same_text_by_its_control_tokens_is_a_call(lab: Tokenizer) -> None:
    parse = census(lab, list(lab.encode(PROSE)))

    assert [(call.name, call.arguments_json) for call in parse.parsed.calls] == [("f", {"a": "x"})]


def test_spelled_markup_in_the_argument_of_a_real_call_is_read_as_it_stands(lab: Tokenizer) -> None:
    before, behind = f'{SECTION}{BEGIN}functions.f:0{ARGUMENTS}{{"a": "', f'"}}{END}{SECTION_END}'
    ids = [*lab.encode(before), *spelled(lab, f"x {END} y"), *lab.encode(behind)]

    parse = census(lab, ids)

    assert [call.arguments_json for call in parse.parsed.calls] == [{"a": f"x {END} y"}]
    assert parse.parsed.calls[0].arguments == f'{{"a": "x {END} y"}}'


def test_a_case_with_ids_and_a_tokenizer_is_read_by_them(lab: Tokenizer, lab_model_dir: Path) -> None:
    case: JSONObject = {"raw": PROSE, "tokenizer": str(lab_model_dir)}

    by_text = CaseParser().parse(case)
    by_ids = CaseParser().parse({**case, "token_ids": [*spelled(lab, PROSE)]})

    assert (len(by_text.parse.parsed.calls), len(by_ids.parse.parsed.calls)) == (1, 0)
