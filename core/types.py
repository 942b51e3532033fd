"""The values that travel through the pipeline, and nothing else.

Everything here is frozen: a stage receives values and returns new ones. The
whole run is one value, the `Trace`; a stage that has not run is `None` in it.

Offsets: every span is half-open and its field name carries the unit.
`char_span` counts Unicode code points, `token_span` counts tokens, both from 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, NamedTuple, TypeAlias

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
JSONObject: TypeAlias = "dict[str, JSON]"

SCHEMA_VERSION = 1


class Span(NamedTuple):
    """A half-open stretch `[start, stop)`; the field that holds it names the unit."""

    start: int
    stop: int


class Stage(StrEnum):
    """Where in a run something happened, in pipeline order."""

    REQUEST = "request"
    RENDER = "render"
    COMPLETE = "complete"
    PARSE = "parse"
    CONTRACT = "contract"


class Evidence(StrEnum):
    """What the statements of a run rest on, best first."""

    SAME_RUN = "same-run"
    OWN_RENDER = "own-render"
    TEXT_ONLY = "text-only"


# --- 1 request ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Notice:
    """Something about the request that is worth saying and is no error.

    Attributes:
        field: Path of the field, such as `messages[0].content`.
        message: What is to be said about it, one sentence.
        line: Line in the pasted text, from 1, where known.
        column: Column in the pasted text, from 1, where known.
    """

    field: str
    message: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A chat completion request as somebody wrote it.

    Attributes:
        body: The body, complete: nothing unknown is thrown away.
        text: What was pasted; keys in commands and snippets are masked, length and places kept.
        source: The form it was pasted in.
        base_url: Server address named in a pasted command, up to and including `/v1`.
        notices: Fields that a server would ignore, and repairs made while reading.
    """

    body: JSONObject
    text: str
    source: Literal["json", "curl", "python"] = "json"
    base_url: str | None = None
    notices: tuple[Notice, ...] = ()

    @property
    def messages(self) -> tuple[JSONObject, ...]:
        """The messages that are objects, in order."""
        messages = self.body.get("messages")
        return tuple(m for m in messages if isinstance(m, dict)) if isinstance(messages, list) else ()

    @property
    def tools(self) -> tuple[JSONObject, ...]:
        """The tool specs that are objects, in order."""
        tools = self.body.get("tools")
        return tuple(t for t in tools if isinstance(t, dict)) if isinstance(tools, list) else ()


# --- 2 render ----------------------------------------------------------------


class SpanKind(StrEnum):
    """Where a stretch of prompt text came from."""

    TEMPLATE = "template"
    REQUEST = "request"
    ESCAPED = "escaped"
    SCALAR = "scalar"
    STRUCTURE = "structure"
    ENVIRONMENT = "environment"
    COMPUTED = "computed"
    UNKNOWN = "unknown"


class TokenKind(StrEnum):
    """What a token is in its vocabulary."""

    TEXT = "text"
    SPECIAL = "special"
    ADDED = "added"
    BYTE = "byte"


@dataclass(frozen=True, slots=True)
class PromptSpan:
    """A stretch of prompt text with one origin.

    Attributes:
        char_span: Where it stands in the prompt.
        kind: What produced it.
        field: Request field it shows, such as `messages[0].content`, if any.
        field_span: Characters of that field, if exact.
        template_line: Line of the template that wrote it, from 1.
        template_column: Column of the template, from 1.
    """

    char_span: Span
    kind: SpanKind
    field: str | None = None
    field_span: Span | None = None
    template_line: int | None = None
    template_column: int | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a text.

    Attributes:
        id: Its number in the vocabulary.
        text: The characters of the text it covers; "" for a byte inside a character.
        char_span: Where those characters stand.
        kind: What it is in the vocabulary.
        piece: Its bytes.
        field: Request field its first attributed character came from.
        template_line: Template line its first character came from, from 1.
        injected: True for a control token that request data produced.
    """

    id: int
    text: str
    char_span: Span
    kind: TokenKind
    piece: bytes
    field: str | None = None
    template_line: int | None = None
    injected: bool = False


@dataclass(frozen=True, slots=True)
class Branch:
    """A place where a template can go this way or that, and how often one render went there.

    Attributes:
        kind: `if`, `elif`, `else`, `for`, `macro`, `call`, `inline-if` or `inline-else`.
        expression: Its condition, iteration or signature as written; "" for `else`.
        line, column, end_line: Where its tag stands, from 1, and the line on which its body ends.
        runs: How often its body ran: of a loop its rounds, of a macro its calls.
        skips: How often its statement was reached and went elsewhere; of a loop, had nothing to go through.
    """

    kind: str
    expression: str
    line: int
    column: int
    end_line: int
    runs: int
    skips: int


class KwargSource(StrEnum):
    """Who gave a template variable its value, weakest first."""

    DEFAULT = "default"
    TOKENIZER = "tokenizer"
    SERVER_DEFAULT = "server_default"
    REQUEST = "chat_template_kwargs"
    TOP_LEVEL = "top_level"


@dataclass(frozen=True, slots=True)
class TemplateKwarg:
    """A template variable besides messages and tools, by the precedence of vLLM.

    Attributes:
        name, value: As they reach the template.
        source: Who gave it.
        field: Request field that gave it, such as `reasoning_effort`, if one did.
        reaches_template: False for what a server uses or drops before the template.
        read: Whether this render read it; `None` where that is not known.
        mentioned: Whether the template has a variable of this name; `None` where that is not known.
        reaches_parser: Whether vLLM hands it to the reasoning parser.
        overrides: The weaker values it won over, as source and value, strongest first.
    """

    name: str
    value: JSON
    source: KwargSource
    field: str | None = None
    reaches_template: bool = True
    read: bool | None = None
    mentioned: bool | None = None
    reaches_parser: bool = False
    overrides: tuple[tuple[KwargSource, JSON], ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """Rendered text with the origin of every character.

    Attributes:
        source: Who made it: our render, or the server.
        text: The text that the model reads, special tokens spelled out.
        spans: Tile `text` in order; none empty.
        tokens: Tile the ids in order; `None` without a tokenizer.
        identical: True if the traced render equals the plain one of the reference library.
        effective_kwargs: Template variables besides messages and tools, as they reached the template.
        unread: Request field paths that the template never read.
        template: Jinja source used, if known.
        note: How this prompt was come by, one sentence.
        branches: Where the template went and where not, in order of appearance; empty if not traced.
        kwargs: The effective kwargs with their sources, and those that were set and had no effect.
    """

    source: Literal["local", "server"]
    text: str
    spans: tuple[PromptSpan, ...]
    tokens: tuple[Token, ...] | None
    identical: bool = True
    effective_kwargs: Mapping[str, JSON] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    template: str | None = None
    note: str = ""
    branches: tuple[Branch, ...] = ()
    kwargs: tuple[TemplateKwarg, ...] = ()

    @property
    def token_ids(self) -> tuple[int, ...] | None:
        """The ids, or `None` without a tokenizer."""
        return None if self.tokens is None else tuple(token.id for token in self.tokens)


@dataclass(frozen=True, slots=True)
class PromptDifference:
    """Where the server's prompt and the local one part.

    Attributes:
        first_token: Index of the first differing token, from 0 (or of the end of the shorter one).
        first_char: Index of the first differing character.
        server: Server text around that place.
        local: Local text around that place.
        cause: What explains the difference, proved by rendering with that one cause applied.
    """

    first_token: int
    first_char: int
    server: str
    local: str
    cause: str | None = None


# --- 3 complete --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Usage:
    """Token accounting by the server."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """How likely the model found a token, in nats.

    Attributes:
        text: The token's text as the server gave it.
        token_id: Its id, where the server gave it.
        logprob: Natural logarithm of its probability.
        top: The likeliest alternatives, likeliest first.
    """

    text: str
    token_id: int | None
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """Raw output of the model, before any parser.

    Attributes:
        text: Decoded with special tokens kept, the end token included where ids are known.
        token_ids: One per sampled token; `None` where the server gives none.
        finish_reason: The server's word.
        stop_reason: Stop id or string that the server named.
        evidence: How it was obtained.
        usage: The server's accounting.
        logprobs: One per token, where asked for.
        constraint: The structural tag or grammar that was applied, as JSON text.
        body: The answer as received.
        elapsed_s: Seconds from sending to the last byte.
        tokens: Token table of `text`, where ids and a tokenizer are at hand.
    """

    text: str
    token_ids: tuple[int, ...] | None
    finish_reason: str | None
    stop_reason: str | int | None = None
    evidence: Evidence = Evidence.TEXT_ONLY
    usage: Usage | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    constraint: str | None = None
    body: str = ""
    elapsed_s: float | None = None
    tokens: tuple[Token, ...] | None = None


@dataclass(frozen=True, slots=True)
class StreamDelta:
    """One streamed event of a chat completion.

    Attributes:
        delta: The `delta` object as received.
        token_ids: Ids that the event carries, where the server says.
        finish_reason: Set on the last event of a choice.
        at_s: Seconds since the request was sent.
    """

    delta: JSONObject
    token_ids: tuple[int, ...] | None
    finish_reason: str | None
    at_s: float


@dataclass(frozen=True, slots=True)
class ChatResult:
    """What `/v1/chat/completions` answered (first choice).

    Attributes:
        message: The assistant message; of a stream, assembled from its deltas.
        finish_reason: The server's word.
        stop_reason: Stop id or string that the server named.
        token_ids: Output ids of this very run, where the server gives them.
        prompt_token_ids: Prompt ids of this very run, where the server gives them.
        prompt_text: Prompt text of this very run, where the server gives it.
        usage: The server's accounting.
        logprobs: One per output token, where asked for.
        prompt_logprobs: Candidates per prompt token, likeliest first, its own among them; the first has none.
        deltas: Events of a stream in order; empty if not streamed.
        body: The answer as received; of a stream, its lines.
        elapsed_s: Seconds from sending to the last byte.
        error: What went wrong after the answer began, in one sentence.
    """

    message: JSONObject
    finish_reason: str | None
    stop_reason: str | int | None = None
    token_ids: tuple[int, ...] | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    prompt_text: str | None = None
    usage: Usage | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    prompt_logprobs: tuple[tuple[TokenLogprob, ...], ...] | None = None
    deltas: tuple[StreamDelta, ...] = ()
    body: str = ""
    elapsed_s: float | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """What is known of the server under test.

    Attributes:
        base_url: Up to and including `/v1`.
        kind: Which server software, as far as it shows.
        version: Its version, where it says.
        model: Model name that requests use.
        max_model_len: Context length in tokens, where it says.
        model_root: Path or hub id behind the model name, where it says.
        tool_parser: Name of the tool parser, where known.
        reasoning_parser: Name of the reasoning parser, where known.
        has_reasoning_parser: Whether one is configured, as observed; `None` if it does not show.
        default_template_kwargs: Defaults the server was started with, where known.
        features: Optional endpoints found: `render`, `tokenize`, `apply_template` … (`complete.backends.probe`).
        is_lab: True for a server that this program started.
    """

    base_url: str
    kind: Literal["vllm", "sglang", "llama.cpp", "openai-compatible"] = "openai-compatible"
    version: str | None = None
    model: str | None = None
    max_model_len: int | None = None
    model_root: str | None = None
    tool_parser: str | None = None
    reasoning_parser: str | None = None
    has_reasoning_parser: bool | None = None
    default_template_kwargs: Mapping[str, JSON] = field(default_factory=dict)
    features: frozenset[str] = frozenset()
    is_lab: bool = False


# --- 4 parse -----------------------------------------------------------------


class CallStatus(StrEnum):
    """How well-formed a tool call in raw text is."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"


class Place(StrEnum):
    """Where in the output a tool call stands."""

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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of raw output with one meaning.

    Attributes:
        char_span: Where it stands in the raw text.
        kind: What it is.
        call_index: Index into `ParsedMessage.calls`, for the parts of a call.
    """

    char_span: Span
    kind: SegmentKind
    call_index: int | None = None


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """Our own reading of a raw output.

    Attributes:
        format: Name of the format that read it.
        reasoning: Hidden thinking; `None` if there is no block, "" if it is empty.
        content: Visible text; `None` if there is none.
        calls: Every tool call, in order of appearance.
        segments: Tile the raw text in order; none empty.
    """

    format: str
    reasoning: str | None
    content: str | None
    calls: tuple[ToolCallAttempt, ...]
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class FormatScore:
    """How well a format explains a raw text: 0 not at all, 1 certainly; with the reason."""

    score: float
    evidence: str


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """Where one stretch of raw output ended up.

    Attributes:
        char_span: Where it stands in the raw text.
        fate: What became of it.
        target: Field of the message, such as `tool_calls[0].function.arguments`, if it is there.
    """

    char_span: Span
    fate: Fate
    target: str | None = None


@dataclass(frozen=True, slots=True)
class CallMatch:
    """How a tool call of the raw text and one of the message belong together.

    Attributes:
        raw_index: Index into `ParsedMessage.calls`; `None` for an invented call.
        message_index: Index into the message's `tool_calls`; `None` for a dropped call.
        altered: Fields that differ: `name`, `arguments`, `id`.
    """

    raw_index: int | None
    message_index: int | None
    altered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ledger:
    """The account of one raw output against one message.

    Attributes:
        entries: Tile the raw text in order; none empty.
        matches: Every call of either side, once.
        invented: Message fields that no raw character explains, such as `tool_calls[1]`.
    """

    entries: tuple[LedgerEntry, ...]
    matches: tuple[CallMatch, ...] = ()
    invented: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
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
    """

    reasoning: str | None
    content: str | None
    tool_calls: tuple[JSONObject, ...]
    error: str | None = None
    finish_reason: str | None = None
    stream_equal: bool | None = None
    splits_tried: int = 0
    first_unequal: str | None = None


@dataclass(frozen=True, slots=True)
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


# --- 5 diagnose --------------------------------------------------------------


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Certainty(StrEnum):
    """Whether a finding was seen or concluded."""

    OBSERVED = "observed"
    INFERRED = "inferred"


@dataclass(frozen=True, slots=True)
class FindingEvidence:
    """Where to look.

    Attributes:
        where: Which text: `request`, `prompt`, `raw`, `message` or `server`.
        char_span: Characters of that text.
        token_span: Tokens of that text.
        field: Field path, for `request` and `message`.
        quote: The text itself, shortened.
    """

    where: Literal["request", "prompt", "raw", "message", "server"]
    char_span: Span | None = None
    token_span: Span | None = None
    field: str | None = None
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule reported.

    Attributes:
        code: Stable code such as `PD201`.
        name: The defect in kebab case, such as `double-bos`.
        severity: How bad it is.
        stage: The stage at fault.
        title: One short sentence.
        detail: What was seen, with the values.
        evidence: Where to look, most telling first.
        fix: What to change.
        links: Known reports of the same fault.
        certainty: Seen or concluded.
        follows: Code of an earlier finding that may explain this one.
    """

    code: str
    name: str
    severity: Severity
    stage: Stage
    title: str
    detail: str
    evidence: tuple[FindingEvidence, ...] = ()
    fix: str = ""
    links: tuple[str, ...] = ()
    certainty: Certainty = Certainty.OBSERVED
    follows: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The run in one sentence.

    Attributes:
        dropped_calls: Calls in the raw text that the message lacks.
        altered_calls: Calls that differ.
        invented_calls: Calls of the message that the raw text does not hold.
        stage: The guilty stage; `None` if nothing is wrong.
        sentence: A sentence that can be quoted.
    """

    dropped_calls: int
    altered_calls: int
    invented_calls: int
    stage: Stage | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What rules may know of the tokenizer.

    Attributes:
        size: Number of ids.
        special: Text by id of the special tokens.
        bos_id: Id of BOS, if any.
        eos_ids: Ids that end generation.
        adds_bos: Whether the tokenizer adds BOS by itself.
    """

    size: int
    special: Mapping[int, str]
    bos_id: int | None = None
    eos_ids: tuple[int, ...] = ()
    adds_bos: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """A server's word that it will not take a request (HTTP 400 or 422).

    Attributes:
        status: HTTP status.
        message: What the server said.
        field: Request field that the server named, if any.
    """

    status: int
    message: str
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """All values of one run; `None` where a stage has not run.

    Attributes:
        request: What was asked.
        sent: The body that went to the server, with what the debugger added.
        server: The server under test.
        evidence: What the run rests on.
        prompt: The prompt that the server used, as far as it is known.
        local_prompt: Our render of the request as pasted.
        prompt_difference: Where the two part.
        generation_prompt: Text that opens the assistant turn by the template; "" if it has none.
        vocabulary: What is known of the tokenizer.
        notes: What could not be had or checked, and why, a sentence each.
        refusal: The server would not take the request; nothing after it has run.
        raw: Raw output.
        raw_again: Output of raw completion on the same prompt ids, run beside the chat.
        chat: The chat answer.
        chat_stream: The streamed chat answer.
        parse: Census, ledger, other parsers.
        findings: Worst first.
        verdict: The run in one sentence.
    """

    request: Request
    sent: JSONObject = field(default_factory=dict)
    server: Server | None = None
    evidence: Evidence | None = None
    prompt: Prompt | None = None
    local_prompt: Prompt | None = None
    prompt_difference: PromptDifference | None = None
    generation_prompt: str | None = None
    vocabulary: Vocabulary | None = None
    notes: tuple[str, ...] = ()
    refusal: Refusal | None = None
    raw: Completion | None = None
    raw_again: Completion | None = None
    chat: ChatResult | None = None
    chat_stream: ChatResult | None = None
    parse: Parse | None = None
    findings: tuple[Finding, ...] = ()
    verdict: Verdict | None = None
