"""What sharing pieces between prompts saves when a conversation is followed turn by turn.

    python -m benchmarks.turns [--turns N]

Both ways are timed in one run: `follow_turns`, and every prompt of it rendered and cut into
tokens whole, which is what a server without a prefix cache would do. The ratio counts.
"""

from __future__ import annotations

import argparse
import time

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.render import load_template, load_tokenizer
from prompt_debugger.core.tools.experiments import RenderSetup, follow_turns
from prompt_debugger.core.tools.experiments.variant import Rendered, Variant, render_variant
from prompt_debugger.core.tools.lab import packaged_model_dir

SENTENCE = "The quick brown fox asks about the weather, today and tomorrow. "


def main() -> None:
    """Print one line per size."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--turns", type=int, default=4, help="turns to follow at the end of each conversation")
    options = arguments.parse_args()
    folder = packaged_model_dir()
    template = load_template(folder)
    assert template is not None
    setup = RenderSetup(template, load_tokenizer(folder))
    render_variant(Variant(talk(1), setup))  # starts the worker
    print(f"{'tokens':>9}{'whole s':>10}{'shared s':>10}{'ratio':>8}")
    for sentences in (2, 20, 100):
        print_line(talk(sentences), setup, options.turns)


def talk(sentences: int) -> JSONObject:
    """Return a conversation of 41 messages."""
    messages: list[JSON] = [
        {"role": ("user", "assistant")[index % 2], "content": f"Turn {index}: {SENTENCE * sentences}"}
        for index in range(41)
    ]
    return {"messages": messages}


def print_line(body: JSONObject, setup: RenderSetup, turns: int) -> None:
    """Time both ways on one conversation."""
    messages = body["messages"]
    assert isinstance(messages, list)
    started = time.perf_counter()
    count = 0
    for index in range(len(messages) - 2 * turns, len(messages), 2):
        for stop in (index - 1, index, index + 1):
            made = render_variant(Variant({**body, "messages": messages[:stop]}, setup))
            assert isinstance(made, Rendered)
            count = len(made.keys)
    whole_s = time.perf_counter() - started
    started = time.perf_counter()
    report = follow_turns(body, setup, last=turns)
    shared_s = time.perf_counter() - started
    assert len(report.turns) == turns
    print(f"{count:>9,}{whole_s:>10.2f}{shared_s:>10.2f}{shared_s / whole_s:>8.2f}")


if __name__ == "__main__":
    main()
