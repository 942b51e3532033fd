"""The same request with two templates, two revisions, or two tokenizers."""

from __future__ import annotations

from dataclasses import dataclass

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.tools.experiments.difference import TokenDifference, diff_renders
from prompt_debugger.core.tools.experiments.variant import (
    Rendered,
    RenderFailure,
    RenderSetup,
    Variant,
    render_variant,
    units_of,
)


@dataclass(frozen=True, slots=True)
class Side:
    """What one of the two gives: the prompt, or why there is none; units are tokens, or words without a tokenizer."""

    text: str | None
    unit_count: int | None
    failure: RenderFailure | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The same request, rendered twice.

    Attributes:
        left: What the first gives.
        right: What the second gives.
        is_same_text: Whether the texts are equal.
        difference: Where tokens differ: their ids if both have one tokenizer, else their
            bytes; `None` if nothing differs, or if there is nothing to compare.
        renumbered: Tokens with the same bytes in both, but another id; 0 with one tokenizer.
    """

    left: Side
    right: Side
    is_same_text: bool
    difference: TokenDifference | None
    renumbered: int = 0


def compare_setups(body: JSONObject, left: RenderSetup, right: RenderSetup) -> Comparison:
    """Render a request with two setups and compare the prompts."""
    first = render_variant(Variant(body, left), is_traced=True)
    second = render_variant(Variant(body, right), is_traced=True)
    sides = _side(first), _side(second)
    if isinstance(first, RenderFailure) or isinstance(second, RenderFailure):
        return Comparison(*sides, is_same_text=False, difference=None)
    is_same_text = first.text == second.text
    if left.tokenizer is right.tokenizer or not (first.pieces and second.pieces):
        return Comparison(*sides, is_same_text=is_same_text, difference=_difference(first, second))
    difference = diff_renders(first, second, (first.pieces, second.pieces))
    return Comparison(*sides, is_same_text=is_same_text, difference=difference, renumbered=_renumbered(first, second))


def _side(made: Rendered | RenderFailure) -> Side:
    if isinstance(made, RenderFailure):
        return Side(None, None, made)
    return Side(made.text, len(made.keys))


def _difference(first: Rendered, second: Rendered) -> TokenDifference | None:
    if first.unit != second.unit:  # one side has no tokenizer
        first, second = (units_of(one.text, None, one.origins) for one in (first, second))
    return diff_renders(first, second)


def _renumbered(first: Rendered, second: Rendered) -> int:
    """Count tokens that are at the same characters of equal texts with the same bytes and another id."""
    if first.text != second.text:
        return 0
    ids = {(span, piece): key for span, piece, key in zip(first.char_spans, first.pieces, first.keys, strict=True)}
    return sum(
        (span, piece) in ids and ids[span, piece] != key
        for span, piece, key in zip(second.char_spans, second.pieces, second.keys, strict=True)
    )
