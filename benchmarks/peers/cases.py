# ruff: noqa: ANN401 - what a suite expects is any JSON value
"""One raw output of another project's suite, what that project expects of it, and whether we read it so.

Whitespace at the edges of a text is a matter of taste and not compared; nor is
what a suite says nothing about.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, ParsedMessage, Place
from prompt_debugger.core.formats import FORMATS, pick_format
from prompt_debugger.core.parse.reasoning import ReasoningTags


@dataclass(frozen=True)
class PeerCase:
    """A raw output and what its suite expects; `None` where it expects nothing.

    Attributes:
        origin: Where it stands: file and test.
        family: What the suite calls the family or the parser.
        raw: The raw output.
        tools: The request's tools.
        prompt_tail: The end of the prompt, if the suite gives it.
        calls: Names and arguments; arguments `None` where only the name is checked.
        n_calls: How many calls.
        content: The visible text, "" for none.
        reasoning: The reasoning, "" for none.
        is_cut: True if the output is cut, so that no whole call is expected of it beyond `calls`.
    """

    origin: str
    family: str
    raw: str
    tools: tuple[dict[str, Any], ...] = ()
    prompt_tail: str = ""
    calls: tuple[tuple[str, Any], ...] | None = None
    n_calls: int | None = None
    content: str | None = None
    reasoning: str | None = None
    is_cut: bool = False

    @property
    def key(self) -> str:
        """What makes two cases the same."""
        return json.dumps([self.raw, self.family, self.tools, self.prompt_tail], default=str, sort_keys=True)


@dataclass(frozen=True)
class Reading:
    """How the census reads a case, and in which ways that is not what the suite expects."""

    case: PeerCase
    parsed: ParsedMessage
    faults: tuple[str, ...]


def read_case(case: PeerCase) -> Reading:
    """Read a case with the family detected."""
    finish_reason = "length" if case.is_cut else "stop"
    context = ReadContext(case.tools, case.prompt_tail, finish_reason)
    parsed = pick_format(case.raw, context).read(case.raw, context)
    opener = _opener_in_prompt(case, parsed)
    if opener is not None:
        context = ReadContext(case.tools, opener, finish_reason)
        parsed = pick_format(case.raw, context).read(case.raw, context)
    return Reading(case, parsed, tuple(_faults(case, parsed)))


def _opener_in_prompt(case: PeerCase, parsed: ParsedMessage) -> str | None:
    """Return how the prompt must have ended, where a suite begins inside reasoning and gives no prompt."""
    is_first = bool(case.reasoning) and case.raw.lstrip().startswith((case.reasoning or "").strip())
    if case.prompt_tail or parsed.reasoning is not None or not is_first:
        return None
    tags = FORMATS[parsed.format].conventions.reasoning or ReasoningTags()
    return tags.openers[0]


def whole_calls(parsed: ParsedMessage) -> list[tuple[str | None, Any]]:
    """Return the calls that a client could execute."""
    return [
        (call.name, call.arguments_json)
        for call in parsed.calls
        if call.place is Place.BODY and call.status is CallStatus.COMPLETE
    ]


def _faults(case: PeerCase, parsed: ParsedMessage) -> Iterator[str]:
    calls = whole_calls(parsed)
    is_miscounted = case.n_calls is not None and len(calls) != case.n_calls
    if is_miscounted or (case.calls is not None and not _are_same(case.calls, calls)):
        yield "calls"
    # Who splits reasoning off alone leaves the calls in the content.
    is_alone = case.calls is None and case.n_calls is None
    has_content = case.content is not None and not (is_alone and parsed.calls)
    if has_content and (case.content or "").strip() != (parsed.content or "").strip():
        yield "content"
    if case.reasoning is not None and case.reasoning.strip() != (parsed.reasoning or "").strip():
        yield "reasoning"


def _are_same(expected: tuple[tuple[str, Any], ...], calls: list[tuple[str | None, Any]]) -> bool:
    if len(expected) != len(calls):
        return False
    pairs = zip(expected, calls, strict=True)
    return all(name == found and _is_value(wanted, given) for (name, wanted), (found, given) in pairs)


def _is_value(wanted: Any, given: Any) -> bool:
    """Say whether arguments are those expected; a `Partial` names only some of them."""
    if wanted is None:
        return True
    if isinstance(wanted, Partial):
        return isinstance(given, Mapping) and all(key in given and given[key] == wanted[key] for key in wanted)
    return json.dumps(wanted, sort_keys=True) == json.dumps(given, sort_keys=True) or wanted == given


class Partial(dict[str, Any]):
    """Some of the arguments of a call, all that a test looks at."""
