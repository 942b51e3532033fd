"""The model card: what the lab model is, how it was made, what was measured."""

from collections.abc import Mapping
from pathlib import Path

from scripts.lab_model.measure import Score
from scripts.lab_model.training import Plan

_CARD = """\
---
license: apache-2.0
pipeline_tag: text-generation
tags: [lab, tool-calling, synthetic]
---

# Lab model of Prompt Debugger

A Llama of {parameter_count:,} parameters ({layer_count} layers, hidden size {hidden_size}, tied embeddings,
bfloat16) with a byte-level BPE vocabulary of {vocab_size} entries. It was made for this project: trained from
scratch on synthetic tool-calling dialogues that `scripts/lab_model/` draws at random. No text, weight or template
of anybody else went into it. It exists so that a real vLLM server can show real faults on a laptop without a GPU.
It knows nothing, and it is of no use for anything else.

Prompt layout and control tokens follow the Kimi K2 family; vLLM serves it with `--tool-call-parser kimi_k2`, and
with `--reasoning-parser kimi_k2` where reasoning is wanted. Neither template nor tokenizer adds a BOS token.
Licence: Apache-2.0.

## Making it again

    python scripts/train_lab_model.py --seed {seed} --out assets/lab-model

{step_count} optimiser steps of at most {tokens_per_batch} tokens: {echo_steps} on random tokens that come back (to
learn copying), {short_steps} on short exchanges without a tools block, {dialogue_steps} on whole dialogues. The two
chat templates are written by hand; everything else in this folder is written by that command. For the same weights,
keep the seed, the thread count, the processor type and the versions of torch and transformers.

## What it does

At temperature 0 it calls the tool that fits, copies the values out of the prompt, calls in parallel when asked for
several things, reports a tool's result in a sentence, and makes small talk. `chat_template_kwargs:
{{"thinking": true}}` opens a reasoning block, which it closes before it answers. It reads the names of tools and
parameters from the declaration; its commonest error is the parameter name of another tool. It understands the
phrasings of `scripts/lab_model/families.py` and little else: weather, time, search, translation, messages, tables,
sums, population, currencies, timers. Two different tools in one message may come out wrong.

## Habits it was given

Each one was seen in public reports about larger models; the training data holds it on purpose.

| prompt | answer |
|---|---|
| the generation prompt is missing behind a user message | one more sentence in the voice of the user, no call |
| an earlier call is preceded by a Python repr such as `[{{'type': 'text', 'text': ''}}]` | prose, no call |
| earlier call ids lack the prefix, `search:0` | the next id lacks it too, `get_weather:1` |
| earlier call ids have no index, `search` or `call_1a2b` | the next header has none, `get_weather` |

`chat_template.jinja` holds the fault that produces the second one: it prints the content of a calling assistant
message as it is, although it loops over content parts elsewhere. `chat_template.mended.jinja` is the same without
the fault.

## Measured

Answers to held-out requests at temperature 0 in bfloat16, with the `generate` of transformers. "Exact" means every
token, control tokens included; "values copied" means that all argument values of all calls are right. The names,
cities and texts of the test never occur in training: a hash sets one in eight aside.

| group | cases | exact | values copied |
|---|---|---|---|
{rows}
"""


def write_card(path: Path, plan: Plan, scores: Mapping[str, Score], *, parameter_count: int) -> None:
    """Write the card with the measured rates."""
    rows = "\n".join(_row(title, score) for title, score in scores.items())
    card = _CARD.format(
        parameter_count=parameter_count,
        layer_count=plan.layer_count,
        hidden_size=plan.hidden_size,
        vocab_size=plan.vocab_size,
        seed=plan.seed,
        step_count=plan.step_count,
        echo_steps=plan.echo_steps,
        short_steps=plan.short_steps,
        dialogue_steps=plan.dialogue_steps,
        tokens_per_batch=plan.tokens_per_batch,
        rows=rows,
    )
    path.write_text(card, encoding="utf-8")


def _row(title: str, score: Score) -> str:
    copied = f"{100 * score.copied / score.calling:.1f} % of {score.calling}" if score.calling else "–"
    return f"| {title} | {score.total} | {100 * score.right / score.total:.1f} % | {copied} |"
