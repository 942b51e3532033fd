"""Words and figures that several views share: counts with units, evidence levels, fates, severities."""

from __future__ import annotations

import re

from prompt_debugger.core.base.text import capitalized
from prompt_debugger.core.base.types import Basis, CallOutcome, Fate, Severity, Stage

_PLAIN_START = re.compile(r"[a-z]+(?:[ ,']|:(?!//))")

EVIDENCE_WORDS = {
    Basis.SAME_RUN: "same run",
    Basis.ASSUMED_RUN: "assumed run",
    Basis.OWN_RENDER: "own render",
    Basis.TEXT_ONLY: "text only",
}

EVIDENCE_HINTS = {
    Basis.SAME_RUN: "The server reported the token ids of this run: prompt, raw output and message belong together.",
    Basis.ASSUMED_RUN: "Raw output and answer are in one text; it is assumed that they belong to one run.",
    Basis.OWN_RENDER: "The prompt was rendered here and also completed raw: two runs of the same ids.",
    Basis.TEXT_ONLY: "No token ids were available: the raw output was requested by text, and may differ.",
}

FATE_WORDS = {
    Fate.REASONING: "reasoning",
    Fate.CONTENT: "content",
    Fate.CALL_NAME: "tool name",
    Fate.CALL_ID: "tool call id",
    Fate.CALL_ARGUMENTS: "arguments",
    Fate.MARKUP: "markup",
    Fate.END: "end token",
    Fate.LOST: "lost",
    Fate.ALTERED: "altered",
}

OUTCOME_WORDS = {
    CallOutcome.KEPT: "\u2713 returned",
    CallOutcome.ALTERED: "~ altered",
    CallOutcome.DROPPED: "\u2715 dropped",
    CallOutcome.DRAFT: "\u25cb draft inside reasoning, not returned",
    CallOutcome.CUT: "\u2026 cut: the output ends inside it",
    CallOutcome.INVENTED: "\u2715 invented",
    CallOutcome.UNKNOWN: "? unknown",
}

SEVERITY_MARKS = {Severity.ERROR: "\u2715", Severity.WARNING: "!", Severity.NOTE: "i"}

STAGE_WORDS = {
    Stage.REQUEST: "request",
    Stage.RENDER: "render",
    Stage.COMPLETE: "complete",
    Stage.PARSE: "parse",
    Stage.CONTRACT: "contract",
}


def count_of(number: int, word: str) -> str:
    """Return a count with its unit: `1 token`, `1,024 tokens`, `2 switches`."""
    return f"{number:,} {word}" + ("" if number == 1 else "es" if word.endswith("ch") else "s")


def seconds(value: float | None) -> str | None:
    """Return a duration for people, `None` if unknown."""
    if value is None:
        return None
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"


def joined(*parts: str | None) -> str:
    """Return the parts that are there, separated by a middle dot."""
    return " · ".join(part for part in parts if part)


def shortened(text: str, limit: int = 400) -> str:
    """Return `text`, cut to `limit` characters with the number left out."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit:,} more characters)"


def as_sentence(text: str) -> str:
    """Return a message as a sentence: a capital first, a full stop last."""
    if _PLAIN_START.match(text):  # not `messages[0]`, a name or a path
        text = capitalized(text)
    return text if text.endswith((".", "…", "?", "!")) else text + "."
