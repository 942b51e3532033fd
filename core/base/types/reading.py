"""4 · What a raw output contains, and what became of it in a message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from prompt_debugger.core.base.types.base import JSONObject, Span
from prompt_debugger.core.base.types.finding import Certainty
from prompt_debugger.core.base.types.frozen import value


class CallStatus(StrEnum):
    """How well-formed a tool call in raw text is."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"


class Place(StrEnum):
    """The part of the output that a tool call is in."""

    BODY = "body"
    REASONING = "reasoning"


class SegmentKind(StrEnum):
    """What a stretch of raw output is, by the format's own rules."""

    REASONING = "reasoning"
    CONTENT = "content"
    CALL_NAME = "call_name"
    CALL_ID = "call_id"
    CALL_ARGUMENTS = "call_arguments"
    MARKUP = "markup"
    END = "end"


class Fate(StrEnum):
    """Where a stretch of raw output ended up in a result."""

    REASONING = "reasoning"
    CONTENT = "content"
    CALL_NAME = "call_name"
    CALL_ID = "call_id"
    CALL_ARGUMENTS = "call_arguments"
    MARKUP = "markup"
    END = "end"
    LOST = "lost"
    ALTERED = "altered"


@value(frozen=True, slots=True)
class ToolCallAttempt:
    """One tool call that the raw text holds, good or bad.

    Attributes:
        name: Tool name as written, without the format's decoration; `None` if absent.
        arguments: Exactly as emitted.
        arguments_json: Decoded, if it is a JSON object.
        id: Tool call id as written, such as `functions.search:0`; `None` if the format has none.
        status: Complete, truncated or malformed.
        place: In the body or inside reasoning.
        char_span: The whole call, its own markup included.
        name_span: The name alone.
        id_span: The id alone.
        arguments_span: The arguments alone; empty span if none were written.
        token_span: The whole call in output tokens, where ids are known.
        problem: What is wrong with it, in plain words.
        deviation: How a complete call departs from the notation of its family, which a parser may refuse; `None` if it
            does not.
    """

    name: str | None
    arguments: str
    arguments_json: JSONObject | None
    id: str | None
    status: CallStatus
    place: Place
    char_span: Span
    name_span: Span | None = None
    id_span: Span | None = None
    arguments_span: Span | None = None
    token_span: Span | None = None
    problem: str | None = None
    deviation: str | None = None


@value(frozen=True, slots=True)
class Segment:
    """A stretch of raw output with one meaning.

    Attributes:
        char_span: Where it is in the raw text.
        kind: What it is.
        call_index: Index into `ParsedMessage.calls`, for the parts of a call.
    """

    char_span: Span
    kind: SegmentKind
    call_index: int | None = None


@value(frozen=True, slots=True)
class ParsedMessage:
    """Our own reading of a raw output.

    Attributes:
        format: Name of the format that read it.
        reasoning: Hidden thinking; `None` if there is no block, "" if it is empty.
        content: Visible text; `None` if there is none.
        calls: Every tool call, in order of appearance.
        segments: Tile the raw text in order; none empty.
        strippable: Marks inside content that a server may show or take out, such as those around citations.
    """

    format: str
    reasoning: str | None
    content: str | None
    calls: tuple[ToolCallAttempt, ...]
    segments: tuple[Segment, ...]
    strippable: tuple[Span, ...] = ()


@value(frozen=True, slots=True)
class FormatScore:
    """How well a format explains a raw text: 0 not at all, 1 certainly; with the reason."""

    score: float
    evidence: str


@value(frozen=True, slots=True)
class LedgerEntry:
    """Where one stretch of raw output ended up.

    Attributes:
        char_span: Where it is in the raw text.
        fate: What became of it.
        target: Field of the message, such as `tool_calls[0].function.arguments`, if it is there.
    """

    char_span: Span
    fate: Fate
    target: str | None = None


class CallOutcome(StrEnum):
    """What became of one tool call; every count of calls anywhere is a count of these.

    `KEPT` is returned as written, apart from its id; `ALTERED` has another name or other arguments; `DROPPED` was
    written and not returned; `DRAFT` is inside reasoning and was not returned, which is not a loss; in a `CUT` one
    the output ends, whatever a server made of it; `INVENTED` was never written; `UNKNOWN` is all that can be said
    where output and message cannot be compared.
    """

    KEPT = "kept"
    ALTERED = "altered"
    DROPPED = "dropped"
    DRAFT = "draft"
    CUT = "cut"
    INVENTED = "invented"
    UNKNOWN = "unknown"


@value(frozen=True, slots=True)
class CallMatch:
    """How a tool call of the raw text and one of the message belong together.

    Attributes:
        raw_index: Index into `ParsedMessage.calls`; `None` for an invented call.
        message_index: Index into the message's `tool_calls`; `None` for a call that was not returned.
        altered: Fields that differ: `name`, `arguments`, `id`. An `id` alone is the server's own business.
        outcome: What became of the call; `unknown` where output and message cannot be compared.
    """

    raw_index: int | None
    message_index: int | None
    altered: tuple[str, ...] = ()
    outcome: CallOutcome = CallOutcome.UNKNOWN


@value(frozen=True, slots=True)
class Comparability:
    """Whether a raw output and a message may be compared; decided once, before the ledger.

    Attributes:
        certainty: How surely both belong to one generation; `None` if nothing can be said.
        reason: Why nothing can be said, or what is assumed, a clause without full stop; "" if neither.
    """

    certainty: Certainty | None
    reason: str = ""


@value(frozen=True, slots=True)
class Ledger:
    """The account of one raw output against one message.

    Attributes:
        entries: Tile the raw text in order; none empty. Where nothing was compared, where it all should go.
        matches: Every call of either side, once.
        invented: Message fields that no raw character explains, such as `tool_calls[1]`.
        comparability: Whether the two may be compared; `None` without a message.
    """

    entries: tuple[LedgerEntry, ...]
    matches: tuple[CallMatch, ...] = ()
    invented: tuple[str, ...] = ()
    comparability: Comparability | None = None


@value(frozen=True, slots=True)
class ParserAccount:
    """What a parser made of the calls of an output, and how many characters it lost.

    Attributes:
        dropped: Calls of the output that it does not give.
        altered: Calls that it gives with another name or other arguments.
        invented: Calls that the output does not hold.
        cut: Calls inside which the output ends.
        missing: Characters that are lost or altered; a stretch of whitespace alone does not count.
    """

    dropped: int
    altered: int
    invented: int
    cut: int
    missing: int

    @property
    def is_right(self) -> bool:
        """Whether it gives every whole call as it was written, and no other."""
        return self.dropped + self.altered + self.invented == 0


@value(frozen=True, slots=True)
class ParserOutcome:
    """What a named parser made of the raw text, offline.

    Attributes:
        reasoning: Its reasoning.
        content: Its content.
        tool_calls: Its tool calls, in the shape of an assistant message.
        error: Why it gave nothing, if it failed.
        finish_reason: Its word, where it has one.
        stream_equal: Whether streaming gave the same; `None` if not tried.
        splits_tried: How many chunkings were tried.
        first_unequal: The smallest differing chunking, in plain words.
        account: Its result compared with the census; `None` if it failed or no one compared.
    """

    reasoning: str | None
    content: str | None
    tool_calls: tuple[JSONObject, ...]
    error: str | None = None
    finish_reason: str | None = None
    stream_equal: bool | None = None
    splits_tried: int = 0
    first_unequal: str | None = None
    account: ParserAccount | None = None


@value(frozen=True, slots=True)
class Parse:
    """Everything the parse stage knows about one raw output.

    Attributes:
        raw: The raw text.
        format_scores: Score of every format, by name.
        parsed: Our reading.
        ledger: Our reading against the chat message (or against itself, without one).
        stream_ledger: The same against the streamed message.
        parsers: What other parsers made of it, by name such as `vllm:kimi_k2`.
    """

    raw: str
    format_scores: Mapping[str, FormatScore]
    parsed: ParsedMessage
    ledger: Ledger
    stream_ledger: Ledger | None = None
    parsers: Mapping[str, ParserOutcome] = field(default_factory=dict)
