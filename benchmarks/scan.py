"""The census and the ledger: throughput on ordinary outputs, and growth with the length of the text.

The growth figures are ratios within one run (time for twice the text over time for the text):
near 2 is linear, near 4 is quadratic. They hold on a busy machine, the seconds do not.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from functools import partial

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.formats import FORMATS, pick_format
from prompt_debugger.core.parse import build_ledger

N_MESSAGES = 2_000
LONG_CHARS = 1_000_000
TOOL: JSONObject = {
    "type": "function",
    "function": {"name": "get_weather", "parameters": {"properties": {"city": {"type": "string"}}}},
}
CONTEXT = ReadContext(tools=(TOOL,))
CALLS = {
    "kimi_k2": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
        '<|tool_call_argument_begin|>{"city": "Beijing"}<|tool_call_end|><|tool_calls_section_end|>'
    ),
    "hermes": '\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Beijing"}}\n</tool_call>',
    "qwen3_coder": (
        "\n<tool_call>\n<function=get_weather>\n<parameter=city>\nBeijing\n</parameter>\n</function>\n</tool_call>"
    ),
    "pythonic": '\n[get_weather(city="Beijing")]',
}
# Texts made to hurt: openers without closers, strings that never end, closers by the thousand.
HOSTILE = {
    "openers": "<tool_call>",
    "unclosed strings": '<tool_call>{"a',
    "nested objects": '<tool_call>{"a":',
    "unclosed values": "<function=f><parameter=a>x</parameter>y",
    "unclosed lists": "[TOOL_CALLS][{",
    "reasoning blocks": "\n<think>x</think>",
    "brackets": "[f(a=",
    "stray quotes": "[get_weather(city='a' b\n",
    "message headers": " to=f<|message|>",
    "blocks": "<|content_text|>x",
    "closers": "a </think> b",
    "fences": "```\n<tool_call>{}</tool_call>\n",
}


def main() -> None:
    """Print one line per figure."""
    for name, call in CALLS.items():
        measure_throughput(name, "<think>They ask for the weather.</think>Let me look." + call + "<|im_end|>")
    measure_long()
    for name, unit in HOSTILE.items():
        measure_growth(name, unit)
    measure_ledger_growth()


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of one run of `work`."""
    began = time.process_time()
    work()
    return time.process_time() - began


def measure_throughput(name: str, raw: str) -> None:
    """Detection, reading and ledger of ordinary messages, one core."""
    message: JSONObject = {
        "content": "Let me look.",
        "tool_calls": [{"id": "x", "function": {"name": "get_weather", "arguments": json.dumps({"city": "Beijing"})}}],
    }

    def work() -> None:
        for _ in range(N_MESSAGES):
            parsed = pick_format(raw, CONTEXT).read(raw, CONTEXT)
            build_ledger(raw, parsed, message)

    seconds = cpu_seconds(work)
    print(
        f"{name:12} {N_MESSAGES / seconds:8.0f} messages/s of {len(raw)} characters, detected, read and accounted for"
    )


def measure_long() -> None:
    """One long answer without any structure."""
    raw = "The quick brown fox jumps over the lazy dog.\n" * (LONG_CHARS // 45)
    seconds = cpu_seconds(lambda: pick_format(raw, CONTEXT).read(raw, CONTEXT))
    print(f"plain text   {len(raw) / seconds / 1e6:8.1f} million characters/s")


def measure_growth(name: str, unit: str) -> None:
    """Read hostile text with every format, at two lengths; report the worst."""
    worst_name, worst, ratio = "", 0.0, 0.0
    once, twice = unit * (60_000 // len(unit)), unit * (120_000 // len(unit))
    for format_name, model_format in FORMATS.items():
        first = cpu_seconds(partial(model_format.read, once, CONTEXT))
        second = cpu_seconds(partial(model_format.read, twice, CONTEXT))
        if second > worst:
            worst_name, worst, ratio = format_name, second, second / max(first, 1e-6)
    print(f"hostile {name:18} worst {worst_name:14} {worst:6.2f} s for 120,000 characters, growth x{ratio:.1f}")


def measure_ledger_growth() -> None:
    """Account for a long answer of which a server lost and changed pieces, at two lengths."""
    seconds = []
    for length in (LONG_CHARS // 2, LONG_CHARS):
        rng = random.Random(1)
        words = [f"word{rng.randrange(5000)} " for _ in range(length // 9)]
        raw = "".join(words)
        shown = "".join("changed " if index % 97 == 0 else word for index, word in enumerate(words) if index % 89)
        parsed = FORMATS["generic"].read(raw, ReadContext())
        message: JSONObject = {"content": shown}
        seconds.append(cpu_seconds(partial(build_ledger, raw, parsed, message)))
    print(f"ledger       {seconds[1]:6.2f} s for {LONG_CHARS:,} characters, growth x{seconds[1] / seconds[0]:.1f}")


if __name__ == "__main__":
    main()
