"""The training run, on a tiny plan: same seed, same weights; and it learns.

PyTorch is imported by the tests, not as they are collected: it comes with the lab.
"""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from transformers import PreTrainedTokenizerFast

from scripts.lab_model.rendering import Templates, read_templates
from scripts.lab_model.tokenizer import PLAIN_ADDED_TOKENS, SPECIAL_TOKENS, load_tokenizer

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM

    from scripts.lab_model.training import Plan

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def torch() -> ModuleType:
    return importlib.import_module("torch")


@pytest.fixture(scope="module")
def tiny() -> Plan:
    from scripts.lab_model.training import Plan

    return Plan(
        vocab_size=400,
        hidden_size=32,
        layer_count=1,
        head_count=2,
        echo_steps=2,
        short_steps=2,
        dialogue_steps=2,
        tokens_per_batch=256,
    )


@pytest.fixture(scope="module")
def templates(lab_model_dir: Path) -> Templates:
    return read_templates(lab_model_dir)


@pytest.fixture(scope="module")
def tokenizer(tiny: Plan, templates: Templates) -> PreTrainedTokenizerFast:
    from scripts.lab_model.build import build_tokenizer

    return build_tokenizer(tiny, templates, sample_count=60)


def _train(plan: Plan, tokenizer: PreTrainedTokenizerFast, templates: Templates) -> LlamaForCausalLM:
    from scripts.lab_model.training import build_network, train_network

    network = build_network(plan, tokenizer)
    train_network(network, tokenizer, templates, plan, lambda line: None)
    return network


def test_same_seed_gives_the_same_weights(
    torch: ModuleType, tiny: Plan, tokenizer: PreTrainedTokenizerFast, templates: Templates
) -> None:
    first = _train(tiny, tokenizer, templates).state_dict()
    second = _train(tiny, tokenizer, templates).state_dict()

    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_another_seed_gives_other_weights(
    torch: ModuleType, tiny: Plan, tokenizer: PreTrainedTokenizerFast, templates: Templates
) -> None:
    from scripts.lab_model.training import build_network

    first = build_network(tiny, tokenizer).state_dict()
    second = build_network(replace(tiny, seed=1), tokenizer).state_dict()

    assert any(not torch.equal(first[name], second[name]) for name in first)


def test_loss_falls_within_a_few_steps(
    torch: ModuleType, tiny: Plan, tokenizer: PreTrainedTokenizerFast, templates: Templates
) -> None:
    from scripts.lab_model.training import build_network, train_network

    plan = replace(tiny, echo_steps=0, short_steps=40, dialogue_steps=0, peak_rate=1e-2)
    network = build_network(plan, tokenizer)

    loss = train_network(network, tokenizer, templates, plan, lambda line: None)

    assert loss < torch.log(torch.tensor(400.0)) - 1  # a network that guesses evenly scores log(400)


def test_same_seed_gives_the_same_vocabulary(
    tiny: Plan, tokenizer: PreTrainedTokenizerFast, templates: Templates
) -> None:
    from scripts.lab_model.build import build_tokenizer

    again = build_tokenizer(tiny, templates, sample_count=60)

    assert again.get_vocab() == tokenizer.get_vocab()


def test_saved_folder_loads_again(
    torch: ModuleType, tiny: Plan, tmp_path: Path, tokenizer: PreTrainedTokenizerFast, templates: Templates
) -> None:
    from transformers import LlamaForCausalLM

    from scripts.lab_model.build import save_model
    from scripts.lab_model.training import build_network

    network = build_network(tiny, tokenizer)

    save_model(network, tokenizer, tmp_path)

    loaded = LlamaForCausalLM.from_pretrained(tmp_path, dtype=torch.bfloat16).state_dict()
    assert all(torch.equal(loaded[name], value) for name, value in network.state_dict().items())
    assert load_tokenizer(tmp_path).get_vocab() == tokenizer.get_vocab()


@pytest.mark.parametrize("token", [*SPECIAL_TOKENS, *PLAIN_ADDED_TOKENS])
def test_control_tokens_are_single_ids(token: str, tokenizer: PreTrainedTokenizerFast) -> None:
    ids = tokenizer(f"a{token}b", add_special_tokens=False)["input_ids"]

    assert len(ids) == 3
    assert tokenizer.decode(ids) == f"a{token}b"
