"""Greedy answers of the lab model to held-out requests, counted.

A case counts as right only if the whole answer, control tokens included,
equals the expected one. Beside that, a case counts as copied if the values of
the calls are right, whatever the names around them.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from scripts.lab_model import names
from scripts.lab_model.dialogues import KINDS, Dialogue, make_dialogue, make_place_call
from scripts.lab_model.rendering import IGNORED_LABEL, Templates, build_example


class Case(NamedTuple):
    """A prompt and the answer it should get, as token ids."""

    prompt_ids: tuple[int, ...]
    answer_ids: tuple[int, ...]


class Score(NamedTuple):
    """How many answers of a group were right, and one that was not.

    Attributes:
        right: Exact answers.
        copied: Answers whose argument values are right, out of `calling`.
        calling: Cases whose expected answer is a call.
        total: Answers asked for.
        miss: Expected and written text of the first wrong answer, or None.
    """

    right: int
    copied: int
    calling: int
    total: int
    miss: tuple[str, str] | None


_ARGUMENTS = re.compile(r"<\|tool_call_argument_begin\|>(.*?)<\|tool_call_end\|>", re.DOTALL)
_PLACES: Mapping[str, Callable[[Random], str]] = {
    "one call, invented name": names.invent_name,
    "one call, accented, foreign-script or long name": names.invent_odd_name,
    "one call, real city": names.pick_real_city,
}


def split_cases(ids: Sequence[int], labels: Sequence[int]) -> tuple[Case, ...]:
    """Cut an example into one case per labelled run."""
    cases: list[Case] = []
    start = 0
    while start < len(ids):
        stop = start
        while stop < len(ids) and labels[stop] != IGNORED_LABEL:
            stop += 1
        if stop > start:
            cases.append(Case(tuple(ids[:start]), tuple(ids[start:stop])))
        start = stop + 1
    return tuple(cases)


def collect_cases(
    tokenizer: PreTrainedTokenizerFast, templates: Templates, *, count: int, seed: int = 1
) -> dict[str, tuple[Case, ...]]:
    """Draw held-out cases by group: places to copy first, then every kind of dialogue."""
    groups: dict[str, tuple[Case, ...]] = {}

    def cases_of(dialogue: Dialogue) -> tuple[Case, ...]:
        example = build_example(tokenizer, templates, dialogue)
        return split_cases(example.ids, example.labels)

    for title, make in _PLACES.items():
        rng = Random(f"{seed} {title}")
        drawn = [make_place_call(rng, names.draw(make, rng, held_out=True)) for _ in range(count)]
        groups[title] = tuple(case for dialogue in drawn for case in cases_of(dialogue))
    for kind in KINDS:
        rng = Random(f"{seed} {kind}")
        cases: list[Case] = []
        while len(cases) < count:
            cases += cases_of(make_dialogue(rng, kind=kind, held_out=True))
        groups[f"dialogue, {kind}"] = tuple(cases[:count])
    return groups


def measure(
    network: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, groups: Mapping[str, Sequence[Case]]
) -> dict[str, Score]:
    """Answer every case greedily and count the exact answers."""
    scores: dict[str, Score] = {}
    for title, cases in groups.items():
        answers = answer_greedily(network, tokenizer, cases)
        texts = [
            (tokenizer.decode(case.answer_ids), tokenizer.decode(answer))
            for case, answer in zip(cases, answers, strict=True)
        ]
        wrong = [pair for pair in texts if pair[0] != pair[1]]
        calling = [
            (read_values(wanted), read_values(written)) for wanted, written in texts if "<|tool_call_b" in wanted
        ]
        copied = sum(wanted == written for wanted, written in calling)
        scores[title] = Score(len(cases) - len(wrong), copied, len(calling), len(cases), wrong[0] if wrong else None)
    return scores


def read_values(answer: str) -> list[list[object]] | None:
    """Read the argument values of every call, or None if those of one are not a JSON object."""
    try:
        return [list(json.loads(arguments).values()) for arguments in _ARGUMENTS.findall(answer)]
    except (ValueError, AttributeError):
        return None


def answer_greedily(
    network: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, cases: Sequence[Case], *, batch_size: int = 32
) -> list[tuple[int, ...]]:
    """Write the most likely answer to each prompt, up to and with the end token."""
    answers: list[tuple[int, ...]] = [()] * len(cases)
    by_length = sorted(range(len(cases)), key=lambda index: len(cases[index].prompt_ids))
    for first in range(0, len(cases), batch_size):
        batch = by_length[first : first + batch_size]
        length = max(len(cases[index].prompt_ids) for index in batch)
        longest_answer = max(len(cases[index].answer_ids) for index in batch)
        gaps = [length - len(cases[index].prompt_ids) for index in batch]
        pad, end = tokenizer.pad_token_id, tokenizer.eos_token_id
        ids = torch.tensor(
            [[pad] * gap + list(cases[index].prompt_ids) for gap, index in zip(gaps, batch, strict=True)]
        )
        mask = torch.tensor([[0] * gap + [1] * (length - gap) for gap in gaps])
        written = network.generate(
            input_ids=ids, attention_mask=mask, max_new_tokens=longest_answer + 8, do_sample=False
        )
        for index, row in zip(batch, written[:, length:].tolist(), strict=True):
            answers[index] = tuple(row[: row.index(end) + 1] if end in row else row)
    return answers
