"""The server's content filter cut the answer or withheld it.

What it finds:
    finish_reason `content_filter`, or a provider's own word for it, there or in a router's
    `native_finish_reason`, such as `SAFETY`, `RECITATION` or `PROHIBITED_CONTENT`: an error
    if the message is empty, a warning if something is left.

Why it matters:
    What is missing was taken out on purpose, after or while the model wrote.
    No template, parser or limit changes that.

Bad:
    `"content": "", "finish_reason": "content_filter"`

Good:
    `"finish_reason": "stop"`

Source:
    publisher: `finish_reason` of chat completions, `finishReason` of Gemini.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.endings import has_no_message, is_filter_word, words_of_end
from prompt_debugger.core.diagnose.fields import content_of, reasoning_of
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message


def find(trace: Trace) -> Iterator[Report]:
    """Report an answer that was filtered."""
    if trace.chat is None:
        return
    word = next(filter(is_filter_word, words_of_end(trace.chat)), None)
    if word is None or (trace.chat.error and not has_no_message(trace.chat)):
        return
    field = "finish_reason" if word == trace.chat.finish_reason else "native_finish_reason"
    message = trace.chat.message
    is_empty = not content_of(message) and not message.get("tool_calls") and reasoning_of(message) is None
    yield Report(
        title="The server's content filter withheld the answer."
        if is_empty
        else "The server's content filter cut the answer.",
        detail=f"{field} is `{word}`" + (", and the message is empty." if is_empty else "."),
        evidence=(in_message(field, word),),
        fix=(
            "See what the provider reports about its filter, often in a field next to the message; change the "
            "text that triggers it, or the filter's setting."
        ),
        severity=None if is_empty else Severity.WARNING,
    )


RULE: Rule = TraceRule(
    code="PD311",
    name="content-filtered",
    severity=Severity.ERROR,
    stage=Stage.COMPLETE,
    find=find,
    needs=TracePart.ANSWER,
)
