"""3 · What a server answered, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Literal, TypeAlias

from prompt_debugger.core.base.types.base import JSON, LEFT_OUT_IF_EMPTY, LEFT_OUT_IF_NONE, Basis, JSONObject
from prompt_debugger.core.base.types.frozen import value
from prompt_debugger.core.base.types.tokens import Tokens


@value(frozen=True, slots=True)
class Usage:
    """Token accounting by the server.

    Attributes:
        prompt_tokens: Tokens that the model read.
        completion_tokens: Tokens that it wrote.
        total_tokens: Both.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None


@value(frozen=True, slots=True)
class TokenLogprob:
    """How likely the model found a token, in nats.

    Attributes:
        text: The token's text as the server gave it.
        token_id: Its id, where the server gave it.
        logprob: Natural logarithm of its probability.
        top: The likeliest alternatives, likeliest first.
        piece: Its bytes, where the server gave them; empty for a control token that it does not show.
    """

    text: str
    token_id: int | None
    logprob: float
    top: tuple[tuple[str, float], ...] = ()
    piece: bytes | None = field(default=None, metadata={"alias": "bytes"})


class Completeness(StrEnum):
    """Whether a raw text is all that the model wrote, control tokens included."""

    WHOLE = "whole"
    STRIPPED = "stripped"
    UNKNOWN = "unknown"


@value(frozen=True, slots=True)
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
        tokens: Token table of `text`, where ids and a tokenizer are available.
        completeness: Whether `text` still has the control tokens that the model wrote; decided in `core.complete`.
        completeness_reason: What shows that, one sentence; "" if no one looked.
    """

    text: str
    token_ids: tuple[int, ...] | None
    finish_reason: str | None
    stop_reason: str | int | None = None
    evidence: Basis = Basis.TEXT_ONLY
    usage: Usage | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    constraint: str | None = None
    body: str = field(default="", metadata=LEFT_OUT_IF_EMPTY)
    elapsed_s: float | None = None
    tokens: Tokens | None = None
    completeness: Completeness = Completeness.WHOLE
    completeness_reason: str = ""


@value(frozen=True, slots=True)
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


Unread: TypeAlias = Literal["cut", "too-much"]


@value(frozen=True, slots=True)
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
        unread: Why it was not read to its end, where it is we who stopped: `cut` (it took too long, or had no end) or
            `too-much` (it is longer than what is read of one answer).
        error_hint: What to do about the error where no answer arrived, as with a connection that broke or a gateway
            that answered instead; "" where the server answered, with an error or not.
    """

    message: JSONObject
    finish_reason: str | None
    stop_reason: str | int | None = None
    token_ids: tuple[int, ...] | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    prompt_text: str | None = None
    usage: Usage | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    prompt_logprobs: tuple[tuple[TokenLogprob, ...], ...] | None = field(default=None, metadata=LEFT_OUT_IF_NONE)
    deltas: tuple[StreamDelta, ...] = ()
    body: str = field(default="", metadata=LEFT_OUT_IF_EMPTY)
    elapsed_s: float | None = None
    error: str | None = None
    unread: Unread | None = field(default=None, metadata=LEFT_OUT_IF_NONE)
    error_hint: str = field(default="", metadata=LEFT_OUT_IF_EMPTY)


@value(frozen=True, slots=True)
class ServerGrammar:
    """What a server's own render of a request says of the grammar that it puts on the answer.

    Attributes:
        constraint: In the shape of `structured_outputs`, as JSON text; `None` if it puts none.
        waits_for_reasoning: Whether it has a reasoning parser, whose end a grammar waits for; `None` if unknown.
        reasoning_ended: Whether reasoning is over with the prompt; `None` if unknown.
    """

    constraint: str | None
    waits_for_reasoning: bool | None = None
    reasoning_ended: bool | None = None


@value(frozen=True, slots=True)
class Server:
    """What is known of the server under test.

    Attributes:
        base_url: Up to and including `/v1`.
        kind: Which server software, as far as it shows: `kind` of a record in `complete.engines`.
        version: Its version, where it says.
        model: Model name that requests use: the one asked for, else the first that the server lists.
        max_model_len: Context length of that model in tokens, where it says.
        model_root: Path or hub id that the model name stands for, where it says.
        tool_parser: Name of the tool parser, where known.
        reasoning_parser: Name of the reasoning parser, where known.
        has_reasoning_parser: Whether one is configured, as observed; `None` if it does not show.
        default_template_kwargs: Defaults the server was started with, where known.
        features: Optional endpoints found: `render`, `tokenize`, `apply_template` … (`complete.engines`).
        is_lab: True for a server that this program started.
        served_models: Names that it lists, in its order.
        start_command: How to start such a server, without folders of this machine; "" if that is not known.
        parser_families: Formats that its tool parser is made for, where this software has its own names for parsers,
            none of a name that is not known; `None` where such names are vLLM's.
        chat_template: Name of the chat template that it was started with in place of the model's own; "" if none shows.
        lost_flags: Names of flags below the end of its command, which the shell never gave to it.
        log_warnings: Lines of its log that warn of what it did to this run's prompt, verbatim.
    """

    base_url: str
    kind: str = "openai-compatible"
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
    served_models: tuple[str, ...] = ()
    start_command: str = field(default="", metadata=LEFT_OUT_IF_EMPTY)
    parser_families: tuple[str, ...] | None = field(default=None, metadata=LEFT_OUT_IF_NONE)
    chat_template: str = field(default="", metadata=LEFT_OUT_IF_EMPTY)
    lost_flags: tuple[str, ...] = field(default=(), metadata=LEFT_OUT_IF_EMPTY)
    log_warnings: tuple[str, ...] = field(default=(), metadata=LEFT_OUT_IF_EMPTY)
