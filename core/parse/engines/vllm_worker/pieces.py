# ruff: noqa: ANN401 - the objects of vLLM and transformers are untyped
"""Raw output → what the server hands its parser: token ids and the text that each one added.

The server's detokenizer leaves out special tokens if the request says so, the
token that ended generation, and what a stop string cut off.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from prompt_debugger.core.parse.engines.vllm_worker.piece import Piece, texts_by_prefix
from prompt_debugger.core.parse.engines.vllm_worker.vocabulary import END_TEXTS, StandIn, end_ids_of_folder


def pieces_of_output(
    tokenizer: Any,
    raw: str,
    token_ids: Sequence[int] | None,
    prompt_ids: Sequence[int],
    folder: str | None,
    request: Any,
) -> list[Piece]:
    """Return the output as the server would hand it over, one piece per token.

    Args:
        tokenizer: The model's own, or a `StandIn`.
        raw: Raw output, special tokens spelled out.
        token_ids: Its ids, if known; if they do not spell `raw`, the text is tokenized again.
        prompt_ids: The prompt's ids, which a detokenizer may need before the first token.
        folder: Where the tokenizer came from.
        request: The request as the parser adjusted it.
    """
    if isinstance(tokenizer, StandIn):
        skipped = set(tokenizer.all_special_tokens) if request.skip_special_tokens else set()
        markers = tokenizer.markers
        pieces = [Piece(one, text, text, text in markers) for one, text in tokenizer.pieces(raw)]
        pieces = [replace(piece, text="") if piece.text in skipped else piece for piece in pieces]
        ends = bool(pieces) and pieces[-1].shown in (*END_TEXTS, tokenizer.eos_token)
    else:
        ids = _ids_of_output(tokenizer, raw, None if token_ids is None else tuple(token_ids))
        ends = bool(ids) and ids[-1] in _end_ids(tokenizer, folder, request)
        skip_special_tokens = bool(request.skip_special_tokens)
        pieces = list(_decode(tokenizer, ids, tuple(prompt_ids[-16:]), skip_special_tokens=skip_special_tokens))
    if ends and not request.include_stop_str_in_output:
        pieces[-1] = replace(pieces[-1], text="")
    return _cut_at_stop_string(pieces, request)


# The same output goes through many parsers, and most want the same pieces.
@functools.lru_cache(maxsize=2)
def _ids_of_output(tokenizer: Any, raw: str, token_ids: tuple[int, ...] | None) -> tuple[int, ...]:
    if token_ids is not None and is_spelled_by(tokenizer, raw, token_ids):
        return token_ids
    return tuple(tokenizer.encode(raw, add_special_tokens=False))


def is_spelled_by(tokenizer: Any, raw: str, token_ids: Sequence[int]) -> bool:
    """Return whether ids are those of a text in this vocabulary, an end token more or less."""
    try:
        text = tokenizer.decode(list(token_ids), skip_special_tokens=False)
        shorter = tokenizer.decode(list(token_ids[:-1]), skip_special_tokens=False)
    except (OverflowError, TypeError, ValueError, IndexError):
        return False
    return raw in (text, shorter)


def _end_ids(tokenizer: Any, folder: str | None, request: Any) -> set[int]:
    ids = set(request.stop_token_ids or ()) | (set(end_ids_of_folder(folder)) if folder else set())
    return ids | ({tokenizer.eos_token_id} if tokenizer.eos_token_id is not None else set())


@functools.lru_cache(maxsize=4)
def _decode(
    tokenizer: Any, ids: tuple[int, ...], prompt_ids: tuple[int, ...], *, skip_special_tokens: bool
) -> tuple[Piece, ...]:
    markers = set(tokenizer.all_special_ids) | set(tokenizer.get_added_vocab().values())
    texts = _texts(tokenizer, ids, prompt_ids, skip_special_tokens=skip_special_tokens)
    names = {one: str(name) for one, name in zip(ids, tokenizer.convert_ids_to_tokens(list(ids)), strict=True)}
    return tuple(
        Piece(one, text, names[one] if one in markers else text, one in markers)
        for one, text in zip(ids, texts, strict=True)
    )


def _texts(tokenizer: Any, ids: Sequence[int], prompt_ids: Sequence[int], *, skip_special_tokens: bool) -> list[str]:
    """Detokenize step by step, as the server does; bytes of an unfinished character wait for the next token."""
    core = getattr(tokenizer, "_tokenizer", None)
    if core is None or not hasattr(core, "get_added_tokens_decoder"):
        decode = functools.partial(tokenizer.decode, skip_special_tokens=skip_special_tokens)
        return texts_by_prefix(decode, ids)
    from tokenizers.decoders import DecodeStream

    stream = DecodeStream(ids=list(prompt_ids), skip_special_tokens=skip_special_tokens)
    texts = []
    for one in ids:
        try:
            text = stream.step(core, one)
        except Exception as error:
            if not str(error).startswith("Invalid prefix"):
                raise
            stream = DecodeStream(skip_special_tokens=skip_special_tokens)
            text = stream.step(core, one)
        texts.append(text or "")
    return texts


def _cut_at_stop_string(pieces: list[Piece], request: Any) -> list[Piece]:
    stops = [request.stop] if isinstance(request.stop, str) else request.stop or []
    text = "".join(piece.text for piece in pieces)
    found = [(text.find(stop), stop) for stop in stops if stop and stop in text]
    if not found:
        return pieces
    at, stop = min(found)
    left = at + (len(stop) if request.include_stop_str_in_output else 0)
    kept = []
    for piece in pieces:
        kept.append(replace(piece, text=piece.text[: max(left, 0)]))
        left -= len(piece.text)
        if left <= 0:
            break
    return kept
