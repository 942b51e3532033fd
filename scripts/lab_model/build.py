"""Everything between a plan and a model folder that vLLM can serve."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import torch
from transformers import GenerationConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from scripts.lab_model.dialogues import make_dialogue
from scripts.lab_model.rendering import Templates, render_prompt
from scripts.lab_model.tokenizer import PLAIN_ADDED_TOKENS, SPECIAL_TOKENS, train_tokenizer
from scripts.lab_model.training import Plan

_CONTROL_TOKENS = re.compile("|".join(map(re.escape, SPECIAL_TOKENS + PLAIN_ADDED_TOKENS)))


def build_tokenizer(plan: Plan, templates: Templates, *, sample_count: int = 3000) -> PreTrainedTokenizerFast:
    """Learn a vocabulary from rendered dialogues; the seed fixes the samples."""
    blank = train_tokenizer((), vocab_size=300, context_length=plan.context_length)
    texts = _sample_texts(blank, templates, Random(plan.seed), sample_count)
    return train_tokenizer(texts, vocab_size=plan.vocab_size, context_length=plan.context_length)


def save_model(network: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write weights in bfloat16, configuration and tokenizer, templates excepted.

    The network itself is rounded to bfloat16 as well, so that what is measured
    afterwards is what was written.
    """
    network.to(torch.bfloat16)
    network.generation_config = GenerationConfig(
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    network.save_pretrained(folder)
    tokenizer.chat_template = None  # the two template files are written by hand and are in the folder
    tokenizer.save_pretrained(folder)
    _tidy_tokenizer_config(folder / "tokenizer_config.json")


def _tidy_tokenizer_config(path: Path) -> None:
    # This class name is the one that transformers 4 and 5 both know.
    config = json.loads(path.read_text(encoding="utf-8"))
    config["tokenizer_class"] = "PreTrainedTokenizerFast"
    for key in ("backend", "is_local", "local_files_only"):
        config.pop(key, None)
    path.write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _sample_texts(
    tokenizer: PreTrainedTokenizerFast, templates: Templates, rng: Random, sample_count: int
) -> Iterator[str]:
    for _ in range(sample_count):
        dialogue = make_dialogue(rng)
        text = render_prompt(
            tokenizer,
            templates.faulty,
            dialogue.messages,
            dialogue.tools,
            thinking=dialogue.thinking,
            add_generation_prompt=False,
        )
        yield from filter(None, _CONTROL_TOKENS.split(text + (dialogue.tail or "")))
