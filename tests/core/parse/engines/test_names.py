"""Names of parsers, read and written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.parse.engines import ParserPair, read_parser_name, write_parser_name

WORDS = st.from_regex(r"[a-z][a-z0-9_-]{0,12}", fullmatch=True)
VERSIONS = st.from_regex(r"[0-9]{1,2}\.[0-9]{1,3}\.[0-9]{1,2}(rc1|\.post2)?", fullmatch=True)


@given(st.none() | WORDS, st.none() | WORDS, st.none() | VERSIONS)
def test_a_name_reads_as_what_it_was_written_from(tool: str | None, reasoning: str | None, version: str | None) -> None:
    if (tool, reasoning) == (None, None):
        return

    name = write_parser_name(tool, reasoning, version)

    assert ParserPair(tool, reasoning, version) == read_parser_name(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("kimi_k2", "is not the name of a vLLM parser"),
        ("vllm@0.11.0", "is not the name of a vLLM parser"),
        ("vllm@0.11.0:", "is not the name of a vLLM parser"),
        ("vllm@:kimi_k2", "is not a vLLM version"),
        ("vllm@latest:kimi_k2", "is not a vLLM version"),
        ("vllm@../../etc:kimi_k2", "is not a vLLM version"),
        ("vllm@1.0/..:kimi_k2", "is not a vLLM version"),
    ],
)
def test_what_is_not_a_name_is_refused(name: str, words: str) -> None:
    with pytest.raises(EngineError, match=words):
        read_parser_name(name)
