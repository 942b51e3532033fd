"""What constrained decoding would have made of an output.

A verdict never calls an output broken. A grammar is one engine's idea of a
format, usually stricter than the format itself; an output that it refuses
would have been *steered* onto another path, no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from prompt_debugger.core.base.types import JSON, Certainty


class GrammarStatus(StrEnum):
    """The grammar's word on a whole output."""

    OFF = "off"
    LEGAL = "legal"
    STEERED = "steered"
    INCOMPLETE = "incomplete"
    REFUSED = "refused"


class Cause(StrEnum):
    """Why a grammar steps in, found by relaxing one thing at a time."""

    TEXT_OUTSIDE_CALL = "text-outside-call"
    OTHER_TOOL = "other-tool"
    CALL_COUNT = "call-count"
    TOOL_NAME = "tool-name"
    PROPERTY_ORDER = "property-order"
    MISSING_PROPERTY = "missing-property"
    UNKNOWN_PROPERTY = "unknown-property"
    VALUE = "value"
    ARGUMENT_SCHEMA = "argument-schema"
    SPELLING = "spelling"
    END_TOO_EARLY = "end-too-early"


@dataclass(frozen=True, slots=True)
class SchemaRule:
    """The part of a tool spec that an intervention rests on.

    Attributes:
        tool: Name of the tool.
        path: Path in the request, such as `tools[0].function.parameters.properties.days.type`.
        argument: Path in the arguments, such as `days` or `rooms[].size`; "" for the whole.
        rule: What is declared there.
    """

    tool: str
    path: str
    argument: str
    rule: JSON


@dataclass(frozen=True, slots=True)
class Intervention:
    """One place at which the grammar would have stepped in.

    Attributes:
        char_offset: First character that it would not have let through, from 0; the length of the text for its end.
        token_index: Index of the token with that character, from 0; `None` without ids.
        token_id: Id of that token.
        token_text: The token; without ids, the text from there on, shortened.
        accepted: Start of that token that still was allowed.
        allowed: Ways on that the grammar allows from the token's start, a few of them.
        anything_but: True if almost anything was allowed but what came.
        may_end: Whether the output was allowed to end there.
        cause: Why.
        sentence: The same in plain words.
        rule: The part of the tool spec behind it, if a schema is.
        forgiven_by: What was relaxed to see what follows; `None` if nothing helped.
    """

    char_offset: int
    token_index: int | None
    token_id: int | None
    token_text: str
    accepted: str
    allowed: tuple[str, ...]
    anything_but: bool
    may_end: bool
    cause: Cause
    sentence: str
    rule: SchemaRule | None = None
    forgiven_by: str | None = None


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """What others say of the arguments in which the first intervention lies.

    Attributes:
        call: Name of the tool.
        schema_errors: JSON Schema's objections, each with its path; empty if it has none.
        is_json: Whether the arguments are complete JSON.
        llguidance: LLGuidance's word: `accepts`, `steps in`, `incomplete`, `refuses the schema`, or `not asked`.
        llguidance_offset: Character at which it steps in, from 0 in the output.
        note: What limits that word, if anything.
    """

    call: str
    schema_errors: tuple[str, ...]
    is_json: bool
    llguidance: str
    llguidance_offset: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class TokenReading:
    """What a grammar that reads markers by token id would say, where that differs from the text.

    Attributes:
        status: Its verdict.
        char_offset: Where it would have stepped in.
        token_index: The token there.
        sentence: What makes the difference.
    """

    status: GrammarStatus
    char_offset: int | None
    token_index: int | None
    sentence: str


@dataclass(frozen=True, slots=True)
class GrammarVerdict:
    """Whether constrained decoding would have let an output through.

    Attributes:
        status: The grammar's word.
        sentence: The same in plain words.
        family: Name of the format.
        structural_tag: Name of the structural tag; `None` if there is none for the format.
        enforcement: Level of enforcement, such as `auto` or `required+strict`.
        reading: What was fed to the grammar: `tokens` or `text`.
        constrains: What the grammar covers at this level, in plain words.
        starts_at: Character at which it sets in, from 0; later than 0 after a reasoning block.
        has_call: Whether a tool call was opened in its sight.
        interventions: Each place where it would have stepped in, judged with the earlier ones relaxed; empty if none.
        then: What follows the last of them.
        second_opinion: What JSON Schema and LLGuidance say of the same arguments.
        token_reading: What differs if markers are read by token id.
        notes: Limits of this verdict.
    """

    status: GrammarStatus
    sentence: str
    family: str
    structural_tag: str | None
    enforcement: str
    reading: str
    constrains: str = ""
    starts_at: int = 0
    has_call: bool = False
    interventions: tuple[Intervention, ...] = ()
    then: str = ""
    second_opinion: SecondOpinion | None = None
    token_reading: TokenReading | None = None
    notes: tuple[str, ...] = ()

    @property
    def first(self) -> Intervention | None:
        """The first intervention, if there is one."""
        return self.interventions[0] if self.interventions else None


class InForceStatus(StrEnum):
    """Whether a grammar was in force."""

    IN_FORCE = "in-force"
    NEVER = "never"
    UNKNOWN = "unknown"


class InForceReason(StrEnum):
    """Why a grammar was not in force, why that cannot be said, or what it held up."""

    NO_PLACE = "no-place-in-api"
    NOT_READ = "not-read"
    REASONING_NOT_ENDED = "reasoning-not-ended"
    NOT_APPLIED = "not-applied"
    NO_REASONING_PARSER = "no-reasoning-parser"
    NO_OUTPUT = "no-output"
    OTHER_RUN = "other-run"
    NOT_KNOWN = "grammar-not-known"
    REFUSED = "grammar-refused"
    OBEYED_ANYWAY = "obeyed-anyway"
    NO_ENGINE = "no-engine"


@dataclass(frozen=True, slots=True)
class Forbidden:
    """The first token that the grammar would not have let through.

    Attributes:
        token: Its index, from 0; `None` without tokens.
        char: Its first character, from 0; the length of the output for its end.
        text: The token, or the text from there on, shortened; "" for the end of the output.
        allowed: What might have come instead, a few ways.
    """

    token: int | None
    char: int
    text: str
    allowed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InForce:
    """Whether the grammar that a request asks for was in force.

    Attributes:
        status: The answer.
        fields: The fields of the request that ask for it.
        from_token: The first token that it held, from 0; `None` if none, or without tokens.
        from_char: The first character that it held; `None` if none.
        forbidden: The first token that it would have forbidden, where it was not in force.
        reason: Why it was not, or cannot be said; of one in force, what it held up; `None` if there is nothing to say.
        certainty: `observed` if server or output show it, `inferred` if it follows from how such servers work.
        sentence: All of it in plain words.
        fix: What to do; "" if nothing.
    """

    status: InForceStatus
    fields: tuple[str, ...]
    from_token: int | None = None
    from_char: int | None = None
    forbidden: Forbidden | None = None
    reason: InForceReason | None = None
    certainty: Certainty = Certainty.INFERRED
    sentence: str = ""
    fix: str = ""
