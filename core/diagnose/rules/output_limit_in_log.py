"""The server's log says that a limit ended the output.

What it finds:
    llama.cpp's line about an output that `n_predict` or the context ended, in a log without
    the output and without the answer; if one is available, its finish_reason says the same.

Why it matters:
    The answer stops in the middle: the arguments of a call are cut, or only the reasoning
    of a reasoning model arrived.

Bad:
    `stopped by limit, n_decoded = 64, n_predict = 64`

Good:
    `stopped by EOS`

Source:
    derived: lines of llama.cpp's server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart

_BY_LIMIT = re.compile(r"stopped by limit, n_decoded = (\d{1,9})(?:, n_predict = (-?\d{1,9}))?")
_BY_CONTEXT = re.compile(r"stopped due to running out of context capacity, ")


def find(trace: Trace) -> Iterator[Report]:
    """Look for the lines in the server's log."""
    if trace.server is None or trace.raw is not None or trace.chat is not None:
        return
    for line in trace.server.log_warnings:
        if (found := _BY_LIMIT.match(line)) is not None:
            title = f"The output was ended after {found[1]} tokens by its limit."
            fix = "Raise `max_tokens` (`n_predict`) of the request, or of the server (`--n-predict`)."
        elif _BY_CONTEXT.match(line) is not None:
            title = "The output was ended by the end of the context."
            fix = "Start llama-server with a larger `--ctx-size`, or shorten the history or the tools."
        else:
            continue
        evidence = (FindingEvidence("server", quote=line),)
        yield Report(
            title=title, detail="The server's log says so; the answer is incomplete.", evidence=evidence, fix=fix
        )


RULE: Rule = TraceRule(
    code="PD325",
    name="output-limit-in-log",
    severity=Severity.WARNING,
    stage=Stage.COMPLETE,
    find=find,
    needs=TracePart.SERVER,
)
