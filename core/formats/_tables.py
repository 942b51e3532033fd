"""What rules, grammar and lists of parsers ask of all families at once, derived from the records.

Nothing about a family is written here: a family file that is dropped in is in every table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from prompt_debugger.core.base.types import Span
from prompt_debugger.core.formats._facts import ThinkingSwitch
from prompt_debugger.core.formats._family import TextFormat
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.signs import is_control

# Parsers that belong to no family: the model's files tell them the format.
PARSERS_OF_ANY_FORMAT = frozenset({"hf"})
_CAPITALS = re.compile(r"\[/?[A-Z_]+\]")


class ReasoningPair(NamedTuple):
    """What opens reasoning, and what ends it."""

    opener: str
    closer: str


class StrippedCall(NamedTuple):
    """What looks like a call that lost its control tokens: whose it would be, its tool, and where it is."""

    format: str
    name: str
    char_span: Span


@dataclass(frozen=True)
class FamilyTables:
    """Facts about all families together.

    Attributes:
        reasoning_pairs: Tags around reasoning of any family, the longest opener first.
        prompt_pairs: The same, and headers that open reasoning: what a prompt may end with.
        call_markers: Texts that only calls have.
        unseen: Control tokens within content or reasoning that no client is shown.
        turn_markers: Texts that open or close a turn.
        turn_openers: Texts that open a turn and that no model writes within its own.
        turn_ends: Texts that end a turn, and with which no prompt opens one.
        end_texts: Texts of the tokens that end a turn.
        control_texts: Texts of markup that look like nothing else, as `[ARGS]` does and `<tool_call>` does not.
        first_signs: Punctuation with which markup begins, but for `<`, `[` and `]`.
        second_signs: Punctuation after the `<` with which markup begins.
        tool_parsers: vLLM's tool parsers by format, the one to recommend first.
        reasoning_parsers: vLLM's reasoning parsers by format, the one to recommend first.
        switches: Template kwargs that switch thinking, the most usual first.
        switch_by_parser: The switch that goes with each reasoning parser.
        parsers_ignoring_switch: Reasoning parsers that no switch reaches.
        json_formats: Formats that write arguments as one JSON object.
    """

    reasoning_pairs: tuple[ReasoningPair, ...]
    prompt_pairs: tuple[ReasoningPair, ...]
    call_markers: tuple[str, ...]
    unseen: frozenset[str]
    turn_markers: tuple[str, ...]
    turn_openers: tuple[str, ...]
    turn_ends: tuple[str, ...]
    end_texts: tuple[str, ...]
    control_texts: tuple[str, ...]
    first_signs: str
    second_signs: str
    tool_parsers: Mapping[str, tuple[str, ...]]
    reasoning_parsers: Mapping[str, tuple[str, ...]]
    switches: tuple[ThinkingSwitch, ...]
    switch_by_parser: Mapping[str, ThinkingSwitch]
    parsers_ignoring_switch: frozenset[str]
    json_formats: frozenset[str]


def tables_of(formats: Mapping[str, TextFormat]) -> FamilyTables:
    """Derive the tables from the records of some formats."""
    every = tuple(formats.values())
    tags = [one.conventions.reasoning for one in every]
    headers = [one.facts.reasoning for one in every]
    turns = {text for one in every for text in one.conventions.turns}
    ends = {text for one in every for text in one.conventions.ends}
    thoughts = {text.strip() for one in tags if one is not None for text in (*one.openers, *one.closers)}
    markup = {text for one in every for text in one.conventions.markup}
    structural = {text for one in every for text in one.conventions.markers}
    return FamilyTables(
        reasoning_pairs=_pairs(tags),
        prompt_pairs=_pairs([*tags, *headers]),
        call_markers=_longest_first(text for one in every for text in one.call_markers),
        unseen=frozenset(text for one in every for text in one.conventions.unseen),
        turn_markers=_longest_first({*turns, *(end for end in ends if _is_token(end))} - thoughts),
        turn_openers=_longest_first(turns - structural - ends),
        turn_ends=_longest_first({end for end in ends if _is_token(end)} - turns - thoughts),
        end_texts=_longest_first(ends),
        control_texts=_longest_first(text for text in markup | turns if is_control(text) or _CAPITALS.fullmatch(text)),
        first_signs=_signs(text[:1] for text in markup if text[:1] not in "<[]"),
        second_signs=_signs(text[1:2] for text in markup if text[:1] == "<"),
        tool_parsers={one.name: one.facts.tool_parsers for one in every if one.facts.tool_parsers},
        reasoning_parsers={one.name: one.facts.reasoning_parsers for one in every if one.facts.reasoning_parsers},
        switches=_sort_by_use(switch for one in every for switch in one.facts.switches),
        switch_by_parser={
            parser: one.facts.switches[0]
            for one in every
            if one.facts.switches
            for parser in one.facts.reasoning_parsers
            if parser not in one.facts.parsers_ignoring_switch
        },
        parsers_ignoring_switch=frozenset(parser for one in every for parser in one.facts.parsers_ignoring_switch),
        json_formats=frozenset(one.name for one in every if one.facts.has_json_arguments),
    )


def find_stripped_calls(
    formats: Mapping[str, TextFormat], text: str, tool_names: Iterable[str]
) -> Iterator[StrippedCall]:
    """Yield what looks like calls of the request's tools that lost their control tokens, format by format."""
    known = frozenset(tool_names)
    for one in formats.values() if known else ():
        if not one.facts.stripped:
            continue
        for match in re.finditer(one.facts.stripped, text):
            if match.group("name") in known:
                yield StrippedCall(one.name, match.group("name"), Span(*match.span()))


def _pairs(tags: Iterable[ReasoningTags | None]) -> tuple[ReasoningPair, ...]:
    found = {ReasoningPair(*pair) for one in tags if one is not None for pair in one.pairs}
    return tuple(sorted(found, key=lambda pair: (-len(pair.opener), pair)))


def _longest_first(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(texts) - {""}, key=lambda text: (-len(text), text)))


def _signs(chars: Iterable[str]) -> str:
    return "".join(sorted({char for char in chars if char and not char.isalnum() and not char.isspace()}))


def _is_token(text: str) -> bool:
    """Return whether a text can be nothing but a control token: `</s>` is also a tag of HTML."""
    return is_control(text) or text.endswith(("|>", "_turn>"))


def _sort_by_use(switches: Iterable[ThinkingSwitch]) -> tuple[ThinkingSwitch, ...]:
    every = list(switches)
    return tuple(sorted(dict.fromkeys(every), key=lambda one: (-every.count(one), every.index(one))))
