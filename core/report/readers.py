"""Which other parsers read an output, in one sentence: the same on the page, in the terminal and in reports."""

from __future__ import annotations

from collections.abc import Mapping

from prompt_debugger.core.base.account import readable_calls, tally_parsers
from prompt_debugger.core.base.types import Parse, ParserOutcome

_NAMED = 6


def parsers_sentence(parse: Parse, outcomes: Mapping[str, ParserOutcome]) -> str:
    """Return how many of the parsers that could run read the calls, which, and how many could not run.

    Args:
        parse: Our reading of the output.
        outcomes: Results by name, best first, their accounts filled in.
    """
    tally, written = tally_parsers(outcomes), readable_calls(parse)
    names = [f"`{name.removeprefix('vllm:')}`" for name in tally.reading]
    shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    of = f"{tally.ran} parser{'' if tally.ran == 1 else 's'}"
    failed = tally.asked - tally.ran
    note = f" {failed} more could not be run." if failed else ""
    if not names:
        return f"None of {of} {reading_words(written, is_several=False)}.{note}"
    return f"{len(names)} of {of} {reading_words(written, is_several=len(names) > 1)}: {shown}.{note}"


def reading_words(written: int, *, is_several: bool) -> str:
    """Return what parsers do that give every call as it was written."""
    verb, find = ("read", "find") if is_several else ("reads", "finds")
    if not written:
        return f"{find} no complete call, as none was written"
    return f"{verb} the call" if written == 1 else f"{verb} all {written} calls"
