"""The server's log warns that the model did not read all of the prompt.

What it finds:
    Ollama's and llama.cpp's lines about a prompt that they cut to the context, and
    llama.cpp's about a context from which it discarded tokens to continue.

Why it matters:
    The oldest messages and the tools go first. The answer comes with status 200 and does
    not mention it: the model seems to forget, or to ignore its tools.

Bad:
    `msg="truncating input prompt" limit=2048 prompt=8632 keep=4 new=2048`

Good:
    No line of this kind: prompt and output fit into the context.

Source:
    tracker: ollama/ollama#7987.
    derived: lines of Ollama's runner and of llama.cpp's server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart

_OLLAMA = re.compile(r"truncating input prompt\"? limit=(\d{1,9}) prompt=(\d{1,9})")
_OLLAMA_MESSAGES = re.compile(r"truncating input messages which exceed context length\"? truncated=(\d{1,9})")
_OLLAMA_SHIFT = re.compile(r"context limit hit - shifting\"? id=\d{1,9} limit=(\d{1,9}) .{0,40}?discard=(\d{1,9})")
_LLAMA_CPP = re.compile(r"input truncated(?:, n_ctx = | \| n_ctx=)(\d{1,9})")
_TOO_LONG = re.compile(r"new prompt, n_ctx_slot = (\d{1,9}), .{0,40}?(?:n_prompt_tokens|n_tokens) = (\d{1,9})")
_TRUNCATED = re.compile(r"slot +release: .{0,80}\btruncated = 1\b")
_SHIFTED = re.compile(r"slot context shift, n_keep = (\d{1,9})(?:.{0,40}?n_discard = (\d{1,9}))?")
_OF_OLLAMA: Sequence[Step] = (
    Step("Raise `num_ctx` (`options.num_ctx` of the request, `OLLAMA_CONTEXT_LENGTH` of the server)."),
)
_OF_LLAMA_CPP: Sequence[Step] = (
    Step("Start llama-server with a larger `--ctx-size`; `--parallel` divides it among its slots."),
    Step("Shorten the history or the tools."),
)


def find(trace: Trace) -> Iterator[Report]:
    """Look for the warnings in the lines of the server's log."""
    for line in trace.server_warnings:
        if (found := _OLLAMA.match(line)) is not None:
            title = f"Ollama cut the prompt from {found[2]} to {found[1]} tokens."
            detail, fix = "The context is full: the oldest messages were not read.", _OF_OLLAMA
        elif (found := _OLLAMA_MESSAGES.match(line)) is not None:
            title = f"Ollama left the oldest messages out of the prompt: `truncated={found[1]}`."
            detail, fix = "The history does not fit the context.", _OF_OLLAMA
        elif (found := _OLLAMA_SHIFT.match(line)) is not None:
            title = f"Ollama discarded {found[2]} tokens of a full context of {found[1]} to continue."
            detail, fix = "While it keeps writing, the model no longer sees that part of the prompt.", _OF_OLLAMA
        elif (found := _LLAMA_CPP.match(line)) is not None:
            title = f"llama.cpp cut the prompt to fit a context of {found[1]} tokens."
            detail, fix = "Part of the prompt was not read.", _OF_LLAMA_CPP
        elif (found := _TOO_LONG.match(line)) is not None:
            title = f"A prompt of {int(found[2]):,} tokens was sent to a context of {int(found[1]):,}."
            detail, fix = (
                "llama.cpp either cuts or refuses a prompt that is too long, depending on its release.",
                _OF_LLAMA_CPP,
            )
        elif (found := _SHIFTED.match(line)) is not None:
            title = f"llama.cpp discarded {found[2] or 'some'} tokens of the context to continue."
            detail = f"The context was full: of the prompt only the first {found[1]} tokens were certainly kept."
            fix = (*_OF_LLAMA_CPP, Step("Start it with `--no-context-shift`, so that it ends the answer instead."))
        elif _TRUNCATED.match(line) is not None:
            title = "llama.cpp did not keep the whole context: `truncated = 1`."
            detail, fix = "Prompt and output did not fit: a part of it was dropped.", _OF_LLAMA_CPP
        else:
            continue
        evidence = (FindingEvidence("server", quote=line),)
        yield Report(title=title, detail=f"The server's log says so. {detail}", evidence=evidence, fix=fix)


RULE: Rule = TraceRule(
    code="PD231",
    name="prompt-cut-in-log",
    severity=Severity.ERROR,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.SERVER,
    threads=("ollama/ollama#7987",),
)
