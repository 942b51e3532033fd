"""The server's log says that it read a prompt again from its beginning.

What it finds:
    llama.cpp's line about a prompt whose cached part it could not use, and the one before it,
    which says at which token the prompt differs from the one in the cache.

Why it matters:
    A model with sliding-window or recurrent memory can go back only to a checkpoint. Where each
    turn changes something near the beginning of the prompt, each turn of an agent waits for
    the whole prompt again: minutes where seconds would do.

Bad:
    `forcing full prompt re-processing due to lack of cache data`

Good:
    Each prompt begins with the whole of the one before it.

Source:
    tracker: ggml-org/llama.cpp#21831, ggml-org/llama.cpp#22746.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart

_LOST = "forcing full prompt re-processing due to lack of cache data"
_IN_CACHE = re.compile(r"n_past = (\d{1,9}), slot\.prompt\.tokens\.size\(\) = (\d{1,9})")
_FIX = (
    Step(
        "Find what changes between two requests: `prompt-debugger sessions` shows the first message that does. Often "
        "it is reasoning that the template leaves out of earlier turns, a date or id in the system message, or a "
        "client that shortens its history."
    ),
    Step(
        "Start llama-server with more `--ctx-checkpoints`, or, where only attention with a sliding window is the "
        "reason, with `--swa-full`, which needs more memory."
    ),
)


def find(trace: Trace) -> Iterator[Report]:
    """Look for the line in the server's log."""
    lines = trace.server_warnings
    lost = next((line for line in lines if line.startswith(_LOST)), None)
    if lost is None:
        return
    cached = next((found for line in lines if (found := _IN_CACHE.match(line)) is not None), None)
    place = ""
    if cached is not None and int(cached[1]) < int(cached[2]):
        place = (
            f" It is the same as the prompt in the cache, of {int(cached[2]):,} tokens, up to token {int(cached[1]):,} "
            "and differs from there on."
        )
    yield Report(
        title="llama.cpp read the whole prompt again: none of its cache could be used.",
        detail=f"The server's log says so.{place} The usual reason is sliding-window or recurrent memory: a model with "
        "it can go back only to a checkpoint.",
        evidence=(FindingEvidence("server", quote=lost),),
        fix=_FIX,
    )


RULE: Rule = TraceRule(
    code="PD235",
    name="cache-lost-in-log",
    severity=Severity.WARNING,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.SERVER,
    threads=("ggml-org/llama.cpp#21831", "ggml-org/llama.cpp#22746"),
)
