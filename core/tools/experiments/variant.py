"""One way to render a request, and what it gives: text, and the units in which texts are compared.

The units are token ids where a tokenizer is available, else words. A template that
fails is a result like any other here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.base.types import JSON, JSONObject, PromptSpan, Span, Tokens
from prompt_debugger.core.render import render_local
from prompt_debugger.core.render.inspect import TemplateFacts, facts_from_json, inspect_template
from prompt_debugger.core.render.job import RenderJob, RenderOutcome
from prompt_debugger.core.render.local import Renderer, special_tokens_of
from prompt_debugger.core.render.worker import shared_worker

Unit: TypeAlias = Literal["token", "word"]

_WORDS = re.compile(r"\w+|\s+|.", re.DOTALL)
_COSTLY = frozenset({"MemoryError", "TooLong", "WorkerError"})  # faults that took all the time there was
MAX_CHARS = 8_000_000  # of a prompt that is cut into units: two million tokens; beyond, it is not a prompt


@dataclass(frozen=True, slots=True)
class RenderSetup:
    """What a request is rendered with.

    Attributes:
        template: Jinja source.
        tokenizer: Returns token ids and special tokens; without one, words are compared.
        special_tokens: Named special tokens, over those of the tokenizer.
        template_kwargs: Template variables that the request's own override.
        renderer: Runs the jobs; the shared worker process if not given.
        causes: Habits of the server that hold for all variants (`core.render.vllm_view`).
    """

    template: str
    tokenizer: Tokenizer | None = None
    special_tokens: Mapping[str, str] = field(default_factory=dict)
    template_kwargs: Mapping[str, JSON] = field(default_factory=dict)
    renderer: Renderer | None = None
    causes: tuple[str, ...] = ()

    @property
    def unit(self) -> Unit:
        """What texts are compared in."""
        return "word" if self.tokenizer is None else "token"

    @property
    def named_tokens(self) -> Mapping[str, str]:
        """Named special tokens as the template gets them."""
        return {**special_tokens_of(self.tokenizer), **self.special_tokens}


@dataclass(frozen=True, slots=True)
class Variant:
    """A request and a way to render it.

    Attributes:
        setup: What it is rendered with.
        causes: Server habits applied before the template (`core.render.vllm_view`).
        prefix: Text that the server puts in front of the prompt.
        cuts: Texts that the server leaves out, each once.
    """

    body: JSONObject
    setup: RenderSetup
    causes: tuple[str, ...] = ()
    prefix: str = ""
    cuts: tuple[str, ...] = ()

    def is_same(self, other: Variant) -> bool:
        """Return whether two variants are the same to the letter; the order of keys counts."""
        return replace(self, body={}) == replace(other, body={}) and json.dumps(self.body) == json.dumps(other.body)


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a variant gives.

    Attributes:
        unit: What `keys` are.
        keys: Token ids or words, in order.
        char_spans: Characters of `text` that each of them covers.
        origins: Tile `text` where it was traced; else empty.
        tokens: One per key, with a tokenizer; empty for words.
    """

    text: str
    unit: Unit
    keys: tuple[int | str, ...]
    char_spans: tuple[Span, ...]
    origins: tuple[PromptSpan, ...] = ()
    tokens: Tokens = ()

    @property
    def pieces(self) -> tuple[bytes, ...]:
        """Bytes of each token; empty for words."""
        return tuple(token.piece for token in self.tokens)


@dataclass(frozen=True, slots=True)
class RenderFailure:
    """Why a variant gives no prompt.

    Attributes:
        message: What happened, one sentence.
        hint: The next step; "" if there is none.
        template_line: Line of the template, from 1, where known.
        template_column: Column, from 1, where known.
        is_costly: It used up the time or memory that a render may take.
    """

    message: str
    hint: str = ""
    template_line: int | None = None
    template_column: int | None = None
    is_costly: Annotated[bool, Field(exclude=True)] = False


def render_variant(variant: Variant, *, is_traced: bool = False) -> Rendered | RenderFailure:
    """Render a variant and cut its text into units, with the origin of characters if `is_traced`."""
    made = render_text(variant, is_traced=is_traced)
    if isinstance(made, RenderFailure):
        return made
    text, origins = made
    return units_of(text, variant.setup.tokenizer, origins)


def render_text(variant: Variant, *, is_traced: bool = False) -> tuple[str, tuple[PromptSpan, ...]] | RenderFailure:
    """Render a variant; text and origins alone, for those who need no tokens."""
    setup = variant.setup
    watch = _Watch(setup.renderer, variant.causes or setup.causes, is_traced=is_traced)
    try:
        prompt = render_local(
            variant.body,
            template=setup.template,
            special_tokens=setup.named_tokens,
            template_kwargs=setup.template_kwargs,
            renderer=watch.render,
        )
    except RenderError as error:
        return RenderFailure(error.message, error.hint, error.template_line, error.template_column, watch.is_costly)
    text = prompt.text
    for cut in variant.cuts:
        text = text.replace(cut, "", 1)
    text = variant.prefix + text
    if len(text) > MAX_CHARS:
        return RenderFailure(f"the prompt has {len(text):,} characters, more than can be compared here", is_costly=True)
    return text, prompt.spans if text == prompt.text else ()


def units_of(text: str, tokenizer: Tokenizer | None, origins: tuple[PromptSpan, ...] = ()) -> Rendered:
    """Cut a text into tokens, or into words without a tokenizer."""
    if tokenizer is None:
        words = list(_WORDS.finditer(text))
        spans = tuple(Span(*word.span()) for word in words)
        return Rendered(text, "word", tuple(word.group() for word in words), spans, origins)
    tokens = tokenizer.tokens_of_text(text)
    return Rendered(
        text,
        "token",
        tuple(token.id for token in tokens),
        tuple(token.char_span for token in tokens),
        origins,
        tokens,
    )


def facts_of(setup: RenderSetup) -> TemplateFacts:
    """Return what the template's source says, read where a hostile one does no harm.

    Raises:
        RenderError: Reading it took more time than it may.
    """
    if setup.renderer is not None:
        return inspect_template(setup.template)
    return facts_from_json(shared_worker().inspect(setup.template))


class _Watch:
    """Passes jobs on, with what a variant adds to them, and remembers whether one was costly."""

    def __init__(self, renderer: Renderer | None, causes: tuple[str, ...], *, is_traced: bool) -> None:
        self._renderer = renderer or shared_worker().render
        self._causes = causes
        self._is_traced = is_traced
        self.is_costly = False

    def render(self, job: RenderJob) -> RenderOutcome:
        try:
            outcome = self._renderer(replace(job, causes=self._causes, is_traced=self._is_traced))
        except RenderError:
            self.is_costly = True
            raise
        self.is_costly = outcome.fault is not None and outcome.fault.kind in _COSTLY
        return outcome
