"""The record of a family: everything about it that is not needed to read its output.

How a family's output is read is defined by its `Conventions` and its scanner. Everything else that a
rule, the grammar or a list of parsers says about families is derived from these records (`_tables.py`)
and written nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from prompt_debugger.core.base.structural_tag import StrictLevel, TagBuilder
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.parse.reasoning import ReasoningTags

IdCheck = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class ThinkingSwitch:
    """A template kwarg that turns thinking on and off.

    Attributes:
        on: The value with which the model thinks.
        off: The value with which it does not.
    """

    name: str
    on: JSON = True
    off: JSON = False


ENABLE_THINKING, THINKING = ThinkingSwitch("enable_thinking"), ThinkingSwitch("thinking")


@dataclass(frozen=True, slots=True)
class Grammar:
    """The structural tag with which vLLM 0.32 constrains a family's calls.

    Attributes:
        parser: vLLM's tool parser that asks for it.
        build: Builds it where vLLM does not use XGrammar's tag; where it returns `None`, XGrammar's is used after all.
        name: Its name where a format has several grammars; "" for the format's name.
        sign: Pattern that distinguishes the output of this checkpoint from others of its format.
        stops: Tokens that end generation, where they are fewer than the family's ends.
        default_level: Strict level that the parser sets unasked.
        covers_reasoning: True if the grammar holds from the first token, not only after reasoning.
        constrains_auto: False if nothing is enforced while the model may choose.
        has_suffix: True if the markers of a checkpoint may end in their own suffix, such as `:x1`.
    """

    structural_tag: str
    parser: str
    build: TagBuilder | None = None
    name: str = ""
    sign: str = ""
    stops: tuple[str, ...] = ()
    default_level: StrictLevel = "auto"
    covers_reasoning: bool = False
    constrains_auto: bool = True
    has_suffix: bool = False


@dataclass(frozen=True, slots=True)
class WrittenCalls:
    """How models begin a call, where their template prints past calls differently.

    Attributes:
        printed: What the template prints, as a pattern.
        written: What a model writes in its place, as a replacement of the pattern.
        says: Both in words, with where it is documented; follows "The template prints" in a sentence.
    """

    printed: str
    written: str
    says: str


@dataclass(frozen=True, slots=True)
class ParserNames:
    """What a server software calls its parsers for a family; empty where that is not certain.

    Attributes:
        tools: Its tool parsers that read the calls, the one to recommend first.
        reasonings: Its reasoning parsers, likewise.
    """

    tools: tuple[str, ...] = ()
    reasonings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Models that write their family's notation, but for which engines have parsers with other names.

    Attributes:
        sign: What shows them in a template, in what it renders, or in the special tokens of a vocabulary, as a pattern.
        parser_names: Their parsers by kind of engine, vLLM's under `vllm`, the preferred one first; none for an
            engine that has no separate names for them.
    """

    sign: str
    parser_names: Mapping[str, ParserNames]


@dataclass(frozen=True, slots=True)
class FamilyFacts:
    r"""What is known about a family besides how its output is read.

    Attributes:
        tool_parsers: vLLM 0.32's tool parsers that read its calls, the one to recommend first.
        reasoning_parsers: vLLM 0.32's reasoning parsers that split its reasoning, the one to recommend first.
        parser_names: What other server software calls its parsers for it, by kind of engine. Names that the engine's
            own record has (`core.complete.engines`) are only there.
        checkpoints: Models of the family that have parsers under other names; where several match, the first counts.
        parsers_ignoring_switch: Reasoning parsers that ignore the switches: they always begin inside reasoning.
        switches: Template kwargs that switch thinking, the usual one first.
        grammars: How vLLM constrains its calls; the first one is the usual one.
        reasoning: What opens and ends reasoning where the family has no tags for it but headers.
        call_markers: Texts that only its calls have; `None` for the structural texts of its conventions.
        has_json_arguments: Whether the arguments of a call are written as one JSON object.
        id_problem: Says what is wrong with a tool call id that the model wrote; `None` if ids have no fixed form.
        stripped: What a call looks like once a server has taken its control tokens away, as a pattern with the
            group `name`; "" if its markers are ordinary text, or nothing tells such a call from prose.
        message_ends: The end tokens that end one message but not the turn.
        markers_are_plain_words: Whether ordinary words may be part of its markup, at the beginning of its markers or
            as its headers.
        begun_call: How a call without any marker begins, as far as it goes, as a pattern whose `^` is the start of a
            line; a stream is held back from there on, since only its end shows what it is. "" if it writes none.
        list_marker: Its special token before a JSON list of calls: the list is all that is left where a server strips
            special tokens; "" if it writes none.
        model_names: Words in the names of its models, in lower case, where a rule has to know the family by name; a `/`
            begins the name after its owner.
        is_plain_words: Whether its notation is words or code for a reader, which no parser of a server takes out.
        same_notation: Families with the same notation, which cannot be distinguished by the text alone.
        sample: An output with one whole call, of `get_weather` with `{"city": "Paris"}`, used to check that a
            parser works at all; "" if there is none.
        written_calls: How its models write calls, where the template prints past ones differently; else `None`.
        thinks_first: Whether its models usually reason before a call, and no switch turns that off.
    """

    tool_parsers: tuple[str, ...] = ()
    reasoning_parsers: tuple[str, ...] = ()
    parser_names: Mapping[str, ParserNames] = field(default_factory=dict)
    checkpoints: tuple[Checkpoint, ...] = ()
    parsers_ignoring_switch: tuple[str, ...] = ()
    switches: tuple[ThinkingSwitch, ...] = ()
    grammars: tuple[Grammar, ...] = ()
    reasoning: ReasoningTags | None = None
    call_markers: tuple[str, ...] | None = None
    has_json_arguments: bool = False
    id_problem: IdCheck | None = None
    stripped: str = ""
    message_ends: tuple[str, ...] = ()
    markers_are_plain_words: bool = False
    begun_call: str = ""
    list_marker: str = ""
    model_names: tuple[str, ...] = ()
    is_plain_words: bool = False
    same_notation: tuple[str, ...] = ()
    sample: str = ""
    written_calls: WrittenCalls | None = None
    thinks_first: bool = False
