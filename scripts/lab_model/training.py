"""The network, and a three-stage curriculum that teaches it to copy.

First random tokens whose pieces come back in another order: nothing helps
there but copying, so the heads that copy form within minutes. Then short
exchanges without a tools block, then whole dialogues. Only what comes back,
and only assistant turns, carry loss.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from scripts.lab_model.dialogues import Dialogue, make_dialogue, make_short
from scripts.lab_model.rendering import IGNORED_LABEL, Example, Templates, build_example


@dataclass(frozen=True, slots=True)
class Plan:
    """Size of the network and of the training run.

    Attributes:
        seed: Seed of weights and data.
        vocab_size: Entries of the vocabulary.
        hidden_size: Width of the residual stream.
        layer_count: Transformer blocks.
        head_count: Attention heads per block.
        context_length: Longest sequence the model is declared to take, in tokens.
        echo_steps: Optimiser steps on random tokens that come back.
        short_steps: Optimiser steps on short exchanges.
        dialogue_steps: Optimiser steps on whole dialogues.
        tokens_per_batch: Upper bound of a batch, padding included.
        longest_example: Longer dialogues are left out, in tokens.
        peak_rate: Highest learning rate.
    """

    seed: int = 0
    vocab_size: int = 768
    hidden_size: int = 192
    layer_count: int = 4
    head_count: int = 6
    context_length: int = 4096
    echo_steps: int = 450
    short_steps: int = 300
    dialogue_steps: int = 2400
    tokens_per_batch: int = 6144
    longest_example: int = 900
    peak_rate: float = 2e-3

    @property
    def step_count(self) -> int:
        """Optimiser steps in all."""
        return self.echo_steps + self.short_steps + self.dialogue_steps


def build_network(plan: Plan, tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """Build the untrained network; the seed fixes its weights."""
    torch.manual_seed(plan.seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=plan.hidden_size,
        intermediate_size=plan.hidden_size * 8 // 3,
        num_hidden_layers=plan.layer_count,
        num_attention_heads=plan.head_count,
        num_key_value_heads=plan.head_count,
        head_dim=plan.hidden_size // plan.head_count,
        max_position_embeddings=plan.context_length,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=True,
        use_cache=True,
    )
    return LlamaForCausalLM(config)


def train_network(
    network: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    templates: Templates,
    plan: Plan,
    report: Callable[[str], None],
) -> float:
    """Run the curriculum; returns the mean loss of the last fifty steps."""
    optimiser = torch.optim.AdamW(network.parameters(), lr=plan.peak_rate, weight_decay=0.05, betas=(0.9, 0.95))
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, plan.peak_rate, total_steps=plan.step_count, pct_start=0.04
    )
    rng = Random(plan.seed)
    batches = _draw_curriculum(tokenizer, templates, plan, rng)
    started_s = time.monotonic()
    losses: list[float] = []
    network.train()
    for step, batch in enumerate(batches):
        ids, labels = _pad(batch, network.config.pad_token_id)
        loss = _loss(network, ids, labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad(set_to_none=True)
        losses.append(loss.item())
        if step % 50 == 49:
            spent_s = time.monotonic() - started_s
            report(f"step {step + 1}/{plan.step_count}  loss {sum(losses[-50:]) / 50:.4f}  {spent_s:.0f} s")
    network.eval()
    recent = losses[-50:]
    return sum(recent) / max(1, len(recent))


def _loss(network: LlamaForCausalLM, ids: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    # Padding lies to the right of a causal model, so no attention mask is needed.
    targets = labels[:, 1:]
    chosen = targets != IGNORED_LABEL
    with torch.autocast("cpu", dtype=torch.bfloat16):
        hidden = network.model(input_ids=ids).last_hidden_state[:, :-1]
        logits = network.lm_head(hidden[chosen])
    return torch.nn.functional.cross_entropy(logits.float(), targets[chosen])


def _draw_curriculum(
    tokenizer: PreTrainedTokenizerFast, templates: Templates, plan: Plan, rng: Random
) -> Iterator[Sequence[Example]]:
    """Yield one batch per optimiser step, stage after stage."""
    yield from islice(_draw_echoes(plan, rng), plan.echo_steps)
    for make, step_count in (
        (make_short, plan.short_steps),
        (make_dialogue, plan.dialogue_steps),
    ):
        yield from islice(_draw_batches(make, tokenizer, templates, plan, rng), step_count)


def _draw_echoes(plan: Plan, rng: Random) -> Iterator[Sequence[Example]]:
    """Yield batches of random tokens followed by the same pieces, shuffled."""
    while True:
        length = rng.choice((16, 24, 32, 48))
        yield [_draw_echo(plan.vocab_size, length, rng) for _ in range(plan.tokens_per_batch // (3 * length))]


def _draw_echo(vocab_size: int, length: int, rng: Random) -> Example:
    ids = [rng.randrange(vocab_size) for _ in range(length)]
    pieces: list[list[int]] = []
    while sum(map(len, pieces)) < length:
        start = sum(map(len, pieces))
        pieces.append(ids[start : start + rng.randint(3, 9)])
    rng.shuffle(pieces)
    labels = [IGNORED_LABEL] * length  # which piece comes next cannot be known, only how it continues
    for piece in pieces:
        ids = ids + piece
        labels += [IGNORED_LABEL, *piece[1:]]
    return Example(tuple(ids), tuple(labels))


def _draw_batches(
    make: Callable[[Random], Dialogue],
    tokenizer: PreTrainedTokenizerFast,
    templates: Templates,
    plan: Plan,
    rng: Random,
) -> Iterator[Sequence[Example]]:
    """Yield batches of similar length, each within the token budget."""
    while True:
        pool: list[Example] = []
        while len(pool) < 256:
            example = build_example(tokenizer, templates, make(rng))
            if len(example.ids) <= plan.longest_example and any(label != IGNORED_LABEL for label in example.labels):
                pool.append(example)
        pool.sort(key=lambda example: len(example.ids))
        batches: list[list[Example]] = [[]]
        for example in pool:
            if (len(batches[-1]) + 1) * len(example.ids) > plan.tokens_per_batch:
                batches.append([])
            batches[-1].append(example)
        rng.shuffle(batches)
        yield from (batch for batch in batches if batch)


def _pad(batch: Sequence[Example], pad_token_id: int) -> tuple[torch.Tensor, torch.Tensor]:
    length = max(len(example.ids) for example in batch)
    ids = [list(example.ids) + [pad_token_id] * (length - len(example.ids)) for example in batch]
    labels = [list(example.labels) + [IGNORED_LABEL] * (length - len(example.labels)) for example in batch]
    return torch.tensor(ids), torch.tensor(labels)
