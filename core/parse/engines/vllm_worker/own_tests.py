# ruff: noqa: ANN401 - the objects of vLLM and transformers are untyped
"""vLLM's own tests of its parsers without the models' vocabularies, which are on the hub.

They get a vocabulary of single bytes in which the markers that the test file writes are one token each. A test that
counts on the ids or the words of the real one fails with it, with a change of the parser as without.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

from prompt_debugger.core.parse.engines.vllm_worker.vocabulary import END_TEXTS, plain_byte_tokenizer

_MARKER = re.compile(
    r"<[|｜][^<>\s'\"]{1,60}>|<[^<>\s'\"]{1,60}[|｜]>|</?[a-z_]{2,30}(?::[\w.-]{1,40})?>|\[/?[A-Z_]{3,40}\]"
)


def prepare_own_tests(file: str) -> None:
    """Let tests that load a tokenizer from the hub get one of bytes with the markers in the file."""
    import transformers
    import vllm.tokenizers

    given = functools.partial(_tokenizer_for, Path(file).read_text(encoding="utf-8"))
    vllm.tokenizers.get_tokenizer = given
    transformers.AutoTokenizer.from_pretrained = given


def _tokenizer_for(source: str, *_: object, **__: object) -> Any:
    from tokenizers import AddedToken

    tokenizer = plain_byte_tokenizer()
    markers = dict.fromkeys((*_MARKER.findall(source), *END_TEXTS))
    tokenizer.add_tokens([AddedToken(marker, special=True, normalized=False) for marker in markers])
    return tokenizer
