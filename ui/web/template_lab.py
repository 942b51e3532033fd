"""The template in the editor: rendered in a sandbox at every change; plain values in, payloads out."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from typing import NamedTuple

from prompt_debugger.core.base.errors import DebuggerError, RequestError, shorten
from prompt_debugger.core.base.types import JSON, JSONObject, Prompt, Trace
from prompt_debugger.core.pipeline.explained import explained_for
from prompt_debugger.core.render import render_local
from prompt_debugger.core.render.local import tokens_of
from prompt_debugger.core.render.probes import ProbeAnswer, step_probes
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.experiments import RenderSetup
from prompt_debugger.ui.present import tokens_payload
from prompt_debugger.ui.present.template import edit_error_payload, edited_payload, probes_payload
from prompt_debugger.ui.web.experiments import Asked, Bench, follow_steps
from prompt_debugger.ui.web.failures import shown_as
from prompt_debugger.ui.web.render_setups import keep_edges
from prompt_debugger.ui.web.targets import TargetFields

AS_ASKED, OPENED, CLOSED = "as asked", "opened", "not opened"
ENDINGS = (AS_ASKED, OPENED, CLOSED)
MAX_TOKENIZED_CHARS = 8_000_000


class Opened(NamedTuple):
    """What the editor holds after the panel was opened, `None` to leave it as it is, and the model's own template."""

    template: str | None
    own: str


class Drawn(NamedTuple):
    """The views of one render; `None` keeps the tokens of the last render that succeeded."""

    status: str
    tokens: str | None


class TemplateLab:
    """Handlers of the template panel's events."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def own_template(self, fields: TargetFields, trace: Trace | None) -> str:
        """Return the template of the page's target, "" if none is known yet."""
        try:
            return self._bench.find_setup(fields, trace).setup.template
        except DebuggerError:
            return ""

    def open(self, fields: TargetFields, trace: Trace | None, template: str, own: str) -> Opened:
        """Return what the editor is to hold: the target's own template unless someone edited it."""
        found = self.own_template(fields, trace) or own
        is_edited = bool(template.strip()) and keep_edges(template, own) != own
        return Opened(None if is_edited or keep_edges(template, found) == found else found, found)

    @shown_as(lambda error: Drawn(edit_error_payload(error), None))
    def render(self, asked: Asked, template: str, ending: str, kwargs: str, own: str) -> Drawn:
        """Render the request with the edited template; `kwargs`, a JSON object, win over the request's own."""
        self._bench.check_text(template)
        found = self._bench.find_setup(asked.fields, asked.trace)
        body = _changed(self._bench.read_body(asked), ending, _read_kwargs(kwargs))
        prompt = _render(body, replace(found.setup, template=keep_edges(template, own)))
        tokens = tokens_payload(prompt.tokens)
        return Drawn(edited_payload(prompt, own, found.source), tokens or "")

    @shown_as(edit_error_payload)
    async def probe(
        self, fields: TargetFields, trace: Trace | None, template: str, own: str
    ) -> AsyncGenerator[str | None, None]:
        """Probe what the edited template supports; yields `None` while there is nothing new."""

        def growing_answers() -> Iterator[tuple[ProbeAnswer, ...]]:
            self._bench.check_text(template)
            setup = self._bench.find_setup(fields, trace).setup
            answers: tuple[ProbeAnswer, ...] = ()
            for answer in step_probes(
                keep_edges(template, own), special_tokens=setup.named_tokens, template_kwargs=setup.template_kwargs
            ):
                answers = (*answers, answer)
                yield answers

        async for answers, is_running in follow_steps(growing_answers(), None, self._bench.redraw_rate):
            yield None if answers is None else await in_thread(probes_payload, answers, is_running=is_running)


def _render(body: JSONObject, setup: RenderSetup) -> Prompt:
    """Render with tokens; without them if the text is too long to tokenize."""
    with explained_for(body):
        prompt = render_local(
            body, template=setup.template, special_tokens=setup.named_tokens, template_kwargs=setup.template_kwargs
        )
    if setup.tokenizer is None or len(prompt.text) > MAX_TOKENIZED_CHARS:
        return prompt
    return replace(prompt, tokens=tokens_of(prompt.text, prompt.spans, setup.tokenizer))


def _read_kwargs(text: str) -> JSONObject:
    if not text.strip():
        return {}
    try:
        kwargs: JSON = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"The template kwargs are not valid JSON: {error}", "Write an object.") from None
    if not isinstance(kwargs, dict):
        raise RequestError(f"The template kwargs are {shorten(kwargs)}, expected an object.")
    return kwargs


def _changed(body: JSONObject, ending: str, kwargs: JSONObject) -> JSONObject:
    made = dict(body)
    if kwargs:
        own = body.get("chat_template_kwargs")
        made["chat_template_kwargs"] = {**(own if isinstance(own, dict) else {}), **kwargs}
    if ending == AS_ASKED:
        return made
    if ending == OPENED:
        made.pop("continue_final_message", None)
    return {**made, "add_generation_prompt": ending == OPENED}
