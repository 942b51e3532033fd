"""Measuring the shipped model, on one case per group. PyTorch is imported by the tests, not as they are collected."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from scripts.lab_model.dialogues import KINDS
from scripts.lab_model.tokenizer import load_tokenizer

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM

pytestmark = pytest.mark.usefixtures("one_thread")


def load_network(folder: Path, dtype: str) -> LlamaForCausalLM:
    from transformers import LlamaForCausalLM

    return LlamaForCausalLM.from_pretrained(folder, dtype=dtype).eval()


def test_every_labelled_run_becomes_a_case_with_everything_before_it_as_prompt() -> None:
    from scripts.lab_model.measure import Case, split_cases

    ids = (1, 2, 3, 4, 5, 6, 7)
    labels = (-100, -100, 3, 4, -100, 6, 7)

    assert split_cases(ids, labels) == (Case((1, 2), (3, 4)), Case((1, 2, 3, 4, 5), (6, 7)))


def test_answers_do_not_depend_on_the_batch(lab_model_dir: Path) -> None:
    from scripts.lab_model.measure import Case, answer_greedily

    network = load_network(lab_model_dir, "float32")
    tokenizer = load_tokenizer(lab_model_dir)
    texts = ("<|im_user|>user<|im_middle|>hi", "<|im_user|>user<|im_middle|>What can you do?")
    prompts = [
        tuple(tokenizer(f"{text}<|im_end|><|im_assistant|>assistant<|im_middle|>")["input_ids"]) for text in texts
    ]
    cases = [Case(prompt, (0,) * 20) for prompt in prompts]

    together = answer_greedily(network, tokenizer, cases)
    alone = [answer_greedily(network, tokenizer, [case])[0] for case in cases]

    assert together == alone


def test_wrong_answers_are_counted_and_one_is_shown(lab_model_dir: Path) -> None:
    from scripts.lab_model.measure import Case, Score, measure

    network = load_network(lab_model_dir, "bfloat16")
    tokenizer = load_tokenizer(lab_model_dir)
    prompt = tuple(
        tokenizer("<|im_user|>user<|im_middle|>hi<|im_end|><|im_assistant|>assistant<|im_middle|>")["input_ids"]
    )
    wanted = tuple(tokenizer("No.<|im_end|>")["input_ids"])

    scores = measure(network, tokenizer, {"rude": [Case(prompt, wanted)]})

    written = scores["rude"].miss
    assert written is not None
    assert scores["rude"] == Score(right=0, copied=0, calling=0, total=1, miss=("No.<|im_end|>", written[1]))


CALL = '<|tool_call_begin|>functions.a:0<|tool_call_argument_begin|>{"x": "Oslo", "n": 2}<|tool_call_end|>'


@pytest.mark.parametrize(
    ("answer", "values"),
    [
        ("Hello.<|im_end|>", []),
        (CALL, [["Oslo", 2]]),
        (CALL + CALL.replace("Oslo", "Rome"), [["Oslo", 2], ["Rome", 2]]),
        (CALL.replace('"}', "}").replace("2}", "2"), None),
        (CALL.replace('{"x": "Oslo", "n": 2}', "[]"), None),
    ],
)
def test_argument_values_are_read_from_every_call(answer: str, values: list[list[object]] | None) -> None:
    from scripts.lab_model.measure import read_values

    assert read_values(answer) == values


def test_measuring_alone_rewrites_the_card_and_nothing_else(lab_model_dir: Path, tmp_path: Path) -> None:
    from scripts.train_lab_model import main

    folder = tmp_path / "model"
    shutil.copytree(lab_model_dir, folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "README.md"}

    main(["--measure-only", "--cases", "1", "--threads", "1", "--out", str(folder)])

    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "README.md"} == before
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert all(f"| dialogue, {kind} |" in card for kind in KINDS)
    assert "apache-2.0" in card
