"""A byte-level BPE tokenizer with the control tokens of the Kimi K2 family.

Words, single digits and runs of anything else (spaces included) are split
before merging. A name thus has the same tokens in running text and inside
JSON quotes, which is what makes it easy to copy.
"""

from collections.abc import Iterable
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

SPECIAL_TOKENS = (
    "[BOS]",
    "[EOS]",
    "[PAD]",
    "<|im_end|>",
    "<|im_user|>",
    "<|im_assistant|>",
    "<|im_system|>",
    "<|im_middle|>",
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
)
PLAIN_ADDED_TOKENS = ("<think>", "</think>", "<tool_call>", "</tool_call>")
_PIECES = r"[\p{L}\p{M}]+|\p{N}|[^\p{L}\p{M}\p{N}]+"


def train_tokenizer(texts: Iterable[str], *, vocab_size: int, context_length: int) -> PreTrainedTokenizerFast:
    """Learn the merges from sample texts and wrap them for `transformers`.

    Args:
        texts: Sample texts without control tokens.
        vocab_size: Entries in all, control tokens included.
        context_length: Longest sequence the model takes, in tokens.

    Returns:
        A tokenizer that adds nothing of its own around a text.
    """
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    learner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size - len(PLAIN_ADDED_TOKENS),
        special_tokens=[AddedToken(token, normalized=False, special=True) for token in SPECIAL_TOKENS],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        min_frequency=2,
        show_progress=False,
    )
    learner.train_from_iterator(texts, trainer)
    learner.add_tokens([AddedToken(token, normalized=False, special=False) for token in PLAIN_ADDED_TOKENS])
    return PreTrainedTokenizerFast(
        tokenizer_object=learner,
        bos_token="[BOS]",
        eos_token="<|im_end|>",
        pad_token="[PAD]",
        extra_special_tokens=[token for token in SPECIAL_TOKENS if token not in ("[BOS]", "[PAD]", "<|im_end|>")],
        clean_up_tokenization_spaces=False,
        model_max_length=context_length,
    )


def load_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """Load the tokenizer that is next to the weights."""
    return PreTrainedTokenizerFast.from_pretrained(folder)
