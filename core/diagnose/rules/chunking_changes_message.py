"""The parser gives a different message when the same text reaches it in different chunks.

What it finds:
    An offline parser (the server's, if it is known, otherwise the first that was tried)
    whose streaming result differs from its whole result for some cut of the same text, with
    the model's own tokenizer: with an approximate vocabulary the chunks would be a guess. A
    difference in whitespace alone does not count. An id that differs when streamed counts
    only if it was taken from the text.

Why it matters:
    Speculative decoding, `stream_interval` and the network decide where chunks
    end: calls vanish under load in a way that no one can reproduce by hand.

Bad:
    Fed as one delta: no tool call; whole: one.

Good:
    The same message in every cut.

Source:
    tracker: vllm-project/vllm#35895, vllm-project/vllm#47907, vllm-project/vllm#41967,
    sgl-project/sglang#35625.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, ParserOutcome, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_raw

_BLANK = re.compile(
    r"(?P<field>content|reasoning) is '(?:\\[nrt]|\s)*' (?:but|where) the whole parse gives '(?:\\[nrt]|\s)*'"
)


def find(trace: Trace) -> Iterator[Report]:
    """Report the parser in question, once."""
    if trace.parse is None or trace.vocabulary is None:
        return  # without the model's tokenizer the chunks are a guess
    for name, outcome in trace.parse.parsers.items():
        if not _is_meant(trace, name):
            continue
        shown = outcome.first_unequal or "the difference is unknown"
        if outcome.stream_equal is False and outcome.error is None and _BLANK.search(shown) is None:
            yield _report(trace, name, outcome, shown)
        return


def _is_meant(trace: Trace, name: str) -> bool:
    parser = trace.tool_parser
    return parser is None or name.partition(":")[2].partition("+")[0] == parser


def _report(trace: Trace, name: str, outcome: ParserOutcome, shown: str) -> Report:
    assert trace.parse is not None
    return Report(
        title=f"`{name}` returns a different message when the same text arrives in other chunks.",
        detail=f"{shown}. {outcome.splits_tried} chunkings were tried.",
        evidence=(in_raw(trace, Span(0, len(trace.parse.raw))),),
        fix="Ask without streaming, set `--stream-interval 1` (vLLM, SGLang), or turn off speculative decoding for "
        "tool requests; report the smallest cut to the parser's authors.",
        certainty=Certainty.OBSERVED,
    )


RULE: Rule = TraceRule(
    code="PD419",
    name="chunking-changes-message",
    severity=Severity.WARNING,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.VOCABULARY,
    threads=("vllm-project/vllm#35895", "vllm-project/vllm#47907", "vllm-project/vllm#41967"),
)
