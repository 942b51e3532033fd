"""What tracing costs beside rendering and encoding, as a ratio within one run.

    python -m benchmarks.render [--template FILE] [--repeat N]

For every shape and size it measures, interleaved: the plain render of the reference library,
encoding the text with a vocabulary of 130k tokens, the traced render, and building the spans.
The figure that counts is (traced - plain) / (plain + encode).
"""

from __future__ import annotations

import argparse
import base64
import gc
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.render import traced_render
from prompt_debugger.core.render.job import RenderJob, Variable
from prompt_debugger.core.render.reference import render_plain, warm_up
from prompt_debugger.core.render.tokenizers.tiktoken import build_byte_pairs
from prompt_debugger.core.render.trace.rows import build_rows
from prompt_debugger.core.render.trace.strings import TracedStr

ROOT = Path(__file__).resolve().parents[1]
SENTENCE = 'The quick brown fox asks about the weather in São Paulo, "today" and tomorrow.\n'


def main() -> None:
    """Print one line per shape and size."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--template", type=Path, default=ROOT / "assets" / "lab-model" / "chat_template.jinja")
    arguments.add_argument("--repeat", type=int, default=7)
    options = arguments.parse_args()
    template = options.template.read_text(encoding="utf-8")
    encode = load_encoder()
    warm_up()
    gc.collect()
    gc.freeze()  # as in the worker
    print(
        f"{'shape':<12}{'tokens':>9}{'plain ms':>10}{'encode ms':>11}{'traced ms':>11}{'spans ms':>10}{'tracing %':>11}"
    )
    for shape, build in SHAPES.items():
        for tokens in (1_000, 10_000, 128_000):
            print_line(shape, tokens, RenderJob(template, build(tokens * 4)), encode, options.repeat)


def load_encoder() -> Callable[[str], int]:
    """Return a function that counts the tokens of a text with a vocabulary of real size."""
    import mistral_common

    files = sorted((Path(mistral_common.__file__).parent / "data").glob("tekken*.json"))
    data = json.loads(files[0].read_text(encoding="utf-8"))
    count = data["config"]["default_vocab_size"] - data["config"]["default_num_special_tokens"]
    ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in data["vocab"][:count]}
    library = build_byte_pairs(ranks, data["config"]["pattern"], {count: "<|im_start|>", count + 1: "<|im_end|>"})
    return lambda text: len(library.encode(text, add_special_tokens=False).ids)


def print_line(shape: str, tokens: int, job: RenderJob, encode: Callable[[str], int], repeat: int) -> None:
    """Measure one job and print the medians."""
    text = render_plain(job)
    template = traced_render._compiled(job.template)
    times: dict[str, list[float]] = {"plain": [], "encode": [], "traced": [], "spans": []}
    count = encode(text)

    def trace() -> TracedStr:
        return template.render(traced_render._wrapped_variables(job))

    for _ in range(repeat):
        times["plain"].append(seconds(lambda: render_plain(job)))
        times["encode"].append(seconds(lambda: encode(text)))
        times["traced"].append(seconds(trace))
        made = trace()
        assert str.__eq__(made, text)
        times["spans"].append(seconds(partial(build_rows, made, template.environment.source)))
    plain, encoded, traced, spans = (statistics.median(values) * 1000 for values in times.values())
    share = 100 * (traced - plain) / (plain + encoded)
    print(f"{shape:<12}{count:>9}{plain:>10.2f}{encoded:>11.1f}{traced:>11.2f}{spans:>10.2f}{share:>11.1f}")


def seconds(call: Callable[[], object]) -> float:
    """Return the CPU time of a call."""
    started = time.thread_time()  # CPU time: other processes on the machine do not count
    call()
    return time.thread_time() - started


def _variables(messages: list[JSON], tools: list[JSON] | None) -> tuple[Variable, ...]:
    return (
        Variable("messages", messages, ("messages",)),
        Variable("tools", tools, ("tools",)),
        Variable("add_generation_prompt", value=True),
    )


def _text(size: int) -> str:
    return (SENTENCE * (size // len(SENTENCE) + 1))[:size]


def one_message(size: int) -> tuple[Variable, ...]:
    """One long question."""
    return _variables([{"role": "user", "content": _text(size)}], None)


def many_messages(size: int) -> tuple[Variable, ...]:
    """199 turns."""
    roles = ("user", "assistant")
    return _variables([{"role": roles[i % 2], "content": _text(size // 199)} for i in range(199)], None)


def agent(size: int) -> tuple[Variable, ...]:
    """20 calls with results, 8 tools."""
    messages: list[JSON] = [{"role": "user", "content": "Find out."}]
    for index in range(20):
        name = f"functions.look_up:{index}"
        function: JSON = {"name": "look_up", "arguments": {"query": f"q{index}", "depth": index, "deep": True}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [{"id": name, "function": function}]})
        messages.append({"role": "tool", "tool_call_id": name, "content": _text(size // 20)})
    return _variables(messages, [_tool(index) for index in range(8)])


def tools(size: int) -> tuple[Variable, ...]:
    """As many tools as the size asks for."""
    count = max(1, size // len(json.dumps(_tool(0))))
    return _variables([{"role": "user", "content": "Which?"}], [_tool(index) for index in range(count)])


def _tool(index: int) -> JSONObject:
    properties: JSONObject = {
        f"field_{number}": {"type": "string", "description": f'What "field {number}" means.\nOne line more.'}
        for number in range(6)
    }
    parameters: JSON = {"type": "object", "properties": properties, "required": ["field_0"]}
    return {
        "type": "function",
        "function": {"name": f"tool_{index}", "description": SENTENCE, "parameters": parameters},
    }


SHAPES: dict[str, Callable[[int], tuple[Variable, ...]]] = {
    "one message": one_message,
    "199 turns": many_messages,
    "agent": agent,
    "tools": tools,
}

if __name__ == "__main__":
    main()
