"""A limit cut the answer.

What it finds:
    finish_reason `length`, or as many tokens as the request allows, of an answer that is
    text, with the limit as far as the counts show it. Silent where the server says that it
    ended by itself and counts more tokens than the text has bytes. A warning if only the answer is
    known, otherwise a note. Cut calls, promised JSON and reasoning, and empty answers, have
    separate rules. The same of a plain completion, whose output is known and is text alone.

Why it matters:
    The text is only the beginning of an answer. Whatever looks wrong at its end follows from that.

Bad:
    A text that stops in the middle of a sentence, finish_reason `length`.

Good:
    finish_reason `stop`

Source:
    publisher: `finish_reason` of chat completions.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.endings import is_normal_end
from prompt_debugger.core.diagnose.fields import body_of, content_of, reasoning_of, returned_calls
from prompt_debugger.core.diagnose.output_limit import output_limit
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.rules.nothing_but_reasoning import is_note_of_server
from prompt_debugger.core.diagnose.thinking import think_less
from prompt_debugger.core.diagnose.trace_queries import completion_tokens, in_message, in_raw, why_cut


def find(trace: Trace) -> Iterator[Report]:
    """Report a cut text."""
    chat = trace.chat
    if chat is None and trace.chat_stream is None and trace.raw is not None:
        yield from _find_in_completion(trace)
        return
    if chat is None or chat.error or returned_calls(trace) or (reason := why_cut(trace)) is None:
        return
    if is_note_of_server(chat) or _is_ended_with_hidden_tokens(trace):  # the first has its own report
        return
    if as_object(body_of(trace).get("response_format")) or (trace.parse is not None and trace.parse.parsed.calls):
        return
    content, reasoning = content_of(chat.message) or "", reasoning_of(chat.message)
    in_thought = not content.strip() and reasoning is not None and bool(reasoning.text.strip())
    if not content.strip() and (trace.raw is not None or not in_thought):
        return
    limit = output_limit(trace)
    text = reasoning.text if in_thought and reasoning is not None else content
    field = reasoning.field if in_thought and reasoning is not None else "content"
    steps = [limit.step]
    if in_thought:
        steps.append(think_less(trace, " where the question needs no thinking"))
    yield Report(
        title=f"The answer was cut by {limit.name}" + (", before the reasoning ended." if in_thought else "."),
        detail=f"`{field}` ends with {text[-60:]!r}, and {reason}.",
        evidence=(in_message("finish_reason", chat.finish_reason), in_message(field, text[-60:])),
        fix=steps,
        severity=Severity.NOTE if trace.raw is not None else None,
    )


def _is_ended_with_hidden_tokens(trace: Trace) -> bool:
    """Return whether a server says that the answer ended by itself, and counts more tokens than the text can have.

    The rest is not shown (thoughts, most often), so the count of all does not show that the limit ended the text.
    """
    chat = trace.chat
    if chat is None or trace.raw is not None or not is_normal_end(chat.finish_reason):
        return False
    reasoning = reasoning_of(chat.message)
    shown = f"{content_of(chat.message) or ''}{reasoning.text if reasoning is not None else ''}"
    return len(shown.encode("utf-8", "replace")) < (completion_tokens(trace) or 0)


def _find_in_completion(trace: Trace) -> Iterator[Report]:
    """Report an answer of plain completions that a limit cut, where it is text alone."""
    raw, parse = trace.raw, trace.parse
    if raw is None or parse is None or raw.finish_reason != "length":
        return
    if parse.parsed.calls or parse.parsed.reasoning is not None or as_object(body_of(trace).get("response_format")):
        return
    limit = output_limit(trace)
    if not raw.text.strip():
        yield Report(
            title=f"The output was cut by {limit.name}, and it has no visible text.",
            detail=f"The text is {raw.text[:20]!r}, and finish_reason is `length`: until then the model wrote only "
            "special tokens or whitespace, or the server did not return what it wrote.",
            evidence=(in_raw(trace, Span(0, len(raw.text))),),
            fix=(
                Step(
                    "Check the prompt: the model continues it, and after one that looks finished it writes whitespace "
                    "or end tokens."
                ),
                Step(
                    "With vLLM, send `skip_special_tokens: false`: it shows what was written.",
                    {"skip_special_tokens": False},
                ),
            ),
        )
        return
    yield Report(
        title=f"The output was cut by {limit.name}.",
        detail=f"It ends with {raw.text[-60:]!r}, and finish_reason is `length`.",
        evidence=(in_raw(trace, Span(max(0, len(raw.text) - 60), len(raw.text))),),
        fix=[limit.step],
        severity=Severity.NOTE if limit.is_requested else None,
    )


RULE: Rule = TraceRule(
    code="PD322",
    name="answer-cut",
    severity=Severity.WARNING,
    stage=Stage.COMPLETE,
    find=find,
    borrows_fix=True,
    reads_stripped=True,
    stands_in_part=True,
)
