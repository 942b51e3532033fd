"""The model kept generating past the end of its turn.

What it finds:
    An end token of this vocabulary in the raw output with text after it, or a control token
    that opens another turn. Only control tokens count where ids are known: a marker spelled
    with ordinary tokens is prose. An end token that is merely repeated is a note.

Why it matters:
    The set of stop tokens lacks the one that this template ends turns with, or
    the prompt left the model as the wrong speaker: it plays both sides of the
    conversation up to the limit, and the caller reads invented turns.

Bad:
    `15 °C.<|im_end|><|im_user|>user<|im_middle|>And in Rome?`

Good:
    `15 °C.<|im_end|>`

Source:
    tracker: vllm-project/vllm#4180, vllm-project/vllm#4182, Blaizzy/mlx-vlm#2112.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Span, Stage, Token, TokenKind, TokenTable, Trace
from prompt_debugger.core.diagnose.own_settings import stop_at
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, end_texts, in_raw
from prompt_debugger.core.formats import TABLES

_CONTROL = (TokenKind.SPECIAL, TokenKind.ADDED)


def find(trace: Trace) -> Iterator[Report]:
    """Report the first place after which nothing should follow."""
    if trace.raw is None:
        return
    text = trace.raw.text
    headers = _header_spans(trace)
    ends = _end_spans(trace)
    first_end = ends[0] if ends else None
    rest = "" if first_end is None else text[first_end.stop :]
    for end in end_texts(trace):
        rest = rest.replace(end, "")
    if headers:
        span = headers[0]
        title = f"The model opened another turn: it wrote `{text[span.start : span.stop]}`."
    elif first_end is not None and rest.strip():
        span = first_end
        title = f"The model kept generating past its end token `{text[span.start : span.stop]}`."
    elif first_end is not None and len(ends) > 1:
        span = ends[1]
        title = f"The output ends with {len(ends)} end tokens."
    else:
        return
    repeated = not headers and not rest.strip()
    yield Report(
        title=title,
        detail=f"At character {span.start} of {len(text)}: {text[span.start : span.start + 60]!r}.",
        evidence=(in_raw(trace, Span(span.start, len(text))),),
        fix="Nothing to do unless a client shows it."
        if repeated
        else (
            "Check that the prompt opens the assistant's turn, and that the model's generation config lists "
            f"this end token; if it does not, {stop_at(trace)}."
        ),
        severity=Severity.NOTE if repeated else None,
    )


def _end_spans(trace: Trace) -> tuple[Span, ...]:
    """Return where end tokens are in the raw output, in order."""
    return tuple(_special_spans(trace, frozenset(end_texts(trace))))


def _header_spans(trace: Trace) -> tuple[Span, ...]:
    """Return where tokens that open a turn are in the raw output, in order."""
    vocabulary = trace.vocabulary
    if vocabulary is None:
        return ()
    texts = frozenset(text for text in vocabulary.special.values() if text in TABLES.turn_openers)
    return tuple(_special_spans(trace, texts))


def _special_spans(trace: Trace, texts: frozenset[str]) -> Iterator[Span]:
    raw = trace.raw
    if raw is None or not texts:
        return
    if raw.tokens is not None:
        yield from _find_by_token(raw.tokens, texts)
        return
    for match in re.finditer("|".join(re.escape(text) for text in sorted(texts)), raw.text):
        yield Span(*match.span())


def _find_by_token(tokens: Sequence[Token], texts: frozenset[str]) -> Iterator[Span]:
    """Yield control tokens only: the same text spelled with ordinary tokens is prose."""
    if isinstance(tokens, TokenTable):  # whose tokens need not be made to find a few of them
        edges = tokens.edges
        for at, kind in enumerate(tokens.kinds):
            if kind in _CONTROL and tokens.text[edges[at] : edges[at + 1]] in texts:
                yield Span(edges[at], edges[at + 1])
        return
    for token in tokens:
        if token.text in texts and token.kind in _CONTROL:
            yield token.char_span


RULE: Rule = TraceRule(
    code="PD304",
    name="past-turn-end",
    severity=Severity.ERROR,
    stage=Stage.COMPLETE,
    find=find,
    needs=TracePart.VOCABULARY,  # which says what ends a turn and what opens one
    threads=("vllm-project/vllm#4180", "vllm-project/vllm#4182", "Blaizzy/mlx-vlm#2112"),
)
