"""A vocabulary from `tiktoken.model`, without running the code that ships next to it.

    tiktoken.model          one line per token: base64 of its bytes, a space, its rank
    tokenizer_config.json   special tokens by id
    tokenization_*.py       read as text, for the pattern that splits text into words

The merges of byte-pair encoding follow from the ranks: two neighbours merge if their
bytes together are a token, the lowest rank first.
"""

from __future__ import annotations

import ast
import base64
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import Entry, TokenKind
from prompt_debugger.core.render.tokenizers.fast import FastTokenizer
from prompt_debugger.core.render.tokenizers.pieces import PieceStyle, entry_of_bytes
from prompt_debugger.core.render.tokenizers.settings import TokenizerSettings
from prompt_debugger.core.render.tokenizers.untrusted import is_costly, read_text_of

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Library

_RESERVED = 256  # ids after the vocabulary that such models keep for special tokens
_MAX_RESERVED = 100_000  # ids between the vocabulary and the last one that the configuration names
_MAX_TOKEN_BYTES = 4_096  # the longest that is known, a line of spaces, has some hundred
_MAX_CODE_BYTES = 4 << 20
_PATTERN_NAMES = ("pat_str", "PAT_STR")


def load_tiktoken(path: Path, name: str, settings: TokenizerSettings) -> FastTokenizer:
    """Load a `tiktoken.model`.

    Raises:
        RenderError: The file is broken or made to take for ever, or the pattern cannot be found.
    """
    ranks = _read_ranks(path)
    pattern = find_pattern(path.parent)
    if pattern is None:
        raise RenderError(
            f"The pre-tokenization pattern of `{path.name}` is unknown.",
            "Put the model's `tokenization_*.py` next to it (it is read, not run), or use the ids of the server.",
        )
    special = _special_tokens(len(ranks), settings)
    entries = {token_id: Entry(text.encode(), TokenKind.SPECIAL) for token_id, text in special.items()}
    for token_id, added in settings.added.items():
        if not added.is_special and token_id in entries:
            entries[token_id] = Entry(added.content.encode(), TokenKind.ADDED)
    backend = build_byte_pairs(ranks, pattern, special)
    costly = is_costly({"pre_tokenizer": {"pattern": {"Regex": pattern}}}, "pre_tokenizer")
    return FastTokenizer(backend, name, settings, PieceStyle.BYTE_LEVEL, entries, is_costly=costly)


def build_byte_pairs(ranks: Mapping[bytes, int], pattern: str, special: Mapping[int, str]) -> Library:
    """Return a byte-pair tokenizer.

    Args:
        ranks: Rank of every token's bytes, from 0 without gaps; the rank is the id.
        pattern: What splits text into words, in the dialect of Oniguruma.
        special: Text by id of the tokens after the vocabulary, without gaps.
    """
    from tokenizers import AddedToken, Regex, decoders, models, pre_tokenizers
    from tokenizers import Tokenizer as Library

    vocabulary = {entry_of_bytes(token): rank for token, rank in ranks.items()}
    made = Library(models.BPE(vocabulary, list(_merges(ranks)), ignore_merges=True))
    words = pre_tokenizers.Split(Regex(pattern), "isolated")
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [words, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(text, normalized=False, special=True) for _, text in sorted(special.items())])
    return made


def find_pattern(folder: Path) -> str | None:
    """Return the pattern that the model's own code names, read without running it."""
    for path in sorted(folder.glob("tokenization*.py")):
        try:
            tree = ast.parse(read_text_of(path, _MAX_CODE_BYTES))
        except (SyntaxError, ValueError, RecursionError, MemoryError, RenderError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and any(_target(target) in _PATTERN_NAMES for target in node.targets):
                pattern = _joined_text(node.value)
                if pattern is not None:
                    return pattern
    return None


def _target(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _joined_text(node: ast.expr) -> str | None:
    """Return the text of a literal, or of `"separator".join([literals])`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join"):
        return None
    separator = _joined_text(node.func.value)
    parts = node.args[0] if node.args else None
    if separator is None or not isinstance(parts, (ast.List, ast.Tuple)):
        return None
    texts = [_joined_text(part) for part in parts.elts]
    return None if None in texts else separator.join(text for text in texts if text is not None)


def _read_ranks(path: Path) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    try:
        for line in read_text_of(path).splitlines():
            if line:
                token, rank = line.split()
                ranks[base64.b64decode(token)] = int(rank)
    except ValueError as error:
        raise RenderError(
            f"`{path.name}` is not a list of tokens and ranks: {error}", "Download the file again."
        ) from error
    if sorted(ranks.values()) != list(range(len(ranks))) or not ranks:
        raise RenderError(f"`{path.name}` has gaps in its ranks.", "Download the file again.")
    if max(map(len, ranks)) > _MAX_TOKEN_BYTES:
        message = f"`{path.name}` has a token of more than {_MAX_TOKEN_BYTES:,} bytes."
        raise RenderError(message, "Check that it is a file of the model.")
    return ranks


def _special_tokens(first_id: int, settings: TokenizerSettings) -> dict[int, str]:
    """Return every id after the vocabulary with its text; ids without a name are reserved ones."""
    last_id = max([first_id + _RESERVED - 1, *settings.added])
    if last_id - first_id > _MAX_RESERVED:
        raise RenderError(
            f"`tokenizer_config.json` names the id {last_id:,}, far beyond a vocabulary of {first_id:,} tokens.",
            "Check that both files are of one model.",
        )
    named = {token_id: entry.content for token_id, entry in settings.added.items()}
    return {
        token_id: named.get(token_id, f"<|reserved_token_{token_id}|>") for token_id in range(first_id, last_id + 1)
    }


def _merges(ranks: Mapping[bytes, int]) -> Iterator[tuple[str, str]]:
    """Yield every pair whose bytes together are a token, the lowest rank first."""
    for token, _ in sorted(ranks.items(), key=lambda item: item[1]):
        splits = [(token[:index], token[index:]) for index in range(1, len(token))]
        known = [(left, right) for left, right in splits if left in ranks and right in ranks]
        for left, right in sorted(known, key=lambda pair: (ranks[pair[0]], ranks[pair[1]])):
            yield entry_of_bytes(left), entry_of_bytes(right)
