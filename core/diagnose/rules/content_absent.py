"""A text of the request does not occur in the prompt.

What it finds:
    For every text of every message, tool results included: does it occur in the
    prompt, as it is, trimmed, JSON-escaped, or with its whitespace changed? A
    text that does not is reported with its message. Assistant text is compared
    without its reasoning block, which templates leave out on purpose, and system
    text without the billing header of Claude Code, which servers remove.

Why it matters:
    The model answers a question it has not read, or calls a tool again whose
    result has vanished. The server says nothing.

Bad:
    Request `{"role": "tool", "content": "15 °C"}`, prompt `<tool_response></tool_response>`

Good:
    Prompt `<tool_response>15 °C</tool_response>`

Source:
    tracker: vllm-project/vllm#39614, vllm-project/vllm#9294, sgl-project/sglang#22595.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache

from prompt_debugger.core.base.comparable import NEW_IN_EVERY_RUN, NOT_IN_SNIPPET
from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.text import remove_blocks, remove_whitespace
from prompt_debugger.core.base.types import Prompt, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fields import TextField, message_texts
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_request, prompt_of, quote
from prompt_debugger.core.formats import TABLES

_THINK_PAIRS = tuple(pair for pair in TABLES.reasoning_pairs if pair.opener != pair.closer)
_TRIED_PREFIX = 4000
_PLACEHOLDER = re.compile(rf"(?:{NEW_IN_EVERY_RUN}|{NOT_IN_SNIPPET}): `([^`]+)`")  # which no prompt has
_BILLING_HEADER = "x-anthropic-billing-header"  # a first line of Claude Code's; servers remove it on purpose


def find(trace: Trace) -> Iterator[Report]:
    """Report the texts that the prompt lacks, in one report."""
    prompt = prompt_of(trace)
    if prompt is None:
        return
    haystack = cache(lambda: remove_whitespace(prompt.text))  # most texts are found without it
    made_up = [made for notice in trace.request.notices for made in _PLACEHOLDER.findall(notice.message)]
    known = [field for field in message_texts(trace.request) if not any(made in field.text for made in made_up)]
    absent = [field for field in known if not _occurs(field, prompt, haystack)]
    if not absent:
        return
    first = absent[0]
    paths = ", ".join(field.field for field in absent[:4]) + ("…" if len(absent) > 4 else "")
    read = _longest_prefix(first.text, prompt.text)
    yield Report(
        title=f"The prompt does not contain {paths}.",
        detail=f"{first.field} ({first.role}) is {quote(first.text)!r}; "
        + (f"only its first {read} characters are in the prompt." if read >= 8 else "it is not in the prompt."),
        evidence=tuple(in_request(field.field, field.text) for field in absent),
        fix=(
            *_as_one_string(absent),
            Step(
                "Check whether the template prints messages of this role at all, and whether the server cut the text."
            ),
        ),
        severity=Severity.WARNING if all(field.role == "assistant" for field in absent) else None,
    )


def _as_one_string(absent: list[TextField]) -> Iterator[Step]:
    """Yield what helps where content is a list of parts."""
    part = next((field.field for field in absent if field.field.endswith("].text")), None)
    if part is not None:
        content = part.rpartition("[")[0]
        yield Step(f"Send `{content}` as one string, or start vLLM with `--chat-template-content-format string`.")


def _occurs(field: TextField, prompt: Prompt, dense_prompt: Callable[[], str]) -> bool:
    text = remove_blocks(field.text, _THINK_PAIRS) if field.role == "assistant" else field.text
    closer = next((pair.closer for pair in TABLES.reasoning_pairs if pair.closer in text), None)
    if field.role == "assistant" and closer is not None:
        text = text.rpartition(closer)[2]
    core = text.strip()
    if field.role == "system" and core.startswith(_BILLING_HEADER) and _BILLING_HEADER not in prompt.text:
        core = core.partition("\n")[2].strip()
    if not core or core in prompt.text:
        return True
    if any(json.dumps(core, ensure_ascii=ascii_only)[1:-1] in prompt.text for ascii_only in (True, False)):
        return True
    if remove_whitespace(core) in dense_prompt():
        return True
    return _occurs_as_json(core, dense_prompt())


def _occurs_as_json(text: str, dense_prompt: str) -> bool:
    """Return whether a text that is JSON is in the prompt written in another way."""
    value = decode_json(text) if text[:1] in "[{" else None
    if value is None:
        return False
    return any(
        remove_whitespace(json.dumps(value, ensure_ascii=ascii_only, sort_keys=sort_keys)) in dense_prompt
        for ascii_only in (True, False)
        for sort_keys in (True, False)
    )


def _longest_prefix(text: str, haystack: str) -> int:
    """Return the length of the longest beginning of `text` that occurs, by halving."""
    low, high = 0, min(len(text), _TRIED_PREFIX)
    while low < high:
        middle = (low + high + 1) // 2
        if text[:middle] in haystack:
            low = middle
        else:
            high = middle - 1
    return low


RULE: Rule = TraceRule(
    code="PD206",
    name="content-absent",
    severity=Severity.ERROR,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("vllm-project/vllm#39614", "vllm-project/vllm#9294", "sgl-project/sglang#22595"),
    explains=("PD210",),
)
