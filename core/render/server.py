"""The prompt that the server really used, attributed as far as it can be proved.

Three steps, each weaker than the one before: our render of the request as pasted
gives the same text; our render with some of the server's habits applied gives the
same text (its own, `own_changes`, then those of `explanations`); parts of the text
are parts of our render. What none of them explains stays unknown.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.protocols import RequestChange, Tokenizer
from prompt_debugger.core.base.text import excerpt, first_divergence
from prompt_debugger.core.base.types import JSONObject, Prompt, PromptSpan, Span, SpanKind, TokenTable
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.render.align import align_spans, find_fields, likeness
from prompt_debugger.core.render.attribute_tokens import attribute_tokens
from prompt_debugger.core.render.explanations import Attempt, Hypothesis
from prompt_debugger.core.render.inspect import TemplateFacts, facts_from_json, inspect_template
from prompt_debugger.core.render.job import RenderJob, RenderOutcome
from prompt_debugger.core.render.kwargs import add_reads, explain_kwargs
from prompt_debugger.core.render.local import Renderer, special_tokens_of
from prompt_debugger.core.render.own_changes import ChangedRequest, changed_requests
from prompt_debugger.core.render.request_variables import Variables, read_variables
from prompt_debugger.core.render.tokenizers.reported import is_marker, tokens_of_pieces
from prompt_debugger.core.render.worker import shared_worker

_PROVED = "Equal to our render after what the server does to the request: "
_AS_PASTED = "Equal to our own render of the request as pasted."
_SHOWN = 60  # characters of a template line that a sentence quotes


class ReportedPrompt(NamedTuple):
    """What a server reported about the prompt that it used.

    Attributes:
        token_ids: Its ids, if known; they win over `text`.
        text: Its text, if known.
        pieces: Bytes of each id, where the server tells them.
        template: The template that the server says it uses, if known.
        kind: Which server software it is like; those habits are tried first.
        changes: What this software does to requests besides.
    """

    token_ids: Sequence[int] | None = None
    text: str | None = None
    pieces: Sequence[bytes] | None = None
    template: str | None = None
    kind: str = "vllm"
    changes: Sequence[RequestChange] = ()


def explain_server_prompt(
    body: JSONObject,
    reported: ReportedPrompt,
    *,
    template: str | None,
    tokenizer: Tokenizer | None,
    special_tokens: Mapping[str, str] | None = None,
    renderer: Renderer | None = None,
    remembered: Remembered | None = None,
    local: Prompt | None = None,
) -> Prompt:
    """Attribute the prompt that the server used to the request as it was pasted.

    Args:
        body: The request as pasted.
        reported: What is known of it.
        template: Template of the model as we have it, if known.
        tokenizer: Tokenizer of the model, if known.
        special_tokens: Named special tokens, where they are known without the tokenizer.
        renderer: Runs the jobs in this process; the shared worker process does if not given.
        remembered: What the run has rendered there before.
        local: Our own render of the request: where the server's prompt is the same, so are the origins of its tokens.

    Returns:
        A prompt with `source="server"`, whose `proof` and `note` say how far the attribution is proved.

    Raises:
        RenderError: Neither the text nor a way to it is known.
    """
    shown, tokens = _server_text(reported, tokenizer)
    prompt = Prompt("server", shown, _unknown(shown), tokens, identical=False)
    named_tokens = special_tokens_of(tokenizer) if tokenizer is not None else reported_special_tokens(reported.pieces)
    named_tokens = {**named_tokens, **(special_tokens or {})}
    context = _Context(body, named_tokens, renderer, remembered, reported.kind, reported.changes)
    templates = [one for one in dict.fromkeys((template, reported.template)) if one is not None]
    made = replace(prompt, spans=find_fields(shown, body), note=_NOT_PROVED) if not templates else prompt
    for one in templates:
        assumed = () if one == templates[0] else (_other_template(templates[0], one),)
        made = context.attributed(replace(prompt, template=one), assumed)
        if made.proof is not None:
            break
    return made if tokens is None else replace(made, tokens=attribute_tokens(tokens, made.spans, local))


_NOT_PROVED = "No template is available: request texts were located in the prompt by search, not by rendering."


def _server_text(reported: ReportedPrompt, tokenizer: Tokenizer | None) -> tuple[str, TokenTable | None]:
    token_ids, text, pieces = reported.token_ids, reported.text, reported.pieces
    if token_ids is not None and tokenizer is not None:
        made = tokenizer.tokens_of_ids(token_ids)
        if pieces is None or made[0].encode("utf-8", "replace") == b"".join(pieces):
            return made
    if token_ids is not None and pieces is not None:
        return tokens_of_pieces(token_ids, pieces)
    if text is None:
        raise RenderError("The text of the server's prompt is unknown.", "Give a tokenizer that can decode its ids.")
    return text, tokenizer.tokens_of_text(text) if tokenizer is not None and token_ids is None else None


def reported_special_tokens(pieces: Sequence[bytes] | None) -> Mapping[str, str]:
    """Return the first piece of a prompt as BOS if it may be one: templates print it by name."""
    first = pieces[0] if pieces else b""
    return {"bos_token": first.decode("utf-8")} if is_marker(first) else {}


def _unknown(text: str) -> tuple[PromptSpan, ...]:
    return (PromptSpan(Span(0, len(text)), SpanKind.UNKNOWN),) if text else ()


def _other_template(ours: str, theirs: str) -> str:
    """Return that the server uses another template, as the first thing that has to be assumed."""
    here, there = ours.split("\n"), theirs.split("\n")
    line = first_divergence(here, there) or 0
    quoted = [repr(excerpt(lines[line], 0, _SHOWN)) if line < len(lines) else "no such line" for lines in (there, here)]
    return f"the server uses a different template; line {line + 1} is {quoted[0]}, not {quoted[1]}"


def _note(assumed: Sequence[str]) -> str:
    """Return the sentence that says what a proof assumes."""
    return f"{_PROVED}{'; '.join(assumed)}." if assumed else _AS_PASTED


@dataclass(frozen=True, slots=True)
class _Context:
    """Everything but the template that an attribution needs."""

    body: JSONObject
    special_tokens: Mapping[str, str]
    renderer: Renderer | None
    remembered: Remembered | None
    server_kind: str
    changes: Sequence[RequestChange] = ()

    def variables_of(self, body: JSONObject) -> Variables:
        """Return what the template gets of a request.

        Raises:
            RenderError: It gets nothing.
        """
        return read_variables(
            body,
            special_tokens=self.special_tokens,
            template_kwargs={},
            add_generation_prompt=None,
        )

    def attributed(self, prompt: Prompt, assumed: tuple[str, ...]) -> Prompt:
        """Return the prompt with its origins, as far as its template tells them; to have it takes what is `assumed`."""
        try:
            variables = self.variables_of(self.body)
            search = _Search(prompt, variables, self, assumed)
            kwargs = explain_kwargs(variables, self.body, special_tokens=self.special_tokens, server_defaults={})
            return replace(
                search.explain(),
                effective_kwargs=variables.effective_kwargs(),
                kwargs=add_reads(kwargs, search.pasted),
            )
        except RenderError as error:
            spans = find_fields(prompt.text, self.body)
            note = (
                f"Our own render failed ({error.message}): request texts were located in the prompt by search, "
                "not by rendering."
            )
            return replace(prompt, spans=spans, note=note)


class _Search:
    """Looks for the assumptions under which our render equals the server's text."""

    def __init__(self, prompt: Prompt, variables: Variables, context: _Context, assumed: tuple[str, ...]) -> None:
        template = prompt.template or ""
        self.prompt = prompt
        self.assumed = assumed
        self.body = context.body
        self.context = context
        self.render = context.renderer or context.remembered or shared_worker().render
        self.as_pasted = RenderJob(template, variables.variables, variables.continue_final_message)
        self.pasted = self.render(self.as_pasted)

    @cached_property
    def suspect(self) -> Hypothesis:
        """What the server may have done; looked for only where it did something."""
        context = self.context
        facts = template_facts(self.as_pasted.template, context.renderer)
        return Hypothesis(context.server_kind, context.body, facts, context.special_tokens)

    def explain(self) -> Prompt:
        """Return the prompt with the spans of the first attempt that gives its text."""
        if self.pasted.fault is None and self.pasted.text == self.prompt.text:
            return self._explained(self.pasted, ())
        if (changed := self._changed()) is not None:
            return changed
        for attempt in self.suspect.attempts(self.as_pasted):
            if self._gives_text(attempt):
                return self._proved(attempt)
        return self._truncated() or self._aligned()

    def _proved(self, attempt: Attempt, changed: ChangedRequest | None = None) -> Prompt:
        """Return the prompt with the spans of an attempt that gives its text, of a changed request or the pasted."""
        needed = self._needed(attempt)
        best = self._outcome(needed)
        if changed is not None:
            best = replace(best, spans=changed.as_pasted(best.spans))
        assumed = _assumed(best, needed, self.pasted)
        return self._explained(replace(best, unread=self.pasted.unread), assumed)

    def _changed(self) -> Prompt | None:
        """Return the prompt as one that what the software does to requests explains, alone or with its habits."""
        for changed in changed_requests(self.body, self.context.changes):
            try:
                variables = self.context.variables_of(changed.body)
            except RenderError:
                continue
            job = RenderJob(self.as_pasted.template, variables.variables, variables.continue_final_message)
            sentences = tuple(f"the server {change.sentence}" for change in changed.changes)
            for attempt in (Attempt(job), self.suspect.usual(job)):
                if self._gives_text(attempt):
                    return self._proved(replace(attempt, sentences=sentences), changed)
        return None

    def _explained(self, outcome: RenderOutcome, assumed: tuple[str, ...]) -> Prompt:
        """Return the prompt with the spans of a render that gives its text, and what that takes."""
        proof = (*self.assumed, *assumed)
        note = _note(proof)
        if not outcome.is_identical:
            note = f"{note} Without attribution: {outcome.doubt}."
        return replace(
            self.prompt,
            spans=outcome.spans,
            identical=outcome.is_identical,
            unread=outcome.unread,
            note=note,
            proof=proof,
            branches=outcome.branches,
        )

    def _gives_text(self, attempt: Attempt) -> bool:
        """Return whether an attempt gives the server's text."""
        if not self.prompt.text.startswith(attempt.prefix) or not self.prompt.text.endswith(attempt.suffix):
            return False
        outcome = self.render(replace(attempt.job, is_traced=False))
        return outcome.fault is None and attempt.text_of(outcome.text) == self.prompt.text

    def _outcome(self, attempt: Attempt) -> RenderOutcome:
        """Return the traced outcome of an attempt that gives the server's text with what is added around it."""
        outcome = self.render(attempt.job)
        return replace(outcome, text=self.prompt.text, spans=self._spans_of(attempt, self.prompt.text, outcome))

    def _spans_of(self, attempt: Attempt, text: str, outcome: RenderOutcome | None = None) -> tuple[PromptSpan, ...]:
        """Return the spans of `text`, which an attempt gives."""
        outcome = outcome or self.render(attempt.job)
        spans = outcome.spans
        if attempt.dropped:
            spans = tuple(_within(spans, len(attempt.dropped), len(outcome.text)))
        if attempt.prefix:
            front = PromptSpan(Span(0, len(attempt.prefix)), SpanKind.ENVIRONMENT)
            spans = (front, *_shifted(spans, len(attempt.prefix)))
        if attempt.suffix:
            back = Span(len(text) - len(attempt.suffix), len(text))
            spans = (*spans, PromptSpan(back, SpanKind.REQUEST, attempt.suffix_field, Span(0, len(attempt.suffix))))
        return spans

    def _needed(self, attempt: Attempt) -> Attempt:
        """Return the attempt without the causes that it does not need."""
        kept = list(attempt.job.causes)
        for name in attempt.job.causes:
            fewer = tuple(cause for cause in kept if cause != name)
            if self._gives_text(replace(attempt, job=replace(attempt.job, causes=fewer))):
                kept = list(fewer)
        return replace(attempt, job=replace(attempt.job, causes=tuple(kept)))

    def _truncated(self) -> Prompt | None:
        """Return the prompt as the rest of a longer one, if the request asks for that and it is one."""
        limit = self.body.get("truncate_prompt_tokens")
        text, tokens = self.prompt.text, self.prompt.tokens
        if not isinstance(limit, int) or tokens is None or len(tokens) != limit:
            return None
        for attempt in (Attempt(self.as_pasted), self.suspect.usual(self.as_pasted)):
            outcome = self.render(attempt.job)
            if outcome.fault is not None or len(outcome.text) <= len(text):
                continue
            if outcome.text.endswith(text):
                side, start = "last", len(outcome.text) - len(text)
            elif outcome.text.startswith(text):
                side, start = "first", 0
            else:
                continue
            cut = replace(outcome, text=text, spans=tuple(_within(outcome.spans, start, start + len(text))))
            sentence = f"the server kept only the {side} {limit} tokens, as `truncate_prompt_tokens` asks"
            return self._explained(cut, _assumed(cut, replace(attempt, sentences=(sentence,)), self.pasted))
        return None

    def _aligned(self) -> Prompt:
        best: tuple[str, Attempt] | None = None
        for attempt in self.suspect.likely(self.as_pasted):
            outcome = self.render(replace(attempt.job, is_traced=False))
            text = attempt.text_of(outcome.text) if outcome.fault is None else None
            if text is None:
                continue
            if best is None or likeness(self.prompt.text, text) > likeness(self.prompt.text, best[0]):
                best = text, attempt
        if best is None:
            fault = self.pasted.fault
            raise RenderError("The template was not rendered." if fault is None else fault.message)
        text, attempt = best
        spans = align_spans(self.prompt.text, text, self._spans_of(attempt, text))
        note = "Not equal to our render: equal parts keep its attribution, the rest is unknown."
        return replace(self.prompt, spans=spans, unread=self.pasted.unread, note=note)


def template_facts(template: str, renderer: Renderer | None = None) -> TemplateFacts:
    """Return what a template's source says, read where templates are run."""
    return inspect_template(template) if renderer else facts_from_json(shared_worker().inspect(template))


def _assumed(outcome: RenderOutcome, attempt: Attempt, pasted: RenderOutcome) -> tuple[str, ...]:
    """Return what has to be assumed, a clause each, the change at the first difference first."""
    at = first_divergence(outcome.text, pasted.text) if pasted.fault is None else None
    here = next((span.field for span in outcome.spans if at is not None and span.char_span.stop > at), None)
    applied = (f"the server {_most_specific(changes, here)}" for changes in outcome.applied.values())
    return (*applied, *attempt.sentences)


def _most_specific(changes: Sequence[str], field: str | None) -> str:
    """Return the change that concerns `field`, else the first, and how many there are besides."""
    chosen = next((change for change in changes if field is not None and f"`{field}" in change), changes[0])
    more = len(changes) - 1
    return chosen + (f" (and {more} more)" if more else "")


def _shifted(spans: Sequence[PromptSpan], by: int) -> Iterator[PromptSpan]:
    for span in spans:
        yield replace(span, char_span=Span(span.char_span.start + by, span.char_span.stop + by))


def _within(spans: Sequence[PromptSpan], start: int, stop: int) -> Iterator[PromptSpan]:
    """Yield the spans of a stretch of the text, counted from its start."""
    for span in spans:
        low, high = max(span.char_span.start, start), min(span.char_span.stop, stop)
        if low >= high:
            continue
        field_span = span.field_span
        if field_span is not None and span.kind is SpanKind.REQUEST:
            first = field_span.start + low - span.char_span.start
            field_span = Span(first, first + high - low)
        yield replace(span, char_span=Span(low - start, high - start), field_span=field_span)


class Remembered:
    """Runs jobs in the render sandbox, and keeps the outcome of the first traced one: the request as pasted.

    One for each run: another may see another clock, and the outcome may be large.
    """

    def __init__(self) -> None:
        self._key = b""
        self._outcome: RenderOutcome | None = None

    def __call__(self, job: RenderJob) -> RenderOutcome:
        """Return the outcome of a job; for one that wants no spans, that of its traced twin will do."""
        if self._outcome is None:
            outcome = shared_worker().render(job)
            if job.is_traced:
                self._key, self._outcome = _key_of(job), outcome
            return outcome
        return self._outcome if _key_of(job) == self._key else shared_worker().render(job)


def _key_of(job: RenderJob) -> bytes:
    """Return all that a render depends on; written out, where 1 is neither 1.0 nor true."""
    variables = [(one.name, one.value, one.root) for one in job.variables]
    return marshal.dumps((job.template, variables, job.continue_final_message, job.causes), 0)
