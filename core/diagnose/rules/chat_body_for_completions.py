"""A chat request is sent to the endpoint for plain completions.

What it finds:
    The pasted command or code sends `messages` to an address that ends in
    `/v1/completions`.

Why it matters:
    That endpoint takes a `prompt` and renders no chat template. vLLM, SGLang and OpenAI
    refuse a body without one; others answer as if nothing had been asked.

Bad:
    `curl http://localhost:8000/v1/completions -d '{"messages": […]}'`

Good:
    `curl http://localhost:8000/v1/chat/completions -d '{"messages": […]}'`

Source:
    publisher: OpenAI, `/v1/completions` and `/v1/chat/completions`.
    derived: the fields that vLLM's `CompletionRequest` declares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request

_NOTICE = re.compile(r"The address points to `/completions/?`")


def find(trace: Trace) -> Iterator[Report]:
    """Report messages that are sent where a prompt is expected."""
    is_elsewhere = any(_NOTICE.match(notice.message) is not None for notice in trace.request.notices)
    if not is_elsewhere or not trace.request.body.get("messages") or "prompt" in trace.request.body:
        return
    yield Report(
        title="The request has `messages`, and its address is `/v1/completions`, which takes a `prompt`.",
        detail="Only `/v1/chat/completions` takes messages and renders the chat template; vLLM, SGLang and OpenAI "
        "refuse a body without `prompt` at that address. It was read as a chat request all the same.",
        evidence=(in_request("messages"),),
        fix="Send it to `/v1/chat/completions`.",
    )


RULE: Rule = TraceRule(
    code="PD144",
    name="chat-body-for-completions",
    severity=Severity.WARNING,
    stage=Stage.REQUEST,
    find=find,
    asks_request_alone=True,
)
