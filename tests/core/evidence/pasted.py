"""What the program shows of a text that someone pastes: the trace, and its findings in a form that tests compare."""

from __future__ import annotations

import asyncio

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.evidence import read_evidence, show_evidence


def shown(text: str) -> Trace:
    """Return the trace of a text."""
    return asyncio.run(show_evidence(read_evidence(text)))


def codes(text: str) -> list[str]:
    """Return the codes of the findings."""
    return [one.code for one in shown(text).findings]


def said(text: str) -> str:
    """Return all words of the findings."""
    return " ".join(f"{one.title} {one.detail} {one.fix}" for one in shown(text).findings)


async def findings(text: str) -> list[str]:
    """Return codes and titles of the findings; none of a text that is refused."""
    try:
        trace = await show_evidence(read_evidence(text))
    except RequestError:
        return []
    return [f"{one.code} {one.title}" for one in trace.findings]


async def findings_or_refusal(text: str) -> list[str]:
    """Return codes and titles of the findings; of a text that is refused, why."""
    try:
        trace = await show_evidence(read_evidence(text))
    except RequestError as refused:
        return [str(refused)]
    return [f"{one.code} {one.title}" for one in trace.findings]
