"""The outside contract: the documents of `render`, `parse` and `run`, field by field.

Scripts and trackers rely on them: add fields freely, rename and remove none, and raise
`SCHEMA_VERSION` if a meaning must change. A field with a default of `None` that is marked
as left out is present only in bundles, or where there is something to say.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Literal, cast

from pydantic import ConfigDict, Discriminator, GetCoreSchemaHandler, Tag
from pydantic_core import CoreSchema

from prompt_debugger.core.base.account import CharacterCounts, ParserTally
from prompt_debugger.core.base.types import (
    JSON,
    SCHEMA_VERSION,
    Api,
    Basis,
    Branch,
    CallMatch,
    CallOutcome,
    ChatResult,
    Comparability,
    Completion,
    Finding,
    JSONObject,
    LedgerEntry,
    Notice,
    ParserOutcome,
    PromptDifference,
    PromptSpan,
    Refusal,
    Segment,
    Server,
    ServerGrammar,
    ServerOutcome,
    Span,
    TemplateKwarg,
    Tokens,
    ToolCallAttempt,
    Verdict,
    VllmOutcome,
    Vocabulary,
)
from prompt_debugger.core.base.types.base import LEFT_OUT_IF_EMPTY, LEFT_OUT_IF_NONE
from prompt_debugger.core.base.types.frozen import value

# An unknown field is its writer's error; bytes are hex; NaN and the infinities get their names at the end.
WIRE = ConfigDict(extra="forbid", ser_json_bytes="hex", val_json_bytes="hex", ser_json_inf_nan="constants")


class OurKeys:
    """Marks a mapping whose keys are names of this program: any document can contain them, so they need no check."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the mapping's own schema, marked for `form`."""
        schema = cast("dict[str, object]", handler(source))
        return cast("CoreSchema", {**schema, "metadata": {"has_our_keys": True}})


OUR_KEYS = OurKeys()


@value(frozen=True, slots=True, kw_only=True)
class ErrorDocument:
    """Why something could not be done: `error` of every document, and alone if there is nothing else to say.

    Attributes:
        type: Whose fault: `RequestError`, `RenderError`, `BackendError`, `LabError`, `EngineError`, `SandboxError`,
            `MachineError`.
        message: What happened, one sentence.
        hint: The next step.
        line: Line of what was given, from 1.
        column: Column of it, from 1.
        field: Path of the field at fault.
        template_line: Line of the template, from 1.
        template_column: Column of the template, from 1.
        kind: What kind of failure a server's or the machine's is.
        status: The server's HTTP status.
        body: What the server said.
        log_tail: The last lines of the lab's log.
        limit: Which limit work on a text hit.
    """

    __pydantic_config__ = WIRE

    type: str
    message: str
    hint: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    line: int | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    column: int | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    field: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    template_line: int | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    template_column: int | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    kind: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    status: int | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    body: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    log_tail: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    limit: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)


@value(frozen=True, slots=True, kw_only=True)
class RenderDocument:
    """What `render` prints: a prompt, its tokens, and where every character came from.

    Attributes:
        schema_version: Raised if a meaning changes.
        id: The case's own, `null` if it has none.
        source: Who made the prompt: our render, or the server.
        text: The text that the model reads.
        identical: Whether the traced render equals the plain one of the reference library.
        effective_kwargs: Template variables besides messages and tools, as they reached the template.
        kwargs: The same with their sources, and those that were set and had no effect.
        parser_kwargs: Those that vLLM hands to the reasoning parser.
        unread: Paths of the request's fields that the template never read.
        branches: Where the template went, and where not.
        spans: Tile the text in order; none empty.
        tokens: Tile the ids in order; `null` without a tokenizer.
        note: How the prompt was come by, one sentence.
        proof: What the server does to the request, by which our render equals its prompt, a clause each; `null` if
            that is not proved.
        findings: What is wrong, worst first.
        template: The Jinja source; in bundles.
        error: Why there is no prompt.
    """

    __pydantic_config__ = WIRE

    schema_version: int = SCHEMA_VERSION
    id: JSON = None
    source: Literal["local", "server"]
    text: str
    identical: bool
    effective_kwargs: Mapping[str, JSON]
    kwargs: tuple[TemplateKwarg, ...]
    parser_kwargs: Mapping[str, JSON]
    unread: tuple[str, ...]
    branches: tuple[Branch, ...]
    spans: tuple[PromptSpan, ...]
    tokens: Tokens | None
    note: str
    proof: tuple[str, ...] | None = None
    findings: tuple[Finding, ...] = ()
    template: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    error: ErrorDocument | None = None


@value(frozen=True, slots=True, kw_only=True)
class CallRecord(ToolCallAttempt):
    """A tool call that the raw text holds, and what became of it.

    Attributes:
        outcome: What became of it.
    """

    outcome: CallOutcome


def _kind_of_outcome(outcome: object) -> str:
    """Return who gave a parser's outcome, by the fields that only one of them has."""
    if isinstance(outcome, Mapping):
        return "vllm" if "vllm_version" in outcome else "server" if "base_url" in outcome else "any"
    return "vllm" if isinstance(outcome, VllmOutcome) else "server" if isinstance(outcome, ServerOutcome) else "any"


OutcomeRecord = Annotated[
    Annotated[VllmOutcome, Tag("vllm")]
    | Annotated[ServerOutcome, Tag("server")]
    | Annotated[ParserOutcome, Tag("any")],
    Discriminator(_kind_of_outcome),
]


@value(frozen=True, slots=True, kw_only=True)
class ParseDocument:
    """What `parse` prints: what a raw output contains, and what became of it.

    Attributes:
        schema_version: Raised if a meaning changes.
        id: The case's own, `null` if it has none.
        raw: The raw output.
        format: Name of the format that read it.
        format_scores: How well each format explains it, from 0 to 1.
        format_evidence: Why, for those that explain anything.
        reasoning: Our reading of the hidden thinking; `null` if there is no block, "" if it is empty.
        content: Our reading of the visible text.
        calls: Every tool call that the text holds, whatever any parser did with it.
        compared: Whether output and message were compared, and why not; `null` without a message.
        characters: What became of the characters; `null` where nothing was compared.
        ledger: Tiles the raw text: where each stretch ended up.
        matches: Every call of output and message, once.
        invented: Fields of the message that no raw character explains.
        stream_ledger: The ledger of the streamed message; `null` without one.
        stream_matches: Every call of output and streamed message, once.
        stream_invented: Fields of the streamed message that no raw character explains.
        stream_compared: As `compared`, for the streamed message.
        parsers: What other parsers made of it, by name.
        parser_tally: How they fared.
        findings: What is wrong, worst first.
        notes: What could not be checked, and why.
        segments: Tile the raw text: what each stretch is by the format's own rules; in bundles.
        strippable: Marks inside content that a server may show or take out; in bundles.
        error: Why there is no reading.
    """

    __pydantic_config__ = WIRE

    schema_version: int = SCHEMA_VERSION
    id: JSON = None
    raw: str
    format: str
    format_scores: Annotated[Mapping[str, float], OUR_KEYS]
    format_evidence: Annotated[Mapping[str, str], OUR_KEYS]
    reasoning: str | None
    content: str | None
    calls: tuple[CallRecord, ...]
    compared: Comparability | None
    characters: CharacterCounts | None
    ledger: tuple[LedgerEntry, ...]
    matches: tuple[CallMatch, ...]
    invented: tuple[str, ...]
    stream_ledger: tuple[LedgerEntry, ...] | None
    stream_matches: tuple[CallMatch, ...] = ()
    stream_invented: tuple[str, ...] = ()
    stream_compared: Comparability | None = None
    parsers: Mapping[str, OutcomeRecord]
    parser_tally: ParserTally
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = dataclasses.field(default=(), metadata=LEFT_OUT_IF_EMPTY)
    segments: tuple[Segment, ...] | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    strippable: tuple[Span, ...] | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    error: ErrorDocument | None = None


@value(frozen=True, slots=True, kw_only=True)
class RunDocument:
    """What `run` prints, and what a bundle is: one request through all stages, `null` where a stage has not run.

    Attributes:
        schema_version: Raised if a meaning changes.
        evidence: What the run rests on.
        server: The server under test.
        request: The request as it was pasted.
        request_notices: Fields that a server would ignore, and repairs made while reading.
        sent: The body that went to the server.
        prompt: The prompt that the server used.
        local_prompt: Our render of the request as pasted.
        prompt_difference: Where the two diverge.
        generation_prompt: Text that opens the assistant turn by the template; "" if it has none.
        notes: What could not be obtained or checked, and why.
        refusal: The server would not take the request.
        raw: Raw output.
        raw_again: Output of raw completion on the same prompt ids, run in addition to the chat.
        chat: The chat answer as the request asked for it, whole or streamed.
        chat_stream: The streamed chat answer; the same one where the request asks for a stream.
        chat_whole: The answer that is not streamed, where the request asks for a stream and this was asked besides.
        parse: What the raw output contains, and what became of it.
        findings: What is wrong, worst first.
        verdict: The run in one sentence.
        prompt_tail: The end of the prompt, where no more of it is known.
        title: A name that a person gave to the run, where there is one.
        started: When it began, ISO 8601 in UTC, where that is known.
        request_text: What was pasted; in bundles.
        request_source: The form it was pasted in; in bundles.
        request_base_url: The server's address in a pasted command; in bundles.
        vocabulary: What is known of the tokenizer; in bundles.
        error: Why there is no run.
        api: By which API the server was asked: `chat`, `responses` or `messages`.
        sent_native: The body that went to the server, where that API is not chat completions.
        lost: What has no place in that API and was left out of the body, and where it had been.
        request_api: The API that the pasted body is of, where that is not chat completions.
        request_native: That body.
        server_grammar: The grammar that the server puts on the answer, where it renders the request itself.
    """

    __pydantic_config__ = WIRE

    schema_version: int = SCHEMA_VERSION
    evidence: Basis | None
    server: Server | None
    request: JSONObject
    request_notices: tuple[Notice, ...]
    sent: JSONObject
    prompt: RenderDocument | None
    local_prompt: RenderDocument | None
    prompt_difference: PromptDifference | None
    generation_prompt: str | None = None
    notes: tuple[str, ...]
    refusal: Refusal | None
    raw: Completion | None
    raw_again: Completion | None
    chat: ChatResult | None
    chat_stream: ChatResult | None
    chat_whole: ChatResult | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    parse: ParseDocument | None
    findings: tuple[Finding, ...]
    verdict: Verdict | None
    title: str = dataclasses.field(default="", metadata=LEFT_OUT_IF_EMPTY)
    started: str = dataclasses.field(default="", metadata=LEFT_OUT_IF_EMPTY)
    prompt_tail: str = dataclasses.field(default="", metadata=LEFT_OUT_IF_EMPTY)
    request_text: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    request_source: Literal["json", "curl", "python"] | None = dataclasses.field(
        default=None, metadata=LEFT_OUT_IF_NONE
    )
    request_base_url: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    vocabulary: Vocabulary | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    error: ErrorDocument | None = None
    api: Api = Api.CHAT
    sent_native: JSONObject | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    lost: tuple[Notice, ...] = dataclasses.field(default=(), metadata=LEFT_OUT_IF_EMPTY)
    request_api: Api | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    request_native: JSONObject | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    server_grammar: ServerGrammar | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
