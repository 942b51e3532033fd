"""Reasoning used the whole token budget; no answer was written.

What it finds:
    An output that was cut by its limit while a reasoning block was open: the prompt or the
    raw output opens it and the raw output never closes it. If the raw output is not known:
    an empty message that a limit ended, with the count of hidden reasoning if the server
    gives one.

Why it matters:
    `content` is null, which looks like a parser that swallowed the answer.
    There is none: the parser is right.

Bad:
    `<think>First I should …` and finish_reason `length`

Good:
    `<think>…</think>15 °C in Paris.`

Source:
    tracker: vllm-project/vllm#52640, kekzl/imp#1442.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.text import capitalized
from prompt_debugger.core.base.types import Certainty, ChatResult, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fields import content_of, content_parts, reasoning_of, returned_calls
from prompt_debugger.core.diagnose.hosted import hosted_by
from prompt_debugger.core.diagnose.output_limit import MORE_OUTPUT, more_output
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.thinking import think_less
from prompt_debugger.core.diagnose.thought_switches import has_known_switch
from prompt_debugger.core.diagnose.trace_queries import (
    completion_tokens,
    in_message,
    in_raw,
    open_think_tail,
    opens_with_thought,
    why_cut,
)
from prompt_debugger.core.diagnose.words import counted

_REASONING_TOKENS = re.compile(r"(?<!\\)\"reasoning_tokens\"\s{0,8}:\s{0,8}(\d{1,9})")
_NO_TOKENS = re.compile(r"(?<!\\)\"completion_tokens\"\s{0,8}:\s{0,8}0\s{0,8}[,}]")
_IMAGES = ("image_url", "input_image", "image")
_UNREAD_IMAGE = (
    "Check that the server can read `{path}`: some answer 200 with nothing where an image cannot be fetched. Send it "
    "as `data:image/png;base64,…`."
)
_TOLERANCE = 2  # servers differ in whether they count what opens and ends an answer
_LESS = Step(
    'Send `"reasoning_effort": "low"` where the question needs little thinking.', request={"reasoning_effort": "low"}
)


def find(trace: Trace) -> Iterator[Report]:
    """Report a cut output that never left its reasoning, seen or unseen."""
    reason = why_cut(trace)
    if reason is None:
        return
    if trace.raw is not None and trace.raw.text.strip():
        yield from _seen(trace, trace.raw.text, reason)
    elif trace.chat is not None:
        yield from _unseen(trace, trace.chat, reason)


def _seen(trace: Trace, text: str, reason: str) -> Iterator[Report]:
    """Report reasoning that the raw output shows."""
    opened = open_think_tail(trace) or opens_with_thought(text)
    if opened is None or opened.closer in text:
        return
    count = completion_tokens(trace)
    amount = f"{len(text)} characters" if count is None else f"{count} tokens"
    yield Report(
        title=f"Reasoning used the whole budget of {amount}; no answer was written.",
        detail=f"`{opened.opener.strip()}` was opened and `{opened.closer}` never followed: {reason}.",
        evidence=(in_raw(trace, Span(max(0, len(text) - 80), len(text))),),
        fix=(more_output(trace), think_less(trace, " where the question needs no thinking")),
    )


def _unseen(trace: Trace, chat: ChatResult, reason: str) -> Iterator[Report]:
    """Report an empty message that a limit ended; how much was reasoning is known where the server counts it."""
    if chat.error or returned_calls(trace) or _shows_text(chat):
        return
    if not chat.deltas and _NO_TOKENS.search(chat.body) is not None:
        yield _never_began(trace, chat)
        return
    count, hidden = completion_tokens(trace), reasoning_tokens_of(chat)
    is_all = hidden is not None and hidden > 0 and (count is None or hidden >= count - _TOLERANCE)
    amount = "the whole budget" if not count else f"the whole budget of {counted(count, 'token')}"
    title = f"Hidden reasoning used {amount}; no answer was written."
    if not is_all:
        title = "The output limit was reached" if not count else f"The model wrote {counted(count, 'token')}"
        title += ", and the answer contains none of it: a limit ended it first."
    yield Report(
        title=title,
        detail=f"{capitalized(reason)}. The message contains no text, no call and no reasoning."
        + (f" The server counted {hidden} tokens of reasoning." if hidden else ""),
        evidence=(in_message("content"), in_message("finish_reason", chat.finish_reason)),
        fix=(more_output(trace), _less(trace)),
        certainty=Certainty.OBSERVED if is_all else Certainty.INFERRED,
    )


def _never_began(trace: Trace, chat: ChatResult) -> Report:
    """Report an answer for which no token was counted: no limit ended what did not begin."""
    media = [path for path, kind in content_parts(trace.request) if kind in _IMAGES]
    steps = (
        *((Step(_UNREAD_IMAGE.format(path=media[0])),) if media else ()),
        Step(
            "Check the server's log for that moment: an error before the first token does not show in the answer. If "
            "the prompt fills the context, shorten it."
        ),
        Step("Raise `max_tokens` if this server never counts tokens: then the limit may have been reached."),
    )
    return Report(
        title=f"The answer is empty, and finish_reason is `{chat.finish_reason}` although no token was counted.",
        detail="The message contains no text, no call and no reasoning, and the server counted 0 tokens of output: "
        "either it does not count, or the model did not begin to write.",
        evidence=(in_message("content"), in_message("finish_reason", chat.finish_reason)),
        fix=steps,
        certainty=Certainty.INFERRED,
    )


def _less(trace: Trace) -> Step:
    """Return how it is asked to think less: by an effort where nothing shows who answered, as most APIs take it."""
    is_known = hosted_by(trace) is not None or has_known_switch(trace)
    return think_less(trace, " where the question needs no thinking") if is_known else _LESS


def _shows_text(chat: ChatResult) -> bool:
    """Return whether a message shows anything that the model wrote as text, as a refusal or as reasoning."""
    reasoning = reasoning_of(chat.message)
    is_thought = reasoning is not None and bool(reasoning.text.strip())
    return is_thought or bool((content_of(chat.message) or "").strip() or chat.message.get("refusal"))


def reasoning_tokens_of(chat: ChatResult) -> int | None:
    """Return how many tokens of reasoning the server counted, whether it returned them or not."""
    found = _REASONING_TOKENS.findall(chat.body)
    return int(found[-1]) if found else None


RULE: Rule = TraceRule(
    code="PD302",
    name="thinking-budget-eaten",
    severity=Severity.ERROR,
    stage=Stage.COMPLETE,
    find=find,
    threads=("vllm-project/vllm#52640", "kekzl/imp#1442"),
    fixes=(MORE_OUTPUT,),
)
