"""A prompt given as text begins with BOS, and the server adds another one.

What it finds:
    Without the model's vocabulary: a prompt text that begins with the text of a
    BOS token twice; or once, in a body of plain completions, whose text servers
    tokenize with special tokens. With the vocabulary, ids are counted (PD201).

Why it matters:
    The model reads two BOS tokens. Output gets worse without any error, and
    llama.cpp only warns in its log.

Bad:
    `{"prompt": "<s>[INST]Hi[/INST]"}` to `/v1/completions`

Good:
    `{"prompt": "[INST]Hi[/INST]"}`, or `"add_special_tokens": false`

Source:
    tracker: mdegans/drama_llama#93, abetlen/llama-cpp-python#1501, vllm-project/vllm#16976.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_prompt

_BOS = (
    "<|begin_of_text|>",
    "<｜begin▁of▁sentence｜>",
    "<|startoftext|>",
    "<BOS_TOKEN>",
    "<s>",
    "<bos>",
    "[BOS]",
    "[gMASK]<sop>",
)


def find(trace: Trace) -> Iterator[Report]:
    """Look at the head of a prompt whose tokens are not known."""
    prompt = trace.prompt
    if prompt is None or prompt.tokens is not None or prompt.token_ids is not None or trace.vocabulary is not None:
        return
    bos = next((text for text in _BOS if prompt.text.startswith(text)), None)
    if bos is None:
        return
    rest = prompt.text[len(bos) :]
    body = trace.request.body
    if rest.startswith(bos):
        yield Report(
            title=f"The prompt begins with `{bos}` twice.",
            detail=f"It begins with {prompt.text[:60]!r}: the template writes one BOS, and something adds another.",
            evidence=(in_prompt(prompt, Span(0, 2 * len(bos))),),
            fix=_FIX,
        )
    elif body and "messages" not in body and body.get("add_special_tokens") is not False:
        yield Report(
            title=f"The prompt text begins with `{bos}`, and the server adds one when it tokenizes text.",
            detail=(
                "A body of plain completions is tokenized with special tokens unless the request turns that "
                "off (vLLM and llama.cpp do this), so the model reads two BOS tokens. It begins with "
                f"{prompt.text[:60]!r}."
            ),
            evidence=(in_prompt(prompt, Span(0, len(bos))),),
            fix=_FIX,
            certainty=Certainty.INFERRED,
            severity=Severity.WARNING,
        )


_FIX = (
    Step("Remove BOS from the text, or send `add_special_tokens: false`.", {"add_special_tokens": False}),
    Step("Send token ids instead of text."),
)


RULE: Rule = TraceRule(
    code="PD226",
    name="bos-in-prompt-text",
    severity=Severity.ERROR,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("mdegans/drama_llama#93", "abetlen/llama-cpp-python#1501", "vllm-project/vllm#16976"),
)
