"""The prompt starts with two BOS tokens.

What it finds:
    Two or more BOS ids at the head of the prompt; where ids are not known, the
    BOS text twice at the head of the prompt text.

Why it matters:
    The template writes BOS and the tokenizer adds another. No model was trained on that:
    quality drops without any error.

Bad:
    `<|begin_of_text|><|begin_of_text|><|start_header_id|>…`

Good:
    `<|begin_of_text|><|start_header_id|>…`

Source:
    tracker: abetlen/llama-cpp-python#1501, vllm-project/vllm#16976, sgl-project/sglang#888.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Finding, Prompt, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fixes import RequestFix, TemplateFix, setting
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_prompt, prompt_of

_BOS = re.compile(r"\{\{[-+]?\s*bos_token\s*[-+]?\}\}")


def find(trace: Trace) -> Iterator[Report]:
    """Count BOS at the head of the prompt."""
    prompt, vocabulary = prompt_of(trace), trace.vocabulary
    if prompt is None or vocabulary is None or vocabulary.bos_id is None:
        return
    bos = vocabulary.special.get(vocabulary.bos_id, "")
    count = _count(prompt, vocabulary.bos_id, bos)
    if count < 2:
        return
    yield Report(
        title=f"The prompt starts with {count} BOS tokens.",
        detail=f"The first {count} ids are {vocabulary.bos_id}"
        + (f" (`{bos}`)" if bos else "")
        + ": the template writes one, and tokenizing the text adds another.",
        evidence=(in_prompt(prompt, Span(0, len(bos) * count)),),
        fix=(
            Step("Tokenize the rendered text with `add_special_tokens: false`.", {"add_special_tokens": False}),
            Step("Remove BOS from the template, or send token ids instead of text."),
        ),
    )


def _count(prompt: Prompt, bos_id: int, bos: str) -> int:
    count = 0
    if prompt.tokens is not None:
        while count < len(prompt.tokens) and prompt.tokens[count].id == bos_id:
            count += 1
        return count
    while bos and prompt.text.startswith(bos, count * len(bos)):
        count += 1
    return count


def _drop_bos(prompt: Prompt, _: Finding) -> str | None:
    return None if prompt.template is None else _BOS.sub("", prompt.template, count=1)


RULE: Rule = TraceRule(
    code="PD201",
    name="double-bos",
    severity=Severity.ERROR,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("abetlen/llama-cpp-python#1501", "vllm-project/vllm#16976", "sgl-project/sglang#888"),
    fixes=(
        RequestFix("no special tokens added", setting(add_special_tokens=False)),
        TemplateFix(_drop_bos),
    ),
)
