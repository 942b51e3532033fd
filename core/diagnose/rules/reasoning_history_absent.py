"""Reasoning of earlier assistant turns is not in the prompt.

What it finds:
    `reasoning` or `reasoning_content` of assistant messages that the prompt
    lacks. Before the last user message most templates leave it out on purpose:
    a note. After it, in a tool loop that is still running, the model loses the
    thread: a warning.

Why it matters:
    Between tool calls the model starts thinking from scratch, and the next prompt no longer
    continues what was cached.

Bad:
    A tool loop whose assistant message carries `reasoning_content`, and a
    prompt with an empty `<think></think>`.

Good:
    The field under the name that this server reads, and the text in the prompt.

Source:
    tracker: vllm-project/vllm#38488, QwenLM/qwen-code#4285.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSONObject, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fields import numbered_messages, reasoning_of
from prompt_debugger.core.diagnose.fixes import RequestFix, each_message
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_request, prompt_of


def find(trace: Trace) -> Iterator[Report]:
    """Report the reasoning that the prompt lacks, in one report."""
    prompt = prompt_of(trace)
    if prompt is None:
        return
    last_user = -1
    absent: list[tuple[int, str, str]] = []
    for index, message in numbered_messages(trace.request):
        if message.get("role") == "user":
            last_user = index
        reasoning = reasoning_of(message) if message.get("role") == "assistant" else None
        if reasoning is not None and reasoning.text.strip() and reasoning.text.strip() not in prompt.text:
            absent.append((index, f"messages[{index}].{reasoning.field}", reasoning.text))
    if not absent:
        return
    running = [field for index, field, _ in absent if index > last_user]
    where = "the tool loop that is still running" if running else "turns before the last user message"
    yield Report(
        title=f"Reasoning of {where} is not in the prompt.",
        detail=f"Absent: {', '.join(running or [field for _, field, _ in absent])}."
        + ("" if running else " Most templates leave it out there on purpose."),
        evidence=tuple(in_request(field, text) for _, field, text in absent),
        fix=(
            *_other_name(trace, [index for index, _, _ in absent]),
            Step(
                'Send `"chat_template_kwargs": {"preserve_thinking": true}`, which some templates require.',
                {"chat_template_kwargs.preserve_thinking": True},
            ),
            Step("Use a template that prints the reasoning of earlier turns."),
        ),
        severity=None if running else Severity.NOTE,
    )


def _other_name(trace: Trace, indices: list[int]) -> Iterator[Step]:
    """Yield the other wire name of reasoning, unless the messages contain both already."""
    messages = [message for index, message in numbered_messages(trace.request) if index in indices]
    for name, other in (("reasoning", "reasoning_content"), ("reasoning_content", "reasoning")):
        if any(name in message and other not in message for message in messages):
            yield Step(f"Also send it as `{other}`: the template may read that name.")
            return


def _both_names(message: JSONObject) -> None:
    thought = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(thought, str):
        message["reasoning_content"] = message["reasoning"] = thought


RULE: Rule = TraceRule(
    code="PD211",
    name="reasoning-history-absent",
    severity=Severity.WARNING,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("vllm-project/vllm#38488", "QwenLM/qwen-code#4285"),
    fixes=(RequestFix("reasoning sent under both names", each_message(_both_names)),),
)
