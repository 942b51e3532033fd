"""2 · What the model reads: text, origin of every character, tokens, template variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Literal

from prompt_debugger.core.base.types.base import JSON, Span
from prompt_debugger.core.base.types.frozen import value
from prompt_debugger.core.base.types.tokens import Tokens, TokenTable


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


@value(frozen=True, slots=True)
class PromptSpan:
    """A stretch of prompt text with one origin.

    Attributes:
        char_span: Where it is in the prompt.
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


@value(frozen=True, slots=True)
class Branch:
    """A place where a template can go this way or that, and how often one render went there.

    Attributes:
        kind: `if`, `elif`, `else`, `for`, `macro`, `call`, `inline-if` or `inline-else`.
        expression: Its condition, iteration or signature as written; "" for `else`.
        line, column, end_line: Where its tag is, from 1, and the line on which its body ends.
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


@value(frozen=True, slots=True)
class WeakerValue:
    """A value of a template variable that a stronger one won over.

    Attributes:
        source: Who gave it.
        value: The value.
    """

    source: KwargSource
    value: JSON


@value(frozen=True, slots=True)
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
        overrides: The weaker values it won over, strongest first.
    """

    name: str
    value: JSON
    source: KwargSource
    field: str | None = None
    reaches_template: bool = True
    read: bool | None = None
    mentioned: bool | None = None
    reaches_parser: bool = False
    overrides: tuple[WeakerValue, ...] = ()


@value(frozen=True, slots=True)
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
        proof: What the server does to the request, by which our render equals its text; `()` for nothing at all,
            `None` where that is not proved, or the prompt is our own.
        branches: Where the template went and where not, in order of appearance; empty if not traced.
        kwargs: The effective kwargs with their sources, and those that were set and had no effect.
    """

    source: Literal["local", "server"]
    text: str
    spans: tuple[PromptSpan, ...]
    tokens: Tokens | None
    identical: bool = True
    effective_kwargs: Mapping[str, JSON] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    template: str | None = None
    note: str = ""
    branches: tuple[Branch, ...] = ()
    kwargs: tuple[TemplateKwarg, ...] = ()
    proof: tuple[str, ...] | None = None

    @property
    def token_ids(self) -> tuple[int, ...] | None:
        """The ids, or `None` without a tokenizer."""
        if isinstance(self.tokens, TokenTable):
            return self.tokens.ids
        return None if self.tokens is None else tuple(token.id for token in self.tokens)


@value(frozen=True, slots=True)
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
