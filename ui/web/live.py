"""The prompt of the request under edit, rendered while someone types: the newest text wins, older work ends."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from prompt_debugger.core.base.errors import RenderError, SandboxError
from prompt_debugger.core.base.types import Request, Trace
from prompt_debugger.core.pipeline import check_rendered
from prompt_debugger.core.pipeline.explained import explained_for
from prompt_debugger.core.pipeline.rendering import Renderer
from prompt_debugger.core.render import render_local
from prompt_debugger.core.render.local import tokens_of
from prompt_debugger.core.sandbox import in_thread, sandbox_of
from prompt_debugger.ui.present import tokens_payload
from prompt_debugger.ui.present.live import live_error_payload, live_payload
from prompt_debugger.ui.web.experiments import Asked, Bench
from prompt_debugger.ui.web.failures import shown_as
from prompt_debugger.ui.web.limits import Limits
from prompt_debugger.ui.web.render_setups import FoundSetup, use_own_template
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.work import read_pasted

MAX_TOKENIZED_CHARS = 2_000_000


class Live(NamedTuple):
    """What the live views show, and the names of the model's templates; `None` leaves what is there."""

    status: str
    tokens: str | None
    template_names: tuple[str, ...] | None = None


class LiveRender:
    """What the live view's event does. Remembers per open page which work is running, never a text."""

    def __init__(self, bench: Bench, settings: PageSettings) -> None:
        self._bench = bench
        self._settings = settings
        self._tasks: dict[str, asyncio.Task[Live]] = {}

    async def render(self, asked: Asked, session: str) -> Live | None:
        """Render the request in the editor; `None` if a newer text of the same page came in between."""
        if (older := self._tasks.get(session)) is not None:
            older.cancel()
        task = asyncio.create_task(self._draw(asked))
        self._tasks[session] = task
        try:
            await asyncio.wait({task})
        finally:  # leaving ends the work
            task.cancel()
            if self._tasks.get(session) is task:
                del self._tasks[session]
        return None if task.cancelled() else task.result()

    @shown_as(lambda error: Live(live_error_payload(error), None))
    async def _draw(self, asked: Asked) -> Live:
        self._bench.check_text(asked.text)
        limits = Limits(request_chars=self._settings.limits.request_chars)
        request = await sandbox_of().run(read_pasted, asked.text, limits, hides_keys=self._settings.public)
        found = await in_thread(self._bench.find_setup, asked.fields, asked.trace)
        found, names = use_own_template(found, request.body), tuple(found.templates)
        try:
            trace = await in_thread(_render, request, found)
        except RenderError as error:  # another template of the model may take the request
            return Live(live_error_payload(error), None, names)
        with suppress(SandboxError):  # the prompt is there; the run will say what could not be checked
            trace = await check_rendered(trace, _special_texts(trace))
        prompt = trace.local_prompt
        tokens = None if prompt is None else await in_thread(tokens_payload, prompt.tokens)
        return Live(await in_thread(live_payload, trace, found.source), tokens or "", names)


def _render(request: Request, found: FoundSetup) -> Trace:
    """Return the request with its local prompt; a text that no tokenizer should be bothered with has no tokens."""
    setup = found.setup
    with explained_for(request.body):
        prompt = render_local(
            request.body,
            template=setup.template,
            special_tokens=setup.named_tokens,
            template_kwargs=setup.template_kwargs,
        )
    if setup.tokenizer is not None and len(prompt.text) <= MAX_TOKENIZED_CHARS:
        prompt = replace(prompt, tokens=tokens_of(prompt.text, prompt.spans, setup.tokenizer))
    renderer = Renderer(setup.template, setup.tokenizer)
    return Trace(
        request,
        local_prompt=prompt,
        generation_prompt=renderer.generation_prompt(request.body),
        vocabulary=renderer.vocabulary,
    )


def _special_texts(trace: Trace) -> frozenset[str]:
    return frozenset() if trace.vocabulary is None else frozenset(trace.vocabulary.special.values())
