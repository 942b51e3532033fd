"""Reasoning appears where the request promises JSON.

What it finds:
    An empty content and text in reasoning, or reasoning tags in content, where
    the request promises JSON and no limit cut the answer. Where the request switches thinking
    off, the text in reasoning is the answer itself, which PD459 reports.

Why it matters:
    Constraint and reasoning work against each other: the grammar forced the
    JSON into a block that was still open, or it never began because the server
    did not see the end of reasoning.

Bad:
    `"response_format": {"type": "json_object"}`, content null, reasoning `{"a": 1}`

Good:
    content `{"a": 1}`

Source:
    tracker: vllm-project/vllm#47027, vllm-project/vllm#50948, ollama/ollama#12831.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fields import content_of, reasoning_of
from prompt_debugger.core.diagnose.hosted import hosted_by
from prompt_debugger.core.diagnose.parser_setup import way_for_thoughts
from prompt_debugger.core.diagnose.promised import Breach, breach_of, promised_json
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.thinking import switched_off, think_less
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message, in_request


def find(trace: Trace) -> Iterator[Report]:
    """Report reasoning in place of JSON."""
    promise = promised_json(trace)
    breach = None if promise is None else breach_of(trace, promise)
    if promise is None or breach is None or breach[0] is not Breach.REASONING or trace.chat is None:
        return
    content, reasoning = content_of(trace.chat.message) or "", reasoning_of(trace.chat.message)
    if switched_off(trace) is not None and reasoning is not None and not content.strip():
        return  # no thoughts: the reasoning parser took the answer, which has its own rule
    field, text = reasoning if reasoning is not None and not content.strip() else ("content", content)
    yield Report(
        title=f"Reasoning appears where `{promise.field}` promises JSON.",
        detail=f"In this answer, {breach[1]}: {text[:80]!r}.",
        evidence=(in_message(field, text), in_request(promise.field, promise.kind)),
        fix=(
            *([] if field != "content" else _split_off(trace)),  # what is in its field was split off
            think_less(trace),
        ),
    )


def _split_off(trace: Trace) -> tuple[Step, ...]:
    """Return how the server is started so that it splits thoughts off; nothing where no client can do that."""
    if hosted_by(trace) is not None:
        return ()
    if (way := way_for_thoughts(trace)) is not None:
        return (Step(way),)
    text = "Start the server with a reasoning parser, so that the constraint waits for the end of reasoning."
    return (Step(text, server={"has_reasoning_parser": True}),)


RULE: Rule = TraceRule(
    code="PD513",
    name="reasoning-for-json",
    severity=Severity.ERROR,
    stage=Stage.CONTRACT,
    find=find,
    needs=TracePart.ANSWER,
    threads=("vllm-project/vllm#47027", "vllm-project/vllm#50948", "ollama/ollama#12831"),
    explains=("PD459",),
)
