# ruff: noqa: ANN401 - the objects of vLLM and transformers are untyped
"""Tokenizers for the parsers: the model's own, or a stand-in that knows every marker.

Many parsers refuse a tokenizer that lacks their markers. The stand-in invents
an id for whatever a parser asks for, so that any parser can be tried on any
text. It is not faithful where ids matter: whether a marker of the text would
have been one token is then a guess (yes), and so is what streaming does.
"""

from __future__ import annotations

import functools
import importlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_MARKER = re.compile(r"[<\[｜|].{2,}|.{2,}[>\]｜|]", re.DOTALL)
# Tokens that came with a later tokenizer of the same family, and texts that show the earlier one.
_LATER_TOKENS = (("[ARGS]", re.compile(r"\[TOOL_CALLS\]\s*[\[{]")),)
# Tags that some checkpoints spell with a suffix which their tokenizer's configuration has under `token_suffix`.
_SUFFIXED = re.compile(r"</?(?:think|tool_calls?|tool_sep|arg_key|arg_value)(?P<suffix>:[\w.\-]{1,40})>")
# The tokens of tags that are not one token each: LMDeploy's parsers wait for these pieces (DeepSeek V3.2 and V4).
_INNER, _INNER_TOKENS = "｜DSML｜", frozenset({"｜DSML｜", "</"})
_WORDS = re.compile(r"\w+|[^\S\n]+|\n+|.", re.DOTALL)

# Tokens that end a turn, for texts that come without a tokenizer.
END_TEXTS = (
    "<|im_end|>", "<|endoftext|>", "</s>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|return|>", "<|call|>",
    "<｜end▁of▁sentence｜>", "<end_of_turn>", "<turn|>", "<|end_of_role|>", "[EOS]", "[e~[", "<|end|>", "<|eom|>",
    "<|END_OF_TURN_TOKEN|>", "<eos>", "<|hy_eos|>", "<seed:eos>", "<|role_end|>",
)  # fmt: skip


@functools.lru_cache(maxsize=4)
def load_tokenizer(folder: str) -> Any:
    """Return vLLM's tokenizer of a folder or hub id, from local files."""
    return _release().get_tokenizer(folder)


@functools.lru_cache(maxsize=4)
def end_ids_of_folder(folder: str) -> frozenset[int]:
    """Return the ids that end generation by the model's generation config."""
    try:
        config = json.loads((Path(folder) / "generation_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return frozenset()
    ids = config.get("eos_token_id") if isinstance(config, dict) else None
    return frozenset(ids if isinstance(ids, list) else [] if ids is None else [ids])


@functools.lru_cache(maxsize=1)
def byte_tokenizer() -> Any:
    """Return a tokenizer of single bytes, as vLLM wraps it, which takes its place where no tokenizer is known."""
    return _release().cached_tokenizer(plain_byte_tokenizer())


def plain_byte_tokenizer() -> Any:
    """Return a tokenizer of single bytes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    core = Tokenizer(models.BPE(vocab={char: index for index, char in enumerate(alphabet)}, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    core.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=core)


def _release() -> Any:
    """Return the module that knows the release; it imports vLLM, which other engines' helpers do without."""
    return importlib.import_module("prompt_debugger.core.parse.engines.vllm_worker.release")


def absent_tokens(raw: str) -> frozenset[str]:
    """Return the tokens that the tokenizer of a raw output's model cannot have had, judging by its notation."""
    return frozenset(token for token, earlier in _LATER_TOKENS if token not in raw and earlier.search(raw))


def suffixed_tags(raw: str) -> list[str]:
    """Return the tags of a raw output that bear a checkpoint's suffix: each is one token of its vocabulary."""
    return sorted({found[0] for found in _SUFFIXED.finditer(raw)})


def token_suffix(texts: Iterable[str]) -> str:
    """Return the suffix that a checkpoint's tags bear in some texts, such as `:opensource`; "" if they bear none."""
    found = next(filter(None, map(_SUFFIXED.search, texts)), None)
    return "" if found is None else found["suffix"]


class InventedVocabulary(dict[str, int]):
    """Ids by text; a text that is not there gets an id as soon as it is asked for, unless it is known to be absent."""

    def __init__(self, known: dict[str, int], absent: frozenset[str] = frozenset()) -> None:
        super().__init__(known)
        self.invented: dict[str, int] = {}
        self._absent = absent
        self._next = max(known.values(), default=-1) + 1

    def id_of(self, text: str) -> int:
        """Return the id of a text, a new one if need be."""
        if not dict.__contains__(self, text):
            dict.__setitem__(self, text, self._next)
            self.invented[text] = self._next
            self._next += 1
        return dict.__getitem__(self, text)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the id of a text."""
        return default if self._lacks(key) else self.id_of(key)

    def __getitem__(self, key: str) -> int:
        if self._lacks(key):
            raise KeyError(key)
        return self.id_of(key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and not self._lacks(key) and self.id_of(key) >= 0

    def _lacks(self, text: str) -> bool:
        return text in self._absent or (_INNER in text and text not in _INNER_TOKENS)


class StandIn:
    """A tokenizer that knows every marker but those said to be absent; all else it leaves to the one it wraps."""

    def __init__(self, tokenizer: Any, absent: frozenset[str] = frozenset(), markers: Iterable[str] = ()) -> None:
        self._tokenizer = tokenizer
        self._vocabulary = InventedVocabulary(tokenizer.get_vocab(), absent)
        known = list(markers)
        for marker in known:
            self._vocabulary.get(marker)
        self.init_kwargs = {**(getattr(tokenizer, "init_kwargs", None) or {}), "token_suffix": token_suffix(known)}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    def __len__(self) -> int:
        return len(self._vocabulary)

    def get_vocab(self) -> InventedVocabulary:
        """Return the vocabulary that never lacks anything."""
        return self._vocabulary

    @property
    def vocab(self) -> InventedVocabulary:
        """The same."""
        return self._vocabulary

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """Return the id of a token, or the ids of several."""
        return self._vocabulary.id_of(tokens) if isinstance(tokens, str) else list(map(self._vocabulary.id_of, tokens))

    def encode(self, text: str, **_: Any) -> list[int]:
        """Return the ids of a text, its markers whole."""
        return [token_id for token_id, _ in self.pieces(text)]

    def decode(self, token_ids: Any, **_: Any) -> str:
        """Return the text of ids."""
        ids = [token_ids] if isinstance(token_ids, int) else token_ids
        texts = {token_id: text for text, token_id in self._vocabulary.invented.items()}
        return "".join(texts[one] if one in texts else self._tokenizer.decode([one]) for one in ids)

    def pieces(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield ids and texts: markers whole, the rest in words."""
        markers = self.markers | set(END_TEXTS)
        if _INNER in text:
            markers = frozenset(one for one in markers if _INNER not in one) | _INNER_TOKENS
        for part in _split_at(text, markers):
            for word in [part] if part in markers else _WORDS.findall(part):
                yield self._vocabulary.id_of(word), word

    @property
    def markers(self) -> frozenset[str]:
        """Special tokens, and what a parser asked for that looks like one."""
        asked = (text for text in self._vocabulary.invented if _MARKER.fullmatch(text))
        return frozenset(asked) | frozenset(self._tokenizer.all_special_tokens)


def _split_at(text: str, markers: Iterable[str]) -> list[str]:
    pattern = "|".join(re.escape(marker) for marker in sorted(markers, key=len, reverse=True))
    return [part for part in re.split(f"({pattern})", text) if part] if pattern else [text]
