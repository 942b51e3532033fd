# ruff: noqa: ANN401 - the objects of vLLM are untyped
"""By which token an output ends, where a release of vLLM does not tell its parsers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from prompt_debugger.core.formats import FORMATS, TABLES


def end_texts(name: str) -> frozenset[str]:
    """Return the texts with which a family, or any (`auto`), ends a turn; not those after which a turn may continue."""
    family = FORMATS.get(name)
    if family is not None:
        return frozenset(family.conventions.ends) - frozenset(family.facts.message_ends)
    return frozenset(TABLES.end_texts) - {text for one in FORMATS.values() for text in one.facts.message_ends}


def end_ids(tokenizer: Any, texts: Iterable[str]) -> frozenset[int]:
    """Return the ids that end an output: the tokenizer's own, and those of some texts where they are tokens of it.

    A model's generation config often names another token than its tokenizer does, and a parser does not see that.
    """
    own = getattr(tokenizer, "eos_token_id", None)
    found = {own} if isinstance(own, int) else set()
    try:
        vocabulary = tokenizer.get_vocab()
    except Exception:  # noqa: BLE001 - tokenizers of all makes
        return frozenset(found)
    return frozenset(found | {vocabulary[text] for text in texts if text in vocabulary})


def ends_here(ends: frozenset[int], request: Any, all_ids: Sequence[int], new_ids: Sequence[int]) -> bool:
    """Return whether a delta is the last, as far as its tokens tell."""
    stops = {*ends, *(getattr(request, "stop_token_ids", None) or ())}
    most = getattr(request, "max_completion_tokens", None) or getattr(request, "max_tokens", None)
    return any(one in stops for one in new_ids) or (most is not None and len(all_ids) >= most)
