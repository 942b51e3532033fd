"""The prompt ends without opening the assistant's turn.

What it finds:
    The template, rendered with and without `add_generation_prompt`, gives the
    assistant header. A prompt that does not end with it is reported, unless
    the last message is the assistant's own (a prefill). Reasoning markers
    after the header are allowed. Our own render is not evidence where the server counted more
    tokens than it has. A template that has no header at all is
    reported only if the prompt ends with a closed turn: families that answer
    straight after the user's turn need none.

Why it matters:
    The model continues as the last speaker: it ends at once, or speaks as the user, and
    tool calls become rare. The fault is in the prompt, so the stage is `render`, even if a
    field of the request asked for it; the fix names that field.

Bad:
    `…<|im_user|>user<|im_middle|>Weather?<|im_end|>`

Good:
    `…Weather?<|im_end|><|im_assistant|>assistant<|im_middle|>`

Source:
    publisher: Kimi K2 report on the vLLM blog, 2025-10-28.
    tracker: huggingface/transformers#34253, oobabooga/textgen#7565.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Advice, Step
from prompt_debugger.core.diagnose.fields import body_of, last_role
from prompt_debugger.core.diagnose.fixes import RequestFix, drop_fields
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.tail import Tail, read_tail
from prompt_debugger.core.diagnose.trace_queries import (
    TracePart,
    counted_beyond_render,
    in_message,
    in_prompt,
    in_request,
)


def find(trace: Trace) -> Iterator[Report]:
    """Report a prompt that does not end with the assistant header."""
    tail = read_tail(trace)
    if tail is None or tail.repeats or not (tail.header or tail.turn_end):
        return
    if tail.prompt is trace.local_prompt and counted_beyond_render(trace) > 0:
        return  # what the server read beyond our render may be that header
    asked = body_of(trace).get("add_generation_prompt") is False
    role = last_role(trace.request) or "last"
    expected = f"`{tail.header}`" if tail.header else "an assistant header, which the template does not print here"
    evidence = [in_prompt(tail.prompt, tail.end)]
    speaker = None if trace.chat is None else as_text(trace.chat.message.get("role"))
    if speaker not in (None, "assistant"):
        evidence.append(in_message("role", speaker))
    if asked:
        evidence.append(in_request("add_generation_prompt", "false"))
    yield Report(
        title=f"The prompt ends at a {role} turn: no generation prompt.",
        detail=f"The prompt ends with {tail.prompt.text[-40:]!r}; expected {expected}."
        + (" The request sets `add_generation_prompt` to false." if asked else "")
        + (f" The answer identifies itself as the {speaker}'s." if speaker not in (None, "assistant") else ""),
        evidence=tuple(evidence),
        fix=_fix(tail, asked=asked),
        # Rendering training data without the header is a thing people do on purpose; asking a model is not.
        severity=Severity.NOTE if asked and tail.prompt.source == "local" else None,
    )


def _fix(tail: Tail, *, asked: bool) -> Advice:
    if asked:
        return "Leave out `add_generation_prompt: false`, or set it to true."
    if not tail.header:
        return (
            "Have the template open the assistant's turn after this last turn, too, where `add_generation_prompt` is "
            "set: a newer template of the model may do so."
        )
    return (
        Step("Send `add_generation_prompt: true`.", {"add_generation_prompt": True}),
        Step(
            "Use a tokenizer that accepts the argument `add_generation_prompt`: the template has the "
            "header, and the argument did not reach it."
        ),
    )


RULE: Rule = TraceRule(
    code="PD203",
    name="missing-generation-prompt",
    severity=Severity.ERROR,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=(
        "vllm-project/vllm-project.github.io#110",
        "huggingface/transformers#34253",
        "oobabooga/textgen#7565",
    ),
    fixes=(
        RequestFix(
            "add_generation_prompt left out",
            lambda trace, _: drop_fields(trace.request.body, ["add_generation_prompt"]),
        ),
    ),
)
