"""What a probe is: a small request of ours, rendered, and the answer that the prompt gives."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.text import capitalized, clipped, excerpt
from prompt_debugger.core.base.types import JSON, JSONObject, PromptSpan
from prompt_debugger.core.render.job import RenderJob, RenderOutcome
from prompt_debugger.core.render.local import Renderer, render_local

_PATIENCE = 2  # renders that may use up their time before the rest is left unasked
_ALL_S = 20.0  # on the clock, for all probes of a template; most take less than one
_COSTLY = frozenset({"MemoryError", "TooLong", "WorkerError"})  # faults that took all the time there was
_MARGIN = 24  # characters quoted either side
_MAX_QUOTE = 240
_NOT_WRITTEN: Mapping[str, object] = {"exclude": True}  # in documents, where its name is the key


class Support(StrEnum):
    """What a template does with something that a request carries."""

    SUPPORTED = "supported"
    CHANGED = "changed"
    IGNORED = "ignored"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Change(StrEnum):
    """What became of something that arrives changed, where more than the words depends on it."""

    PART_LOST = "part-lost"
    AS_PYTHON = "as-python"


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """The answer to one probe.

    Attributes:
        name: Stable name of the probe, such as `system-role`.
        title: What was asked, in a few words.
        support: The answer.
        detail: What was seen, a sentence or two.
        quote: The prompt around it; "" if there is nothing to show.
        template_line: Line of the template that wrote it or failed, from 1, where known.
        template_column: Column, from 1, where known.
        change: What kind of change it is, where one is distinguished.
        fault: What the template failed with, a sentence; "" unless it refused.
    """

    name: str = field(metadata=_NOT_WRITTEN)
    title: str
    support: Support
    detail: str
    quote: str = ""
    template_line: int | None = None
    template_column: int | None = None
    change: Change | None = field(default=None, metadata=_NOT_WRITTEN)
    fault: str = field(default="", metadata=_NOT_WRITTEN)


class Attempt(NamedTuple):
    """What one request gives.

    Attributes:
        text: The prompt; "" if there is none.
        spans: Tile it.
        unread: Field paths that the template never read.
        error: Why there is no prompt.
    """

    text: str
    spans: tuple[PromptSpan, ...] = ()
    unread: tuple[str, ...] = ()
    error: RenderError | None = None


class ProbeResult(NamedTuple):
    """An answer before it bears the probe's name; fields as in `ProbeAnswer`."""

    support: Support
    detail: str
    quote: str = ""
    template_line: int | None = None
    template_column: int | None = None
    change: Change | None = None
    fault: str = ""


class Probing:
    """Renders requests with one template, and remembers whether it uses up the time of a render or of all."""

    def __init__(
        self,
        template: str,
        special_tokens: Mapping[str, str],
        template_kwargs: Mapping[str, JSON],
        renderer: Renderer,
        *,
        always: Mapping[str, JSON] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.template = template
        self.always = always or {}  # what every request carries, for a template that renders none without it
        self.special_tokens = special_tokens
        self._kwargs = template_kwargs
        self._renderer = renderer
        self._costly_count = 0
        self._count = 0
        self._clock = clock
        self._ends_at = clock() + _ALL_S

    @property
    def is_exhausted(self) -> bool:
        """Whether the template used up the time of the first render, or of two."""
        return 0 < self._costly_count == self._count or self._costly_count >= _PATIENCE

    def render(self, messages: list[JSON], **more: JSON) -> Attempt:
        """Render a request; a template that fails is an answer like any other.

        Raises:
            _OutOfTimeError: The time for all probes has passed.
        """
        if self._clock() >= self._ends_at:
            raise _OutOfTimeError
        body: JSONObject = {"messages": messages, **self.always, **more}
        try:
            prompt = render_local(
                body,
                template=self.template,
                special_tokens=self.special_tokens,
                template_kwargs=self._kwargs,
                renderer=self._run,
            )
        except RenderError as error:
            return Attempt("", error=error)
        return Attempt(prompt.text, prompt.spans, prompt.unread)

    def _run(self, job: RenderJob) -> RenderOutcome:
        self._count += 1
        try:
            outcome = self._renderer(job)
        except RenderError:
            self._costly_count += 1
            raise
        self._costly_count += outcome.fault is not None and outcome.fault.kind in _COSTLY
        return outcome


Ask: TypeAlias = Callable[[Probing], ProbeResult]


class Probe(NamedTuple):
    """One question to a template; fields as in `ProbeAnswer`."""

    name: str
    title: str
    ask: Ask

    def answer(self, probing: Probing) -> ProbeAnswer:
        """Ask it, unless the template has used up what there was."""
        if probing.is_exhausted:
            result = _untested("the template repeatedly used up the time limit of a render")
        else:
            try:
                result = self.ask(probing)
            except _OutOfTimeError:
                result = _untested(f"the probes of this template took {_ALL_S:g} s, the limit for all of them together")
        return ProbeAnswer(self.name, self.title, *result)


class _OutOfTimeError(Exception):
    """The time for all probes of a template has passed."""


def _untested(reason: str) -> ProbeResult:
    return ProbeResult(Support.UNKNOWN, f"Not tested: {reason}.")


def refused(attempt: Attempt, control: Attempt | None = None) -> ProbeResult:
    """Return the answer of a request that gives no prompt; nothing is known if `control` gives none either."""
    error = attempt.error
    assert error is not None
    support, words = Support.REFUSED, error.message
    if control is not None and control.error is not None:
        support, words = Support.UNKNOWN, f"the request without it fails as well: {control.error.message}"
    fault = _sentence(error.message) if support is Support.REFUSED else ""
    return ProbeResult(support, _sentence(words), "", error.template_line, error.template_column, fault=fault)


def seen(support: Support, detail: str, attempt: Attempt, start: int, stop: int | None = None) -> ProbeResult:
    """Return an answer with the prompt around the characters that show it, and the line that wrote them."""
    stop = start if stop is None else stop
    quote = clipped(excerpt(attempt.text, start, stop, margin=_MARGIN), _MAX_QUOTE)
    span = next((one for one in attempt.spans if one.char_span.start <= start < one.char_span.stop), None)
    line = None if span is None else span.template_line
    return ProbeResult(support, detail, quote, line, None if span is None else span.template_column)


def ignored(attempt: Attempt, field: str, part: str) -> ProbeResult:
    """Return the answer for something that left no trace in the prompt."""
    is_unread = any(path == field or path.startswith((f"{field}.", f"{field}[")) for path in attempt.unread)
    why = "the template never reads it" if is_unread else "the template does not print it"
    return ProbeResult(Support.IGNORED, f"{part} does not arrive: {why}.")


def _sentence(text: str) -> str:
    text = capitalized(text)
    return text if text.endswith((".", "!", "?", "…")) else text + "."
