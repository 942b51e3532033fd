"""A marker of the template is not a token of this vocabulary.

What it finds:
    A marker such as `<|im_start|>` that the template itself writes and that
    the tokenizer cuts into several ordinary tokens.

Why it matters:
    Template and tokenizer belong to different models. The model sees the
    letters of a marker instead of the control token it was trained on, and
    copies them into its output.

Bad:
    `<`, `|`, `im`, `_start`, `|>`

Good:
    One token `<|im_start|>`

Source:
    tracker: ggml-org/llama.cpp#6551, vllm-project/vllm#9304.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Prompt, Severity, Span, SpanKind, Stage, Token, TokenKind, TokenTable, Trace
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_prompt, prompt_of

_CONTROL = (TokenKind.SPECIAL, TokenKind.ADDED)
_MARKER = re.compile("<[|\uff5c][^<>|\uff5c\\s]{2,60}[|\uff5c]>")
_SHORTEST = 6  # characters of what it finds
_LOOKALIKES = str.maketrans("\uff5c\u2581", "|_")


def find(trace: Trace) -> Iterator[Report]:
    """Report the markers that are cut, in one report."""
    prompt, vocabulary = prompt_of(trace), trace.vocabulary
    if prompt is None or prompt.tokens is None or vocabulary is None:
        return
    cut: dict[str, Span] = {}
    for span in _markers(prompt):
        marker = prompt.text[span.start : span.stop]
        if marker not in cut and not _is_token(prompt.tokens, span, marker):
            cut[marker] = span
    if not cut:
        return
    first, *_ = cut
    others = {text.translate(_LOOKALIKES): text for text in vocabulary.special.values()}
    pieces = " ".join(repr(prompt.tokens[place].text) for place in _touching(prompt.tokens, cut[first])[:8])
    similar = others.get(first.translate(_LOOKALIKES))
    yield Report(
        title=f"The template writes `{first}`, which is not a token of this vocabulary.",
        detail=f"It is spelled with ordinary tokens, {pieces}"
        + (f"; so are {', '.join(f'`{marker}`' for marker in list(cut)[1:6])}" if len(cut) > 1 else "")
        + "."
        + (f" The vocabulary has `{similar}`, which only looks like it." if similar else ""),
        evidence=tuple(in_prompt(prompt, span) for span in cut.values()),
        fix="Use the template and tokenizer of the same model and revision.",
    )


def _markers(prompt: Prompt) -> Iterator[Span]:
    """Yield the markers that the template itself wrote."""
    for span in prompt.spans:
        start, stop = span.char_span
        if span.kind is SpanKind.TEMPLATE and stop - start >= _SHORTEST:
            for match in _MARKER.finditer(prompt.text, start, stop):
                yield Span(*match.span())


def _touching(tokens: Sequence[Token], span: Span) -> range:
    """Return the places of the tokens that share characters with a stretch of the prompt."""
    if isinstance(tokens, TokenTable):  # whose tokens need not be made to find them
        first = bisect_right(tokens.edges, span.start, 1) - 1
        return range(first, bisect_right(tokens.edges, span.stop - 1, 0, len(tokens)))
    return range(bisect_right(tokens, span.start, key=_stop), bisect_right(tokens, span.stop - 1, key=_start))


def _is_token(tokens: Sequence[Token], span: Span, marker: str) -> bool:
    """Return whether one entry of the vocabulary is the marker, perhaps with the whitespace around it."""
    places = _touching(tokens, span)
    kind_of = tokens.kind_of if isinstance(tokens, TokenTable) else lambda place: tokens[place].kind
    for place in places:  # a loop, as there are many markers and a generator takes twice the time
        if kind_of(place) in _CONTROL:
            return True
    return len(places) == 1 and tokens[places[0]].text.strip() == marker


def _start(token: Token) -> int:
    return token.char_span.start


def _stop(token: Token) -> int:
    return token.char_span.stop


RULE: Rule = TraceRule(
    code="PD216",
    name="marker-split",
    severity=Severity.WARNING,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("ggml-org/llama.cpp#6551", "vllm-project/vllm#9304"),
)
