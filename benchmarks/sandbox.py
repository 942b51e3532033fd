"""The killable sandbox: what a round trip costs, for nothing, for a usual run and for one of 200,000 tokens.

Also what its lock costs: a forked process, and a job, with the kernel's part of the lock and without it.

Claims: asking the sandbox costs less than reading a usual run does; a run of 200,000 tokens stays under a third of the
processor time that the sandbox gives it.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from statistics import median

from prompt_debugger.core.base.types import (
    ChatResult,
    Completion,
    JSONObject,
    Prompt,
    PromptSpan,
    Request,
    Span,
    SpanKind,
    Token,
    TokenKind,
    Trace,
)
from prompt_debugger.core.pipeline.reading import read_run
from prompt_debugger.core.sandbox import sandbox_of
from prompt_debugger.core.sandbox.frames import HEADER, pack, unpack
from prompt_debugger.core.sandbox.kernel import Kernel

USUAL_TOKENS = 2_000
MANY_TOKENS = 200_000
SHARE_LIMIT = 1 / 3
TOOL: JSONObject = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string", "pattern": "^[A-Z]"}}},
    },
}


def tokens_of(words: list[str]) -> tuple[Token, ...]:
    """Return a token table, one token per word."""
    tokens, start = [], 0
    for number, word in enumerate(words):
        span = Span(start, start + len(word))
        tokens.append(Token(number % 50_000, word, span, TokenKind.TEXT, word.encode(), "messages[0].content"))
        start = span.stop
    return tuple(tokens)


def trace_of(n_tokens: int) -> Trace:
    """Return a run with a prompt of so many tokens and a tenth of that as output, one call at its end."""
    words = [f" w{number}" for number in range(n_tokens)]
    text = "".join(words)
    spans = (PromptSpan(Span(0, len(text)), SpanKind.REQUEST, "messages[0].content", Span(0, len(text))),)
    prompt = Prompt(source="server", text=text, spans=spans, tokens=tokens_of(words), identical=True)
    call = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
    written = [*words[: n_tokens // 10], *call.split(" ")]
    function: JSONObject = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    message: JSONObject = {
        "role": "assistant",
        "content": "".join(words[: n_tokens // 10]),
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
    }
    raw_tokens = tokens_of(written)
    return Trace(
        request=Request({"messages": [{"role": "user", "content": text}], "tools": [TOOL]}, text),
        prompt=prompt,
        local_prompt=prompt,
        raw=Completion("".join(words[: n_tokens // 10]) + call, None, "stop", tokens=raw_tokens),
        chat=ChatResult(message, "tool_calls"),
    )


def in_sandbox(trace: Trace) -> None:
    """Read a run in the sandbox."""
    sandbox_of().follow(read_run, lambda _: None, trace, frozenset())


def in_place(trace: Trace) -> None:
    """Read a run here."""
    for _ in read_run(trace, frozenset()):
        pass


def median_s(action: Callable[..., object], rounds: int, *args: object) -> float:
    """Return the median of so many rounds."""
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        action(*args)
        taken.append(time.perf_counter() - began)
    return median(taken)


ROUNDS = 400


def lock_cost() -> tuple[float, float, float, float]:
    """Return what a process costs from its start to its end, and a job in it: without the kernel's part, and with it.

    Seconds, the middle of many; a job is what one does of system calls: reading, writing, asking for memory.
    """
    figures = [(born_s(is_locked=is_locked), job_s(is_locked=is_locked)) for is_locked in (False, True)]
    (born_free_s, job_free_s), (born_locked_s, job_locked_s) = figures
    return born_free_s, born_locked_s, job_free_s, job_locked_s


def lock_of_kernel() -> None:
    """Lock this process as one of the sandbox is."""
    kernel = Kernel()
    kernel.give_up_files(None)
    kernel.give_up_calls(has_threads=False, is_reading=False)


def born_s(*, is_locked: bool) -> float:
    """Return the time from a fork to the end of the child."""
    taken = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        if (pid := os.fork()) == 0:
            if is_locked:
                lock_of_kernel()
            os._exit(0)
        os.waitpid(pid, 0)
        taken.append(time.perf_counter() - began)
    return median(taken)


def job_s(*, is_locked: bool) -> float:
    """Return the time of a job's system calls."""
    mine, theirs = os.pipe()
    if (pid := os.fork()) == 0:
        there, here = os.pipe()
        if is_locked:
            lock_of_kernel()
        taken = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            for _ in range(20):
                os.write(here, b"x" * 4096)
                os.read(there, 4096)
                bytearray(1 << 20)
                resource.setrlimit(resource.RLIMIT_AS, resource.getrlimit(resource.RLIMIT_AS))
            taken.append(time.perf_counter() - began)
        os.write(theirs, repr(median(taken)).encode())
        os._exit(0)
    os.close(theirs)
    answer = os.read(mine, 100)
    os.waitpid(pid, 0)
    os.close(mine)
    return float(answer)


def main() -> int:
    """Print the figures; returns 1 if a claim does not hold."""
    if hasattr(os, "fork"):
        born_free_s, born_locked_s, job_free_s, job_locked_s = lock_cost()
        print(
            f"the kernel's lock: a process {born_free_s * 1e3:.2f} → {born_locked_s * 1e3:.2f} ms   "
            f"80 system calls of a job {job_free_s * 1e6:.0f} → {job_locked_s * 1e6:.0f} µs "
            f"({job_locked_s / job_free_s:.2f} times)"
        )
    nothing = Trace(Request({}, ""))
    first_s = median_s(in_sandbox, 1, nothing)
    print(f"first job, the process started for it   {first_s:8.3f} s")
    nothing_s = median_s(in_sandbox, 30, nothing) - median_s(in_place, 30, nothing)
    print(f"the round trip alone                    {nothing_s * 1e3:8.2f} ms")
    usual_s = 0.0
    for n_tokens, rounds in ((MANY_TOKENS, 3), (USUAL_TOKENS, 15)):
        trace = trace_of(n_tokens)
        frame = pack(trace)
        usual_s, there_s = median_s(in_place, rounds, trace), median_s(in_sandbox, rounds, trace)
        pack_s, unpack_s = median_s(pack, rounds, trace), median_s(unpack, rounds, frame[HEADER:])
        print(
            f"{n_tokens:7,} tokens: here {usual_s * 1e3:8.1f} ms   in the sandbox {there_s * 1e3:8.1f} ms   "
            f"(pack {pack_s * 1e3:.1f} ms, unpack {unpack_s * 1e3:.1f} ms, {len(frame) / 1e6:.1f} MB)"
        )
    before = time.process_time()
    in_place(trace_of(MANY_TOKENS))
    share = (time.process_time() - before) / read_run.limits.cpu_s
    print(f"{MANY_TOKENS:,} tokens use {share:.0%} of the {read_run.limits.cpu_s:g} s of processor time they may")
    sandbox_of().close()
    return int(nothing_s > usual_s or share > SHARE_LIMIT)


if __name__ == "__main__":
    sys.exit(main())
