"""The prompt has no BOS though this model expects one.

What it finds:
    A prompt whose first id is not BOS, while the tokenizer is set to add BOS or the
    template names `bos_token`. A template may print it conditionally, so this is an
    inference and a warning.

Why it matters:
    Some models write repetitive garbage without BOS, others only get a little
    worse; nothing says so.

Bad:
    `The capital of France is` (first id is a word)

Good:
    `<bos>The capital of France is`

Source:
    tracker: vllm-project/vllm#52304, unslothai/unsloth#10312.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fixes import RequestFix, setting
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_prompt, prompt_of

_JINJA_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)


def find(trace: Trace) -> Iterator[Report]:
    """Compare the first id with what tokenizer and template promise."""
    prompt, vocabulary = prompt_of(trace), trace.vocabulary
    if prompt is None or not prompt.tokens or vocabulary is None or vocabulary.bos_id is None:
        return
    if not vocabulary.adds_bos and "bos_token" not in (prompt.template or ""):
        return
    first = prompt.tokens[0]
    template = _JINJA_COMMENT.sub("", prompt.template or "")
    reasons = [
        reason
        for reason, holds in (
            ("the tokenizer is set to add BOS", vocabulary.adds_bos),
            ("the template names `bos_token`", "bos_token" in template),
        )
        if holds
    ]
    if not reasons or first.id == vocabulary.bos_id:
        return
    yield Report(
        title="The prompt does not start with BOS.",
        detail=(
            f"The first id is {first.id} ({first.text!r}), BOS is {vocabulary.bos_id}, although "
            f"{' and '.join(reasons)}."
        ),
        evidence=(in_prompt(prompt, first.char_span),),
        fix=(
            Step("Let the template print `{{ bos_token }}`.")
            if "bos_token" not in template
            else Step("Give the template a `bos_token`: it names one and prints nothing."),
            Step("Send `add_special_tokens: true`.", {"add_special_tokens": True}),
        ),
        certainty=Certainty.INFERRED,
    )


RULE: Rule = TraceRule(
    code="PD202",
    name="missing-bos",
    severity=Severity.WARNING,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("vllm-project/vllm#52304", "unslothai/unsloth#10312"),
    fixes=(RequestFix("special tokens added", setting(add_special_tokens=True)),),
)
