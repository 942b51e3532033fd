"""Two deterministic runs differ: they wrote different tokens.

What it finds:
    Raw completion on the very prompt ids of the chat, at temperature 0 without
    a constraint, that differs from what the chat run wrote.

Why it matters:
    Whatever is concluded from one run about the other is weaker than it looks.
    Causes are a sampling default that one endpoint applies and the other does
    not, a constraint, or numerics that depend on the batch.

Bad:
    Chat wrote 24 tokens, raw completion 31, from one prompt at temperature 0.

Good:
    Equal ids.

Source:
    tracker: vllm-project/vllm#15241.
    derived: greedy decoding has one result.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.comparable import may_constrain
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.text import first_divergence
from prompt_debugger.core.base.types import Basis, Completion, FindingEvidence, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.fields import body_of
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart


def find(trace: Trace) -> Iterator[Report]:
    """Compare the two runs' ids as far as both go."""
    raw, again = trace.raw, trace.raw_again
    if raw is None or again is None or trace.evidence is not Basis.SAME_RUN:
        return
    if again.constraint or raw.constraint or may_constrain(body_of(trace)):
        return
    if raw.token_ids is None or again.token_ids is None or body_of(trace).get("temperature") not in (0, 0.0):
        return
    first = first_divergence(raw.token_ids, again.token_ids)
    if first is None or _is_only_an_end(raw, again, first):
        return
    token_span = Span(first, min(first + 1, len(raw.token_ids)))
    yield Report(
        title=f"Raw completion on the same prompt gave different output from token {first} on.",
        detail=(
            f"The chat wrote {len(raw.token_ids)} tokens, the raw completion {len(again.token_ids)}, both at "
            "temperature 0."
        ),
        evidence=(FindingEvidence("raw", token_span=token_span),),
        fix="Pin all sampling parameters in the request; compare with `--generation-config vllm` "
        "if the server is vLLM.",
    )


def _is_only_an_end(raw: Completion, again: Completion, first: int) -> bool:
    """Return whether one run is the other without its end token, or cut earlier."""
    return first in (len(raw.token_ids or ()), len(again.token_ids or ()))


RULE: Rule = TraceRule(
    code="PD309",
    name="unlike-repeat",
    severity=Severity.NOTE,
    stage=Stage.COMPLETE,
    find=find,
    needs=TracePart.REPEAT,
    threads=("vllm-project/vllm#15241",),
)
