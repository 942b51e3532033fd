"""The prompt that the server really used, attributed as far as it can be proved.

Three steps, each weaker than the one before: our render of the request as pasted
gives the same text; our render with some of the server's habits applied gives the
same text; parts of the text are parts of our render. What none of them explains
stays unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

from core.errors import RenderError
from core.protocols import Tokenizer
from core.render.align import align_spans, find_fields
from core.render.attribute_tokens import attribute_tokens
from core.render.inspect import TemplateFacts, facts_from_json, inspect_template
from core.render.job import RenderJob, RenderOutcome, Variable
from core.render.kwargs import explain_kwargs, with_reads
from core.render.local import Renderer, special_tokens_of
from core.render.request_variables import Variables, read_variables
from core.render.vllm_view import usual_causes
from core.render.worker import shared_worker
from core.text import first_divergence
from core.types import JSON, JSONObject, Prompt, PromptSpan, Span, SpanKind, Token

PROVED = "Equal to our render after what the server does to the request: "
_AS_PASTED = "Equal to our own render of the request as pasted."
_THINKING_NAMES = ("enable_thinking", "thinking")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way in which the server may have come to its text.

    Attributes:
        job: What to render.
        sentences: What has to be assumed for it, besides the job's causes.
        prefix: Text that the server puts in front.
    """

    job: RenderJob
    sentences: tuple[str, ...] = ()
    prefix: str = ""


def explain_server_prompt(
    body: JSONObject,
    *,
    token_ids: Sequence[int] | None,
    text: str | None,
    template: str | None,
    tokenizer: Tokenizer | None,
    template_kwargs: Mapping[str, JSON] | None = None,
    renderer: Renderer | None = None,
) -> Prompt:
    """Attribute the prompt that the server used to the request as it was pasted.

    Args:
        body: The request as pasted.
        token_ids: Ids that the server used, if known; they win over `text`.
        text: Its text, if known.
        template: Template of the model, if known.
        tokenizer: Tokenizer of the model, if known.
        template_kwargs: Defaults the server was started with.
        renderer: Runs the jobs; the shared worker process if not given.

    Returns:
        A prompt with `source="server"`, whose `note` says how far the attribution is proved.

    Raises:
        RenderError: Neither the text nor a way to it is known.
    """
    shown, tokens = _server_text(token_ids, text, tokenizer)
    prompt = Prompt("server", shown, _unknown(shown), tokens, identical=False, template=template)
    if template is not None:
        prompt = _attributed(prompt, body, template, tokenizer, template_kwargs or {}, renderer)
    else:
        spans = find_fields(shown, body)
        prompt = replace(
            prompt, spans=spans, note="No template at hand: request texts were looked up in the prompt, not proved."
        )
    if prompt.tokens is None:
        return prompt
    return replace(prompt, tokens=attribute_tokens(prompt.tokens, prompt.spans))


def _server_text(
    token_ids: Sequence[int] | None, text: str | None, tokenizer: Tokenizer | None
) -> tuple[str, tuple[Token, ...] | None]:
    if token_ids is not None and tokenizer is not None:
        return tokenizer.tokens_of_ids(token_ids)
    if text is None:
        raise RenderError("the server's prompt is not known as text", "Name a tokenizer that can decode its ids.")
    return text, tokenizer.tokens_of_text(text) if tokenizer is not None and token_ids is None else None


def _unknown(text: str) -> tuple[PromptSpan, ...]:
    return (PromptSpan(Span(0, len(text)), SpanKind.UNKNOWN),) if text else ()


def _attributed(
    prompt: Prompt,
    body: JSONObject,
    template: str,
    tokenizer: Tokenizer | None,
    template_kwargs: Mapping[str, JSON],
    renderer: Renderer | None,
) -> Prompt:
    try:
        named_tokens = special_tokens_of(tokenizer)
        variables = read_variables(
            body, special_tokens=named_tokens, template_kwargs=template_kwargs, add_generation_prompt=None
        )
        search = _Search(prompt.text, variables, template, tokenizer, renderer)
        kwargs = explain_kwargs(variables, body, special_tokens=named_tokens, server_defaults=template_kwargs)
        return replace(
            search.explain(prompt),
            effective_kwargs=variables.effective_kwargs(),
            kwargs=with_reads(kwargs, search.render(search.as_pasted)),
        )
    except RenderError as error:
        spans = find_fields(prompt.text, body)
        note = f"Our own render failed ({error.message}): request texts were looked up in the prompt, not proved."
        return replace(prompt, spans=spans, note=note)


class _Search:
    """Looks for the assumptions under which our render equals the server's text."""

    def __init__(
        self, text: str, variables: Variables, template: str, tokenizer: Tokenizer | None, renderer: Renderer | None
    ) -> None:
        self.text = text
        self.tokenizer = tokenizer
        self.render: Callable[[RenderJob], RenderOutcome] = renderer or shared_worker().render
        self.facts = _facts(template, renderer)
        self.as_pasted = RenderJob(template, variables.variables, variables.continue_final_message)

    def explain(self, prompt: Prompt) -> Prompt:
        """Return the prompt with the spans of the first attempt that gives its text."""
        pasted = self.render(self.as_pasted)
        if pasted.fault is None and pasted.text == self.text:
            return _explained(prompt, pasted, _AS_PASTED)
        usual = self._usual()
        for attempt in (
            Attempt(self.as_pasted),
            usual,
            *self._variations(usual),
            *self._variations(Attempt(self.as_pasted)),
        ):
            outcome = self._try(attempt)
            if outcome is not None:
                needed = self._needed(attempt)
                best = self._try(needed) or outcome
                return _explained(prompt, replace(best, unread=pasted.unread), _proof(best, needed, pasted))
        return self._aligned(prompt, usual, pasted)

    def _usual(self) -> Attempt:
        """Return everything that vLLM does by default."""
        causes = usual_causes(self.facts.content_format, knows_developer=self.facts.knows_developer)
        return Attempt(replace(self.as_pasted, causes=causes))

    def _variations(self, base: Attempt) -> Iterator[Attempt]:
        """Yield the base with one or two settings of the server that the request does not show."""
        switches = list(self._switches())
        for count in (1, 2):
            for chosen in combinations(switches, count):
                attempt = base
                for switch in chosen:
                    attempt = switch(attempt)
                if attempt != base:
                    yield attempt

    def _switches(self) -> Iterator[Callable[[Attempt], Attempt]]:
        yield _forced_content_format
        for generates in (True, False):
            yield partial(_with_variable, name="add_generation_prompt", value=generates)
        yield partial(_with_variable, name="tools", value=None)
        for name in _THINKING_NAMES:
            if name in self.facts.variables:
                for value in (True, False):
                    yield partial(_with_variable, name=name, value=value)
        bos = special_tokens_of(self.tokenizer).get("bos_token")
        if bos:
            yield partial(_with_prefix, prefix=bos)

    def _try(self, attempt: Attempt) -> RenderOutcome | None:
        """Return the outcome of an attempt if it gives the server's text."""
        if not self.text.startswith(attempt.prefix):
            return None
        outcome = self.render(attempt.job)
        if outcome.fault is not None or attempt.prefix + outcome.text != self.text:
            return None
        if not attempt.prefix:
            return outcome
        front = PromptSpan(Span(0, len(attempt.prefix)), SpanKind.ENVIRONMENT)
        return replace(outcome, text=self.text, spans=(front, *_shifted(outcome.spans, len(attempt.prefix))))

    def _needed(self, attempt: Attempt) -> Attempt:
        """Return the attempt without the causes that it does not need."""
        kept = list(attempt.job.causes)
        for name in attempt.job.causes:
            fewer = tuple(cause for cause in kept if cause != name)
            if self._try(replace(attempt, job=replace(attempt.job, causes=fewer, is_traced=False))) is not None:
                kept = list(fewer)
        return replace(attempt, job=replace(attempt.job, causes=tuple(kept)))

    def _aligned(self, prompt: Prompt, usual: Attempt, pasted: RenderOutcome) -> Prompt:
        served = self.render(usual.job)
        outcome = served if served.fault is None else pasted
        if outcome.fault is not None:
            raise RenderError(outcome.fault.message)
        spans = align_spans(self.text, outcome.text, outcome.spans)
        note = "Not equal to our render: equal stretches carry its attribution, the rest is unknown."
        return replace(prompt, spans=spans, unread=pasted.unread, note=note)


def _facts(template: str, renderer: Renderer | None) -> TemplateFacts:
    return inspect_template(template) if renderer else facts_from_json(shared_worker().ask({"inspect": template}))


def _explained(prompt: Prompt, outcome: RenderOutcome, note: str) -> Prompt:
    if not outcome.is_identical:
        note = f"{note} Without attribution: {outcome.doubt}."
    return replace(
        prompt,
        spans=outcome.spans,
        identical=outcome.is_identical,
        unread=outcome.unread,
        note=note,
        branches=outcome.branches,
    )


def _proof(outcome: RenderOutcome, attempt: Attempt, pasted: RenderOutcome) -> str:
    """Return the note that names what has to be assumed, the change at the first difference first."""
    at = first_divergence(outcome.text, pasted.text) if pasted.fault is None else None
    here = next((span.field for span in outcome.spans if at is not None and span.char_span.stop > at), None)
    sentences = [f"the server {_most_telling(changes, here)}" for changes in outcome.applied.values()]
    sentences.extend(attempt.sentences)
    return PROVED + "; ".join(sentences) + "." if sentences else _AS_PASTED


def _most_telling(changes: Sequence[str], field: str | None) -> str:
    """Return the change that concerns `field`, else the first, and how many there are besides."""
    chosen = next((change for change in changes if field is not None and f"`{field}" in change), changes[0])
    more = len(changes) - 1
    return chosen + (f" (and {more} more like it)" if more else "")


def _shifted(spans: Sequence[PromptSpan], by: int) -> Iterator[PromptSpan]:
    for span in spans:
        yield replace(span, char_span=Span(span.char_span.start + by, span.char_span.stop + by))


def _forced_content_format(attempt: Attempt) -> Attempt:
    swap = {"content-openai": "content-string", "content-string": "content-openai"}
    causes = tuple(swap.get(name, name) for name in attempt.job.causes)
    return replace(attempt, job=replace(attempt.job, causes=causes))


def _with_prefix(attempt: Attempt, prefix: str) -> Attempt:
    sentence = f"the server puts {prefix!r} in front of the prompt"
    return replace(attempt, prefix=prefix, sentences=(*attempt.sentences, sentence))


def _with_variable(attempt: Attempt, name: str, value: JSON) -> Attempt:  # any JSON
    """Return the attempt with one variable set otherwise, and the sentence that says so."""
    before = next((one for one in attempt.job.variables if one.name == name), None)
    if before is not None and before.value == value:
        return attempt
    others = [one for one in attempt.job.variables if one.name != name]
    sentence = (
        "the server leaves the tools out"
        if name == "tools"
        else f"the server renders with `{name}` {str(value).lower()}"
    )
    job = replace(attempt.job, variables=(*others, Variable(name, value, before.root if before is not None else ())))
    return replace(attempt, job=job, sentences=(*attempt.sentences, sentence))
