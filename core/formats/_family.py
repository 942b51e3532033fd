"""What most family files are made of: marks that betray the family, conventions, a scanner.

A family whose output is text with markers is one `TextFormat`; nothing here
knows a particular one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import FormatScore, ParsedMessage
from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.parse.conventions import COMMON_ENDS, Conventions
from prompt_debugger.core.parse.cut_markers import cut_marker_start
from prompt_debugger.core.parse.reading import CallScanner, no_calls, read_message
from prompt_debugger.core.parse.reasoning import ReasoningTags, reasoning_is_open

# Scores of marks, from "only this family writes it" to "many do".
CERTAIN, STRONG, FAIR, WEAK = 0.95, 0.8, 0.6, 0.3

NO_SIGN = FormatScore(0.0, "none of its markers occurs")

_CUT_SCORE = 0.2  # half a marker at the end, no other sign
_TAIL_SCORE, _TAIL_BONUS = 0.4, 0.17  # a prompt that ends like the family's, alone and with a mark
_MAX_SURE = 0.98  # what a mark and a tail prove together, less a hundredth of the mark
_OPENED_BONUS = 0.05  # a prompt that ends inside the family's own reasoning says more than its header
_SHARED_OPENER = "<think>"  # of so many families that it says nothing


@dataclass(frozen=True, slots=True)
class Mark:
    """A sign that a family wrote a text.

    Attributes:
        text: A literal that must occur.
        score: What it proves, 0 to 1.
        pattern: A regular expression that must be found as well; "" for none.
        unless: A literal of another family with which the sign says nothing; "" for none.
    """

    text: str
    score: float = CERTAIN
    pattern: str = ""
    unless: str = ""

    def find(self, raw: str) -> str | None:
        """Return the stretch of `raw` that shows this sign, `None` if it is not there."""
        if self.text not in raw or (self.unless and self.unless in raw):
            return None
        if not self.pattern:
            return self.text
        match = re.search(self.pattern, raw)
        return None if match is None else match.group()


class Weighed(NamedTuple):
    """How well a format explains a text, and its reading if that had to be made to tell."""

    score: FormatScore
    reading: ParsedMessage | None = None


class Tail(NamedTuple):
    """What at the end of a prompt shows a family, and whether it opens the family's own reasoning."""

    text: str
    is_opener: bool


@dataclass(frozen=True)
class TextFormat:
    """A family that writes its calls as text between markers.

    Attributes:
        name: Short name, such as `kimi_k2`.
        marks: Signs of the family; the best one found decides the score.
        conventions: What it does around reasoning and calls.
        scan: Finds its calls.
        tails: Texts at the end of the prompt that only this family's template writes.
        bare_score: Score for a call found without any mark; 0 if its calls always have one.
        bare_hints: Texts without which there can be no such call.
        bare_excludes: Texts that rule such a call out as evidence, such as code fences.
        facts: What else is known of the family.
    """

    name: str
    marks: tuple[Mark, ...] = ()
    conventions: Conventions = field(default_factory=Conventions)
    scan: CallScanner = no_calls
    tails: tuple[str, ...] = ()
    bare_score: float = 0.0
    bare_hints: tuple[str, ...] = ()
    bare_excludes: tuple[str, ...] = ()
    facts: FamilyFacts = field(default_factory=FamilyFacts)

    @property
    def call_markers(self) -> tuple[str, ...]:
        """Texts that only its calls have."""
        markers = self.facts.call_markers
        return tuple(sorted(self.conventions.markers)) if markers is None else markers

    def match(self, raw: str, context: ReadContext) -> FormatScore:
        """Say how well this format explains `raw`."""
        return self.weigh(raw, context).score

    def weigh(self, raw: str, context: ReadContext) -> Weighed:
        """Say how well this format explains `raw`; a reading that took is given along."""
        shown = next(((mark, text) for mark in self._ordered_marks if (text := mark.find(raw)) is not None), None)
        best, evidence = (0.0, NO_SIGN.evidence) if shown is None else (shown[0].score, f"{shown[1][:60]!r} occurs")
        if (tail := self.tail_in(context.prompt_tail)) is not None:
            best, evidence = _add_tail(best, evidence, tail)
        elif not best and self.may_be_bare(raw):
            return self._weigh_bare(raw, context)
        if not best and (cut := cut_marker_start(raw, self.cut_texts, context.finish_reason)) < len(raw):
            return Weighed(FormatScore(_CUT_SCORE, f"{raw[cut:]!r} at the end may be one of its markers, cut"))
        return Weighed(FormatScore(best, evidence) if best else NO_SIGN)

    def _weigh_bare(self, raw: str, context: ReadContext) -> Weighed:
        """Look for calls that no mark announces."""
        reading = self.read(raw, context)
        if not reading.calls:
            return Weighed(NO_SIGN)
        plural = "" if len(reading.calls) == 1 else "s"
        evidence = f"{len(reading.calls)} tool call{plural} in its notation"
        return Weighed(FormatScore(self.bare_score, evidence), reading)

    def read(self, raw: str, context: ReadContext) -> ParsedMessage:
        """Read `raw`; never raises on any text. Segments tile `raw`."""
        return read_message(self.name, raw, context, self.conventions, self.scan)

    @cached_property
    def _own_reasoning(self) -> ReasoningTags | None:
        """Tags or headers around reasoning that this family shares with few; `None` if it has none."""
        tags = self.facts.reasoning or self.conventions.reasoning
        if tags is None:
            return None
        own = [pair for pair in tags.pairs if pair[0] != _SHARED_OPENER]
        return ReasoningTags(tuple(opener for opener, _ in own), tuple(closer for _, closer in own)) if own else None

    @property
    def tail_texts(self) -> tuple[str, ...]:
        """Texts without one of which the end of a prompt does not show this family."""
        return (*self.tails, *(self._own_reasoning.openers if self._own_reasoning is not None else ()))

    def tail_in(self, prompt_tail: str) -> Tail | None:
        """Return what at the end of a prompt shows this family: its opener of reasoning, or another text of its own."""
        own = self._own_reasoning
        if own is not None and reasoning_is_open(prompt_tail, own, self.conventions.turn_texts):
            opener = max(own.openers, key=lambda opener: (prompt_tail.rfind(opener), len(opener)))
            return Tail(opener, is_opener=True)
        tail = next((tail for tail in self.tails if tail in prompt_tail), None)
        return None if tail is None else Tail(tail, is_opener=False)

    def may_be_bare(self, raw: str) -> bool:
        """Return whether `raw` has what a call without marks cannot do without."""
        if not self.bare_score:
            return False
        for hint in self.bare_hints:  # loops, as it is asked of every text: a generator takes twice the time
            if hint not in raw:
                return False
        return not any(text in raw for text in self.bare_excludes)

    @cached_property
    def cut_texts(self) -> frozenset[str]:
        """Markup of this family that others than plain text have."""
        thoughts = ReasoningTags()
        return self.conventions.markup - COMMON_ENDS - {*thoughts.openers, *thoughts.closers}

    @cached_property
    def _ordered_marks(self) -> tuple[Mark, ...]:
        return tuple(sorted(self.marks, key=lambda mark: -mark.score))


def _add_tail(best: float, evidence: str, tail: Tail) -> tuple[float, str]:
    """Add what the end of the prompt shows to what the text shows."""
    if best + _TAIL_BONUS > _TAIL_SCORE:
        # Of two that reach the most, the better mark wins.
        return min(_MAX_SURE + best / 100, best + _TAIL_BONUS), f"{evidence}, and the prompt ends with {tail.text!r}"
    return _TAIL_SCORE + (_OPENED_BONUS if tail.is_opener else 0.0), f"the prompt ends with {tail.text!r}"
