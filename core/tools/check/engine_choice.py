"""Which of several engines to serve a model with: the one whose parsers return most, and of equals the first asked.

What fails only in larger deltas counts for less than what fails whole or token by token, as servers usually stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from prompt_debugger.core.complete import title_of
from prompt_debugger.core.tools.check.judge import Cell
from prompt_debugger.core.tools.check.recommend import VERDICTS, Recommendation

_UNASKED = {
    ("lmdeploy", "harmony"): "was not asked: its parser for gpt-oss, `gpt-oss`, wants ids of harmony's own vocabulary"
}
"""By engine and family, why a parser that the engine has is not among those asked."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What one engine's parsers made of the answers.

    Attributes:
        release: The engine's version.
        recommendation: Which of its parsers to take.
        row: What those returned, by answer.
        has_vocabulary: Whether they had the model's own vocabulary, not a stand-in.
        was_given_calls: Whether there was a call to give to its parsers: some templates print none.
        lacks_parser_for: The family of the outputs where none of its parsers is known to be for it; "" otherwise.
    """

    release: str
    recommendation: Recommendation
    row: Mapping[str, Cell] = field(default_factory=dict)
    has_vocabulary: bool = False
    was_given_calls: bool = True
    lacks_parser_for: str = ""

    @property
    def returned(self) -> tuple[int, int]:
        """How many answers come back whole and token by token, and how many of them in every chunking."""
        cells = self.row.values()
        return sum(cell.is_usable for cell in cells), sum(cell.is_passed for cell in cells)


def best_engine(asked: Mapping[str, Asked]) -> str:
    """Return the engine whose parsers return most answers; of equals the first, of none the one that may read some."""
    last = len(VERDICTS)
    return max(
        asked, key=lambda kind: (asked[kind].returned, last - VERDICTS.index(asked[kind].recommendation.verdict))
    )


def choice_sentence(asked: Mapping[str, Asked], best: str) -> str:
    """Return which engine to take and why; "" if only one was asked, or none had a call to read."""
    if len(asked) < 2 or not any(one.was_given_calls for one in asked.values()):
        return ""
    others = "; ".join(_words(kind, one) for kind, one in asked.items() if kind != best)
    if asked[best].recommendation.name is None:
        reported = [_words(best, asked[best]), others]
        return f"No tested engine can be recommended for this model: {'; '.join(reported)}."
    if asked[best].returned == (0, 0):
        reported = [_words(best, asked[best]), others]
        return f"No tested engine returns an answer of this model as it should: {'; '.join(reported)}."
    is_more = all(asked[best].returned > one.returned for kind, one in asked.items() if kind != best)
    why = "" if is_more else " (another returns as many, and this one was tested first)"
    return f"Take {title_of(best)} for this model{why}: {_words(best, asked[best])}; {others}."


def _notation(family: str) -> str:
    return "this notation, which belongs to no known family" if family == "generic" else f"the notation `{family}`"


def _words(kind: str, one: Asked) -> str:
    chosen = one.recommendation
    if chosen.name is None:
        if one.lacks_parser_for:
            why = _UNASKED.get((kind, one.lacks_parser_for)) or (
                f"has no parser known for {_notation(one.lacks_parser_for)}, and none returned the simplest call"
            )
        else:
            is_open = chosen.verdict == "unknown"
            why = "has no parser that reads the simplest call"
            if is_open:
                why = "cannot be judged"
                if one.was_given_calls and not one.has_vocabulary:
                    why += ", as its parsers had an approximate vocabulary and none returned the simplest call"
        return f"{title_of(kind)} {one.release} {why}"
    usable, passed = one.returned
    failing = next((answer for answer, cell in one.row.items() if not cell.is_usable), None)
    missing = None if failing is None else f"not `{failing}`: {one.row[failing].problem}"
    larger = f"{passed} in every chunking" if passed < usable else None
    more = "; ".join(filter(None, (missing, larger)))
    pair = chosen.name.partition(":")[2]
    reported = f"{title_of(kind)} {one.release} with `{pair}` returns {usable} of {len(one.row)} answers"
    return f"{reported} ({more})" if more else reported
