"""Train the lab model, measure it, and write the folder that vLLM serves.

    python scripts/train_lab_model.py --seed 0 --out assets/lab-model

The two chat templates are sources, not products: they are read from
`assets/lab-model` and copied along if the output folder is another one.
"""

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import LlamaForCausalLM

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # run as a script, Python looks next to this file only

from scripts.lab_model.build import build_tokenizer, save_model  # noqa: E402
from scripts.lab_model.card import write_card  # noqa: E402
from scripts.lab_model.measure import Score, collect_cases, measure  # noqa: E402
from scripts.lab_model.rendering import read_templates  # noqa: E402
from scripts.lab_model.tokenizer import load_tokenizer  # noqa: E402
from scripts.lab_model.training import Plan, build_network, train_network  # noqa: E402

SOURCES = ROOT / "assets" / "lab-model"
TEMPLATE_FILES = ("chat_template.jinja", "chat_template.mended.jinja")


def main(arguments: Sequence[str] | None = None) -> None:
    """Train unless told to measure only; print the measurements; write the card."""
    options = _read_options(arguments)
    torch.set_num_threads(options.threads)
    plan = Plan(seed=options.seed)
    if not options.measure_only:
        _train(plan, options.out)
    network = LlamaForCausalLM.from_pretrained(options.out, dtype=torch.bfloat16).eval()
    tokenizer = load_tokenizer(options.out)
    templates = read_templates(options.out)
    scores = measure(network, tokenizer, collect_cases(tokenizer, templates, count=options.cases))
    for title, score in scores.items():
        _print(_line(title, score))
    write_card(options.out / "README.md", plan, scores, parameter_count=network.num_parameters())


def _train(plan: Plan, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name in TEMPLATE_FILES:
        if not (out / name).exists():
            shutil.copy(SOURCES / name, out / name)
    templates = read_templates(out)
    tokenizer = build_tokenizer(plan, templates)
    network = build_network(plan, tokenizer)
    _print(f"{network.num_parameters()} parameters, {len(tokenizer)} vocabulary entries, {plan.step_count} steps")
    train_network(network, tokenizer, templates, plan, _print)
    save_model(network, tokenizer, out)


def _line(title: str, score: Score) -> str:
    line = f"{score.right:4}/{score.total:<4} exact  {score.copied:4}/{score.calling:<4} copied  {title}"
    if score.miss is None:
        return line
    expected, written = score.miss
    return f"{line}\n          expected {expected!r}\n          written  {written!r}"


def _read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train and measure the lab model.")
    parser.add_argument("--seed", type=int, default=0, help="seed of weights and data (default 0)")
    parser.add_argument("--out", type=Path, default=SOURCES, help="folder to write (default assets/lab-model)")
    parser.add_argument(
        "--threads", type=int, default=2, help="CPU threads; other counts may round differently (default 2)"
    )
    parser.add_argument("--cases", type=int, default=200, help="held-out cases per group (default 200)")
    parser.add_argument("--measure-only", action="store_true", help="measure the folder as it is and rewrite its card")
    return parser.parse_args(arguments)


def _print(line: str) -> None:
    print(line, flush=True)  # this is a command


if __name__ == "__main__":
    main()
