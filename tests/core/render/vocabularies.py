"""Small tokenizers of every kind, built with the library itself."""

from __future__ import annotations

import json
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

CORPUS = [
    "the quick brown fox jumps over the lazy dog",
    "Hello there, world! It's 日本語 and é, ünï.",
    "user assistant",
] * 20
SPECIAL = ["<s>", "</s>", "<|im_start|>", "<|im_end|>"]


def byte_level(*, nfc: bool = False) -> Tokenizer:
    """GPT-2's kind: every byte is a printable character, offsets trimmed."""
    made = Tokenizer(models.BPE())
    if nfc:
        made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.ByteLevel(trim_offsets=True)
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(CORPUS, trainer)
    return made


def sentence_piece(*, legacy: bool = False) -> Tokenizer:
    """Llama 2's kind: spaces are ▁, unknown characters fall back to bytes."""
    made = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    steps = [normalizers.Prepend("▁")] if legacy else []
    made.normalizer = normalizers.Sequence([*steps, normalizers.Replace(" ", "▁")])
    trainer = trainers.BpeTrainer(
        vocab_size=360,
        special_tokens=["<unk>", *SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256))],
        limit_alphabet=40,
        show_progress=False,
    )
    made.train_from_iterator(CORPUS, trainer)
    data = json.loads(made.to_str())
    data["added_tokens"] = [token for token in data["added_tokens"] if not token["content"].startswith("<0x")]
    made = Tokenizer.from_str(json.dumps(data))  # bytes are ordinary entries, as in Llama's own
    strip = [decoders.Strip(" ", 1, 0)] if legacy else []
    made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *strip])
    return made


def unigram() -> Tokenizer:
    """T5's kind: Unigram over Metaspace."""
    made = Tokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    made.decoder = decoders.Metaspace(prepend_scheme="first")
    trainer = trainers.UnigramTrainer(
        vocab_size=120, special_tokens=["<unk>", *SPECIAL], unk_token="<unk>", show_progress=False
    )
    made.train_from_iterator(CORPUS, trainer)
    return made


def word_piece() -> Tokenizer:
    """BERT's kind: lower case, continuations begin with ##."""
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=150, special_tokens=["[UNK]", *SPECIAL], show_progress=False)
    made.train_from_iterator(CORPUS, trainer)
    return made


KINDS = {
    "byte-level": byte_level,
    "byte-level-nfc": lambda: byte_level(nfc=True),
    "sentence-piece": sentence_piece,
    "sentence-piece-legacy": lambda: sentence_piece(legacy=True),
    "unigram": unigram,
    "word-piece": word_piece,
}


def write(folder: Path, made: Tokenizer, **config: object) -> Path:
    """Write a tokenizer folder."""
    made.add_tokens([AddedToken("<think>", normalized=False)])
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))
    settings = {"bos_token": "<s>", "eos_token": {"content": "</s>", "lstrip": False}, **config}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder
