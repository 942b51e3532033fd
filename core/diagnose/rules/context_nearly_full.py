"""Prompt and output fill the context.

What it finds:
    A run in which prompt and output together take 95 % or more of the server's
    context length.

Why it matters:
    The next turn will not fit. An output that ends here may have been cut by
    the context rather than by `max_tokens`, and servers that truncate silently
    drop the system prompt or the tools first.

Bad:
    4,010 tokens of prompt, 80 of output, context 4,096.

Good:
    Room for the next turn.

Source:
    tracker: haoxiang-xu/PuPu#129, ollama/ollama#7987.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.output_limit import prompt_tokens
from prompt_debugger.core.diagnose.own_settings import longer_context
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, completion_tokens

NEARLY_FULL = 0.95


def find(trace: Trace) -> Iterator[Report]:
    """Compare the tokens used with the context length."""
    limit = trace.max_model_len
    used = prompt_tokens(trace)
    written = completion_tokens(trace)
    if limit is None or limit <= 0 or used is None or written is None:
        return
    if used + written < NEARLY_FULL * limit:
        return
    yield Report(
        title=f"Prompt and output fill {min(100, round(100 * (used + written) / limit))} % of the context.",
        detail=f"{used} tokens of prompt and {written} of output; the context holds {limit}.",
        evidence=(FindingEvidence("server", quote=f"max_model_len {limit}"),),
        fix=f"Shorten the history or the tools, or {longer_context(trace)}.",
    )


RULE: Rule = TraceRule(
    code="PD306",
    name="context-nearly-full",
    severity=Severity.WARNING,
    stage=Stage.COMPLETE,
    find=find,
    needs=TracePart.SERVER,
    threads=("haoxiang-xu/PuPu#129", "ollama/ollama#7987"),
    explains=("PD301", "PD302"),
)
