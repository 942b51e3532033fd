"""Stages C and D of a run as one job of the sandbox: the trace goes in, what was read and found comes back.

The schemas of a request are untrusted programs: a pattern may search for hours and
references may multiply without end. So each is announced before it is checked, with a
limit of its own: anyone who asks (`core.pipeline.diagnosis`) sees which one ended the process, and
asks again without it. Outputs are untrusted, too, for anyone who scans them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from prompt_debugger.core.base.types import ChatResult, Finding, Parse, ParserOutcome, Trace, Verdict
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.diagnose import diagnose_trace, reach_verdict
from prompt_debugger.core.diagnose.schema_uses import SchemaUse, left_out_note, schema_uses
from prompt_debugger.core.diagnose.schemas import CheckKey, SchemaCheck, Violation, check_keys, knowing
from prompt_debugger.core.parse import TOGETHER, build_ledger
from prompt_debugger.core.pipeline.accounts import add_accounts
from prompt_debugger.core.pipeline.census import take_census
from prompt_debugger.core.sandbox import Limits, job, limit_cpu
from prompt_debugger.core.sandbox.values import admit

MAX_LEFT_OUT = 3  # schemas that end a process; after them no schema of the run is checked

# A harmless schema of 100,000 characters takes half a second.
_CHECK_S = 1.0
_MAX_CHECK_S = 4.0
_CHARS_PER_S = 150_000
_ALL_CHECKS_S = 6.0
_NONE: Mapping[str, str] = MappingProxyType({})

# A request of 200,000 tokens takes about a second.
_LIMITS = Limits(cpu_s=8.0, wall_s=120.0, memory_mb=2048)
_HINT = "Check the tools' schemas: a `pattern` such as `(a+)+$`, or references that multiply, may never finish."


class Checking(NamedTuple):
    """The schema that is checked next: its field of the request, and the seconds of processor time it may take."""

    field: str
    cpu_s: float


class Diagnosis(NamedTuple):
    """What is found in a run: the findings, worst first, the verdict in one sentence, and what could not be checked."""

    findings: tuple[Finding, ...]
    verdict: Verdict
    notes: tuple[str, ...] = ()


def apply_step(trace: Trace, step: Parse | dict[str, ParserOutcome] | Checking | Diagnosis) -> Trace:
    """Return a run with what one step of the jobs below gives it."""
    if isinstance(step, Parse):
        return replace(trace, parse=step)
    if isinstance(step, Diagnosis):
        notes = tuple(dict.fromkeys((*trace.notes, *step.notes)))
        return replace(trace, findings=step.findings, verdict=step.verdict, notes=notes)
    if isinstance(step, dict) and trace.parse is not None:
        return replace(trace, parse=replace(trace.parse, parsers=step))
    return trace


@job("reading the output and checking the run", _LIMITS, hint=_HINT)
def read_run(trace: Trace, special_texts: frozenset[str]) -> Iterator[Parse | Checking | Diagnosis]:
    """Yield the census and ledger of a run that has a raw output; then its findings and verdict."""
    if trace.raw is not None:
        parse = take_census(trace, special_texts=special_texts)
        stream = trace.chat_stream
        if stream is not None and _same_ids(trace.chat, stream):
            comparability = parse.ledger.comparability or TOGETHER
            ledger = build_ledger(parse.raw, parse.parsed, stream.message, comparability)
            parse = replace(parse, stream_ledger=ledger)
        trace = replace(trace, parse=parse)
        yield parse
    yield from _check(trace)


@job("checking the run", _LIMITS, hint=_HINT)
def check_run(trace: Trace, left_out: Mapping[str, str]) -> Iterator[Checking | Diagnosis]:
    """Yield the findings and verdict of a run that was read, each check of a schema announced before.

    Args:
        trace: The run.
        left_out: Why schemas are not to be checked, by their fields; from `MAX_LEFT_OUT` on, none is.
    """
    yield from _check(trace, left_out)


def diagnose_without(trace: Trace, left_out: Mapping[str, str]) -> Diagnosis:
    """Return what is found in a run that was read if some schemas are not checked; arguments as `check_run`."""
    *_, diagnosis = _check(trace, left_out)
    assert isinstance(diagnosis, Diagnosis)
    return diagnosis


@job("counting what the parsers lost", _LIMITS)
def account_outcomes(parse: Parse, outcomes: Mapping[str, ParserOutcome]) -> dict[str, ParserOutcome]:
    """Return the outcomes of parsers, each with its account."""
    return add_accounts(parse, outcomes)


@job("comparing the parsers with the output", _LIMITS, hint=_HINT)
def judge_outcomes(
    trace: Trace, outcomes: Mapping[str, ParserOutcome]
) -> Iterator[dict[str, ParserOutcome] | Checking | Diagnosis]:
    """Yield the outcomes of parsers, those that read most calls first; then what is found with them."""
    assert trace.parse is not None
    accounted = add_accounts(trace.parse, outcomes)
    ranked = dict(sorted(accounted.items(), key=lambda item: (item[1].error is not None, -len(item[1].tool_calls))))
    yield ranked
    yield from _check(replace(trace, parse=replace(trace.parse, parsers=ranked)))


def _check(trace: Trace, left_out: Mapping[str, str] = _NONE) -> Iterator[Checking | Diagnosis]:
    """Check schema after schema, each within its limit; then ask the rules, which find there what they need."""
    outcomes: dict[CheckKey, tuple[Violation, ...] | None] = {}
    notes: list[str] = []
    began_s = time.process_time()
    for use in schema_uses(trace):
        reason, keys = left_out.get(use.field), check_keys(use.values, use.schema)
        if reason is None and (len(left_out) >= MAX_LEFT_OUT or time.process_time() - began_s > _ALL_CHECKS_S):
            reason = "the earlier checks used all of the available time"
        if reason is None:
            checking = Checking(use.field, _seconds_for(use))
            yield checking
            limit_cpu(checking.cpu_s)
            check = SchemaCheck(use.schema)
            found = {key: check.violations(value) for key, value in zip(keys, use.values, strict=True)}
        else:
            notes.append(left_out_note(use, reason))
            found = dict.fromkeys(keys)
        outcomes.update(found)
    limit_cpu(_LIMITS.cpu_s)
    with knowing(outcomes):
        trace = replace(trace, findings=diagnose_trace(trace))
    yield Diagnosis(trace.findings, reach_verdict(trace), tuple(notes))


def _seconds_for(use: SchemaUse) -> float:
    """Return what one schema may take: a second, and more with its size."""
    return round(min(_MAX_CHECK_S, _CHECK_S + len(json.dumps(use.schema)) / _CHARS_PER_S), 1)


for _traveller in (Checking, Diagnosis):
    admit(_traveller)


def _same_ids(chat: ChatResult | None, stream: ChatResult) -> bool:
    return chat is not None and chat.token_ids is not None and chat.token_ids == stream.token_ids
