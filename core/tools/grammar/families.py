"""Which structural tag goes with which format, as vLLM 0.32 has it; derived from the records of the formats.

Source: vLLM 0.32.0, `structural_tag_model` of each tool parser; XGrammar 0.2.8, `builtin_structural_tag.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from prompt_debugger.core.formats import FORMATS, Grammar, TextFormat


@dataclass(frozen=True, slots=True)
class GrammarFamily:
    """A format that can be enforced.

    Attributes:
        name: Name of the format, or of one of several that share it.
        format: Name of the format.
        grammar: How vLLM constrains it.
        ends: End tokens, spelled out.
        reasoning_start: Opens a reasoning block; `None` if the grammar covers reasoning.
        reasoning_end: Closes one; the grammar sets in after it.
        suffix: What the markers of this checkpoint end in, with its colon.
    """

    name: str
    format: str
    grammar: Grammar
    ends: tuple[str, ...]
    reasoning_start: str | None
    reasoning_end: str | None
    suffix: str = ""


def families_of(formats: Mapping[str, TextFormat]) -> dict[str, GrammarFamily]:
    """Return the formats that can be enforced, by the name of the family."""
    found = (_family(one, grammar) for one in formats.values() for grammar in one.facts.grammars)
    return {family.name: family for family in found}


def find_family(name: str, raw: str = "") -> GrammarFamily | None:
    """Return the family of a format, or of its own name; `None` if vLLM 0.32 has no structural tag for it."""
    of_format = [family for family in FAMILIES.values() if family.format == name and family.grammar.sign]
    others = [family for family in of_format if re.search(family.grammar.sign, raw)]
    found = others[0] if others else FAMILIES.get(name)
    if found is None or not found.grammar.has_suffix:
        return found
    suffix = _SUFFIX.search(raw)
    ending = "" if suffix is None else suffix.group(1)
    return replace(
        found,
        suffix=ending,
        ends=tuple(dict.fromkeys(_suffixed(end, ending) for end in found.ends if ":" not in end)),
        reasoning_start=found.reasoning_start and _suffixed(found.reasoning_start, ending),
        reasoning_end=found.reasoning_end and _suffixed(found.reasoning_end, ending),
    )


def _suffixed(marker: str, suffix: str) -> str:
    """Return a marker as a checkpoint writes it: `<think>` and `:x1` make `<think:x1>`."""
    return re.sub(r"[｜|]?>\Z", lambda bracket: suffix + bracket.group(), marker)


def _family(model_format: TextFormat, grammar: Grammar) -> GrammarFamily:
    tags = None if grammar.covers_reasoning else model_format.conventions.reasoning
    return GrammarFamily(
        grammar.name or model_format.name,
        model_format.name,
        grammar,
        grammar.stops or tuple(sorted(model_format.conventions.ends)),
        None if tags is None else tags.openers[0],
        None if tags is None else tags.closers[0],
    )


_SUFFIX = re.compile(r"</?(?:think|tool_calls?|arg_key)(:[^\s<>]{1,40})>")
FAMILIES: Mapping[str, GrammarFamily] = families_of(FORMATS)
