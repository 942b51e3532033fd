"""The seams: what a format, a tokenizer, a rule and a server's change of requests must offer. Shapes only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import Protocol

from prompt_debugger.core.base.types import (
    Finding,
    FormatScore,
    JSONObject,
    ParsedMessage,
    PromptSpan,
    Severity,
    Stage,
    TokenTable,
    Trace,
    Vocabulary,
)
from prompt_debugger.core.base.types.frozen import value


@value(frozen=True, slots=True)
class ReadContext:
    """What a format may use besides the raw text.

    Attributes:
        tools: Tool specs of the request.
        prompt_tail: End of the prompt; shows whether reasoning was already open.
        finish_reason: The server's word, `None` if unknown; `length` means the text was cut.
        special_texts: Texts of the tokenizer's special tokens, such as end-of-turn tokens.
        ends: Texts with which the family that is read ends a turn; for its scanner, from its conventions.
    """

    tools: tuple[JSONObject, ...] = ()
    prompt_tail: str = ""
    finish_reason: str | None = None
    special_texts: frozenset[str] = field(default_factory=frozenset)
    ends: frozenset[str] = field(default_factory=frozenset)

    def ending(self, ends: frozenset[str]) -> ReadContext:
        """Return it for the reader of a family with these ends."""
        # Written out, as `dataclasses.replace` takes five times the time, and a line of a case file needs one.
        return ReadContext(self.tools, self.prompt_tail, self.finish_reason, self.special_texts, ends)


@value(frozen=True, slots=True)
class RequestChange:
    """What a server software does to a chat request before its template sees it.

    Attributes:
        sentence: What it does, without its subject, as "joins the system messages into one".
        apply: Returns the request as changed; it is given a copy, of any shape that a request can have.
    """

    sentence: str
    apply: Callable[[JSONObject], JSONObject]


class ModelFormat(Protocol):
    """A model family's conventions for what it writes."""

    @property
    def name(self) -> str:
        """Short name, such as `kimi_k2`."""

    def match(self, raw: str, context: ReadContext) -> FormatScore:
        """Say how well this format explains `raw`."""

    def read(self, raw: str, context: ReadContext) -> ParsedMessage:
        """Read `raw`; never raises on any text. Segments tile `raw`."""


class Tokenizer(Protocol):
    """A vocabulary with its rules."""

    @property
    def name(self) -> str:
        """Where it came from: a folder's name or a hub id."""

    @property
    def vocabulary(self) -> Vocabulary:
        """What rules may know of it."""

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the ids of `text`; nothing is added, special tokens in it are recognised."""

    def decode(self, token_ids: Sequence[int]) -> str:
        """Return the text of `token_ids`, special tokens kept."""

    def tokens_of_text(self, text: str, origins: Sequence[PromptSpan] = ()) -> TokenTable:
        """Return the token table of `text`; char spans tile it as far as the vocabulary allows.

        Args:
            text: The text.
            origins: Tile it; with them each token says where its characters came from.
        """

    def tokens_of_ids(self, token_ids: Sequence[int]) -> tuple[str, TokenTable]:
        """Return the text of `token_ids` and its token table, one entry per id."""


class Rule(Protocol):
    """One check of the diagnosis."""

    @property
    def code(self) -> str:
        """Stable code such as `PD201`."""

    @property
    def name(self) -> str:
        """The defect in kebab case."""

    @property
    def severity(self) -> Severity:
        """How bad it is."""

    @property
    def stage(self) -> Stage:
        """The stage at fault."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Report what is wrong; pure, tolerates absent stages, never raises."""
