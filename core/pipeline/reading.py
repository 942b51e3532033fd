"""Stages C and D of a run as one job of the room: the trace goes in, what was read and found comes back.

The schemas of a request are strangers' programs: a pattern may search for hours and
references may multiply without end. So are outputs, for whoever scans them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from core.diagnose import diagnose_trace, reach_verdict
from core.parse import TOGETHER, build_ledger
from core.parse.engines import Parting, SplitTrial, VllmOutcome
from core.pipeline.accounts import with_accounts
from core.pipeline.census import take_census
from core.pipeline.server_parsers import ServerOutcome
from core.room import Limits, job
from core.room.values import admit
from core.types import ChatResult, Finding, Parse, ParserOutcome, Trace, Verdict

# A request of 200,000 tokens takes about a second.
_LIMITS = Limits(cpu_s=8.0, wall_s=120.0, memory_mb=2048)
_HINT = "Look at the tools' schemas: a `pattern` such as `(a+)+$`, or references that multiply, never ends."


@job("reading the output and checking the run", _LIMITS, hint=_HINT)
def read_run(trace: Trace, special_texts: frozenset[str]) -> Iterator[Parse | tuple[tuple[Finding, ...], Verdict]]:
    """Yield the census and ledger of a run that has a raw output; then its findings and verdict.

    Args:
        trace: A run whose answers are there.
        special_texts: Texts of the tokenizer's special tokens.
    """
    if trace.raw is not None:
        parse = take_census(trace, special_texts=special_texts)
        stream = trace.chat_stream
        if stream is not None and _same_ids(trace.chat, stream):
            comparability = parse.ledger.comparability or TOGETHER
            ledger = build_ledger(parse.raw, parse.parsed, stream.message, comparability)
            parse = replace(parse, stream_ledger=ledger)
        trace = replace(trace, parse=parse)
        yield parse
    yield diagnosis_of(trace)


@job("counting what the parsers lost", _LIMITS)
def account_outcomes(parse: Parse, outcomes: Mapping[str, ParserOutcome]) -> dict[str, ParserOutcome]:
    """Return the outcomes of parsers, each with its account."""
    return with_accounts(parse, outcomes)


@job("holding the parsers against the output", _LIMITS, hint=_HINT)
def judge_outcomes(
    trace: Trace, outcomes: Mapping[str, ParserOutcome]
) -> tuple[dict[str, ParserOutcome], tuple[Finding, ...], Verdict]:
    """Return the outcomes of parsers, those that read most calls first, and what is found with them.

    Args:
        trace: A run whose output was read.
        outcomes: By the parsers' names.
    """
    assert trace.parse is not None
    accounted = with_accounts(trace.parse, outcomes)
    ranked = dict(sorted(accounted.items(), key=lambda item: (item[1].error is not None, -len(item[1].tool_calls))))
    findings, verdict = diagnosis_of(replace(trace, parse=replace(trace.parse, parsers=ranked)))
    return ranked, findings, verdict


def diagnosis_of(trace: Trace) -> tuple[tuple[Finding, ...], Verdict]:
    """Return the findings of a trace, and the run in one sentence."""
    trace = replace(trace, findings=diagnose_trace(trace))
    return trace.findings, reach_verdict(trace)


for _traveller in (VllmOutcome, SplitTrial, Parting, ServerOutcome):
    admit(_traveller)


def _same_ids(chat: ChatResult | None, stream: ChatResult) -> bool:
    return chat is not None and chat.token_ids is not None and chat.token_ids == stream.token_ids
