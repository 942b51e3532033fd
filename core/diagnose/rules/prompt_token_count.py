"""The server's count of prompt tokens differs from that of our own render.

What it finds:
    Where the server does not show its prompt: `usage.prompt_tokens` that is not
    the number of tokens of the local render, give or take one (BOS). Silent where the
    difference is what the server counts as read from a cache, apart from these, and for
    requests with images, sound or video, whose tokens the render lacks.

Why it matters:
    It is all that this kind of server reports about its prompt. A different count means a
    different prompt: another template, a system text added by the provider, tools written
    differently, or another tokenizer.

Bad:
    166 prompt tokens, and 140 in the render of the same request.

Good:
    140 and 140.

Source:
    publisher: `usage` of chat completions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_list, as_object
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import body_of, numbered_messages, request_tools
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, counted_beyond_render

_CACHED = re.compile(
    r'"(cached_tokens|cache_read_input_tokens|cache_creation_input_tokens|prompt_cache_hit_tokens)"'
    r"\s{0,8}:\s{0,8}(\d{1,9})"
)
_MAX_CHARS = 20_000  # of an answer, at whose end the counts are


def find(trace: Trace) -> Iterator[Report]:
    """Compare the server's count with our own render."""
    beyond = counted_beyond_render(trace)
    if not beyond or _has_media(trace) or trace.local_prompt is None:
        return
    if beyond < 0 and any(abs(beyond + apart) <= 1 for apart in _cached(trace)):
        return  # the rest was counted apart
    rendered = len(trace.local_prompt.tokens or ())
    counted = rendered + beyond
    yield Report(
        title=f"The server counted {counted} prompt tokens where our own render has {rendered}.",
        detail=f"The server does not show its prompt. {_suspect(trace, is_shorter=counted < rendered)}",
        evidence=(FindingEvidence("server", field="usage.prompt_tokens", quote=str(counted)),),
        fix=(
            f"`render REQUEST --prompt-tokens {counted}` searches for the setting that gives this count. Check "
            "that the tokenizer is the model's own."
        ),
    )


def _cached(trace: Trace) -> tuple[int, ...]:
    """Return the numbers of tokens that the answer counts as read from a cache, and their sum with those written."""
    body = "" if trace.chat is None else trace.chat.body[-_MAX_CHARS:]
    last = {found[1]: int(found[2]) for found in _CACHED.finditer(body)}
    return (*last.values(), sum(last.values()))


def _suspect(trace: Trace, *, is_shorter: bool) -> str:
    if is_shorter and request_tools(trace.request) and body_of(trace).get("tool_choice") != "none":
        return "It read less than the template prints: tools, reasoning or a default text may not have reached it."
    if is_shorter:
        return "It read less than the template prints."
    if body_of(trace).get("add_generation_prompt") is False:
        return (
            "It read more than the template prints: it may ignore `add_generation_prompt: false` and open the "
            "assistant's turn, as mlx-lm and llama-cpp-python do."
        )
    return (
        "It read more than the template prints: it uses another template, or a gateway or the provider changes the "
        "messages or adds text."
    )


def _has_media(trace: Trace) -> bool:
    parts = (as_object(part) for _, one in numbered_messages(trace.request) for part in as_list(one.get("content")))
    return any(part.get("type") != "text" for part in parts)


RULE: Rule = TraceRule(
    code="PD219",
    name="prompt-token-count",
    severity=Severity.WARNING,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.ANSWER,
)
