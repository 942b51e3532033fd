"""The request switches thinking off, and the answer contains reasoning.

What it finds:
    A switch of the request that turns thinking off (`chat_template_kwargs.enable_thinking`,
    `thinking.type`, `reasoning_effort`, Ollama's `think`), and an answer with text in its
    reasoning, or a reasoning block in content, in addition to content or calls. Where the prompt
    is known, what the template did with the switch is another rule's.

Why it matters:
    The model spends tokens and time on reasoning that no one asked for. The switch did not
    reach the template: servers drop fields that they do not know, and some models only think.

Bad:
    `{"enable_thinking": false}` next to `messages`, to a server that reads it in
    `chat_template_kwargs`.

Good:
    `{"chat_template_kwargs": {"enable_thinking": false}}`

Source:
    tracker: vllm-project/vllm#43401, ollama/ollama#15288, OpenBMB/UltraRAG#287.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fields import content_of, reasoning_of, returned_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.taken import reads
from prompt_debugger.core.diagnose.thinking import switched_off, think_less
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message, in_request, opens_with_thought, prompt_of
from prompt_debugger.core.diagnose.words import counted

_KWARGS = "chat_template_kwargs."


def find(trace: Trace) -> Iterator[Report]:
    """Report the switch and the reasoning that came all the same."""
    off = switched_off(trace)
    if off is None or trace.chat is None or trace.chat.error or prompt_of(trace) is not None:
        return
    content = content_of(trace.chat.message) or ""
    reasoning = reasoning_of(trace.chat.message)
    field, text = _thought(content) if reasoning is None else (reasoning.field, reasoning.text)
    if not text.strip() or not (content.strip() or returned_calls(trace)):
        return
    yield Report(
        title=f"`{off}` switches thinking off, and the answer contains reasoning.",
        detail=f"`{field}` contains {counted(len(text), 'character')} of reasoning. The switch did not reach the "
        "template, or the model has none.",
        evidence=(in_request(off), in_message(field, text[:80])),
        fix=(
            *(() if off.startswith(_KWARGS) and reads(trace, (off,)) else (think_less(trace),)),
            Step(
                "Check that the switch is this model's and reaches the server: OpenAI's Python client sends "
                "it only in `extra_body`, gateways drop what they do not know, and templates name it differently."
            ),
            Step("Models that only think have no switch: use the variant that answers directly."),
        ),
        certainty=Certainty.INFERRED,
    )


def _thought(content: str) -> tuple[str, str]:
    """Return the reasoning block that content begins with; an empty one where it begins with none."""
    pair = opens_with_thought(content)
    if pair is None:
        return "content", ""
    inner = content.partition(pair.opener)[2].partition(pair.closer)[0]
    return "content", inner


RULE: Rule = TraceRule(
    code="PD233",
    name="thinking-not-off",
    severity=Severity.WARNING,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.ANSWER,
    threads=("vllm-project/vllm#43401", "ollama/ollama#15288", "OpenBMB/UltraRAG#287"),
)
