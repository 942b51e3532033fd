"""A text contains reasoning as a model writes it, and nothing shows that a server separated it.

What it finds:
    A text that may be a raw output or what a server
    returned, without a message or calls next to it: it begins with a reasoning block,
    or closes one that it does not open, or is harmony's channels with their tokens. A
    note: in a raw output there is nothing wrong with that.

Why it matters:
    Most such texts are copied from where a user saw them. The templates of many
    thinking models open the block in the prompt, so that only its end is written,
    and a parser or client that waits for the beginning takes all of it for content.

Bad:
    `They greet me.</think>Hello!` in a chat window

Good:
    the same in a server's log of raw outputs, and `reasoning` in the answer

Source:
    tracker: sgl-project/sglang#36285, xorbitsai/inference#3647, sigoden/aichat#1528.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.comparable import KEEPS_TOKENS, MAY_BE_CONTENT
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import asked_server, in_raw, opens_with_thought
from prompt_debugger.core.diagnose.words import listed
from prompt_debugger.core.formats import FORMATS, TABLES

_CHANNEL = re.compile(r"\s{0,4}(?:<\|start\|>assistant)?<\|channel\|>(?P<name>analysis|commentary|final)<\|message\|>")
_SPLIT = "start the server with the reasoning parser of this model (`--reasoning-parser` of vLLM and SGLang"
_OF_PROMPTS = "<thinking>"  # which prompts ask any model for, as Anthropic's guide does; no server is at fault for it


def find(trace: Trace) -> Iterator[Report]:
    """Look at a text alone."""
    raw, parse = trace.raw, trace.parse
    is_alone = trace.chat is None and trace.chat_stream is None and trace.refusal is None and not asked_server(trace)
    if raw is None or parse is None or not is_alone or trace.prompt is not None or parse.parsed.calls:
        return
    if raw.completeness_reason == KEEPS_TOKENS:
        yield from _report_channels(trace, raw.text)
    if raw.completeness_reason != MAY_BE_CONTENT:
        return
    opened = opens_with_thought(raw.text)
    if opened is not None and opened.opener == _OF_PROMPTS:
        return
    closer = opened.closer if opened is not None else _unopened_closer(raw.text)
    at = -1 if closer is None else raw.text.find(closer)
    if closer is None or at < 0:
        return
    is_empty = opened is not None and not raw.text[:at].replace(opened.opener, "", 1).strip()
    yield Report(
        title=(
            f"The text closes a reasoning block (`{closer}`) that it does not open."
            if opened is None
            else f"The text begins with an empty reasoning block (`{opened.opener}{closer}`)."
            if is_empty
            else f"The text begins with a reasoning block (`{opened.opener}`)."
        ),
        detail=_detail(is_opened=opened is not None, is_empty=is_empty),
        evidence=(in_raw(trace, Span(at, at + len(closer))),),
        fix=(
            Step(
                f"If it came as content: {_SPLIT}; of llama.cpp `--jinja --reasoning-format auto`)"
                + ("; one that begins inside a block, if the template opens it." if opened is None else ".")
            ),
            Step(f"In a client that cannot choose the server: drop everything up to `{closer}` before using the text."),
        ),
        certainty=Certainty.INFERRED,
    )


def _report_channels(trace: Trace, text: str) -> Iterator[Report]:
    """Report a text that is harmony's channels, from its first header on."""
    begins = _CHANNEL.match(text)
    if begins is None:
        return
    facts = FORMATS["harmony"].facts
    names = list(dict.fromkeys(found["name"] for found in _CHANNEL.finditer(text)))
    is_answer_alone = names == ["final"]
    held = f"channel `{names[0]}` alone" if len(names) == 1 else f"channels ({listed(names)})"
    yield Report(
        title=f"The text is output of gpt-oss (harmony) as the model writes it, with its {held}.",
        detail="If a server returned this text as content, it did not split reasoning (`analysis`), calls "
        "(`commentary`) and answer (`final`); in a raw output there is nothing wrong with it."
        + (" No reasoning is written before the answer here." if is_answer_alone else ""),
        evidence=(in_raw(trace, Span(*begins.span())),),
        fix=(
            Step(
                f"If it came as content: have the server split the channels: vLLM with `--reasoning-parser "
                f"{facts.reasoning_parsers[0]} --tool-call-parser {facts.tool_parsers[0]}`, llama.cpp with `--jinja`; "
                "of another server a release that reads harmony."
            ),
            Step("Split the text in the client, where the server cannot."),
        ),
        certainty=Certainty.INFERRED,
    )


def _unopened_closer(text: str) -> str | None:
    """Return the first closing tag that a text did not open, unless it is quoted."""
    for opener, closer in TABLES.reasoning_pairs:
        at = text.find(closer)
        if opener == _OF_PROMPTS:
            continue
        if at > 0 and opener not in text and text[at - 1] not in "`\"'" and "```" not in text[:at]:
            return closer
    return None


def _detail(*, is_opened: bool, is_empty: bool) -> str:
    if is_empty:
        return (
            "Models that can switch thinking off write, or are given, an empty block then: thinking is off, and only "
            "the tags are left. If a server returned this as content, its reasoning parser did not take them away."
        )
    why = (
        "no reasoning parser separated it"
        if is_opened
        else "the prompt opened the block, as templates of many thinking models do, and no parser that begins inside "
        "it separated the reasoning"
    )
    return f"If a server returned this text as content, {why}; in a raw output there is nothing wrong with it."


RULE: Rule = TraceRule(
    code="PD468",
    name="reasoning-shown-as-text",
    severity=Severity.NOTE,
    stage=Stage.PARSE,
    find=find,
    stands_in_part=True,
    threads=("sgl-project/sglang#36285", "xorbitsai/inference#3647", "sigoden/aichat#1528"),
    reads_stripped=True,
)
