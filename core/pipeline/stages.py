"""One request through all stages: a trace that fills up as they finish."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from contextvars import Context
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import NamedTuple

from prompt_debugger.core.base.errors import BackendError, LabError
from prompt_debugger.core.base.types import JSONObject, Refusal, Request, Server, Trace
from prompt_debugger.core.base.wire import name_model
from prompt_debugger.core.complete import Gathered, ServerClient, Timeouts, gather, gather_raw
from prompt_debugger.core.pipeline.api_choice import asked_by, missing_endpoint, seen_by
from prompt_debugger.core.pipeline.diagnosis import judged_steps
from prompt_debugger.core.pipeline.native_fields import add_native_fields, notes_on_native
from prompt_debugger.core.pipeline.opening import lease_lab, look_at, renderer_for
from prompt_debugger.core.pipeline.progress import ASKING_MODEL, Progress, ProgressQueue
from prompt_debugger.core.pipeline.reading import read_run
from prompt_debugger.core.pipeline.rendering import Renderer
from prompt_debugger.core.pipeline.target import Target, client_of, requested_model
from prompt_debugger.core.sandbox import in_thread, sandbox_of
from prompt_debugger.core.tools.lab import Lab, LabPool, LabProgress

_EXIT_S = 2.0


class Following(NamedTuple):
    """A run in progress: what it reports, and its task; awaited, it raises what the run failed with."""

    progress: ProgressQueue
    run: asyncio.Task[None]


@asynccontextmanager
async def follow(
    request: Request, target: Target, labs: LabPool | None = None, *, context: Context | None = None
) -> AsyncGenerator[Following, None]:
    """Run a request while the block runs, which takes as much of its progress as it has time for.

    Labs are not needed for an endpoint; without a context it runs in a copy of the caller's.
    """
    progress = ProgressQueue()
    run = asyncio.create_task(_Run(request, target, labs, progress.report).run(), context=context)
    run.add_done_callback(lambda _: progress.end())
    try:
        yield Following(progress, run)
    finally:
        run.cancel()
        with suppress(asyncio.CancelledError, Exception):  # the task that awaited it knows
            await run


async def run(
    request: Request, target: Target, labs: LabPool | None = None, on_progress: Callable[[Progress], None] | None = None
) -> Trace:
    """Run a request to its end and return the complete trace.

    Raises:
        DebuggerError: The run could not be done.
    """
    trace = Trace(request=request)
    async with follow(request, target, labs) as (progresses, task):
        while (progress := await progresses.next()) is not None:
            trace = progress.trace
            if on_progress is not None:
                on_progress(progress)
        await task
    return trace


@dataclass(slots=True)
class _Run:
    """One run; its only state is the last progress that was reported."""

    request: Request
    target: Target
    labs: LabPool | None
    report: Callable[[Progress], None]
    now: Progress = field(init=False)
    lab: Lab | None = None

    def __post_init__(self) -> None:
        started = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.now = Progress(Trace(request=self.request, started=started), "Starting")

    async def run(self) -> None:
        """Run all stages; a lab that died is reported as such, not as a broken connection."""
        try:
            await self.run_stages()
        except BackendError:
            await self.raise_lab_failure()
            raise

    async def raise_lab_failure(self, refusal: Refusal | None = None) -> None:
        """Raise the lab's failure if it died; a refusal with a status below 500 shows that it is alive."""
        if self.lab is None or (refusal is not None and refusal.status is not None and refusal.status < 500):
            return
        failure = await asyncio.to_thread(_failure_of_lab, self.lab)
        if failure is not None:
            raise failure

    async def run_stages(self) -> None:
        """Run the stages in their order."""
        await in_thread(sandbox_of().warm_up)  # it gets ready while the server works
        async with AsyncExitStack() as stack:
            client, server, target = await self.connect(stack)
            self.update("Loading the tokenizer", replace(self.trace, server=server))
            renderer = await renderer_for(client, server, target)
            renderer = renderer.use_template_of(self.request.body, server.kind).for_one_run()
            asked = asked_by(self.request, self.target.api, server.model, server)
            body = name_model(asked.body, server.model)
            await self.render(renderer, asked.body, body)
            client = asked.client_of(client)
            self.update(ASKING_MODEL, replace(self.trace, api=asked.api, lost=asked.lost))
            try:
                await self.complete(client, server, renderer, body)
            except BackendError as error:
                raise missing_endpoint(error, asked.api) or error from error
            await self.read(renderer)

    async def connect(self, stack: AsyncExitStack) -> tuple[ServerClient, Server, Target]:
        """Boot the lab if there is no endpoint; then see what answers."""
        target = self.target
        base_url = target.base_url
        if base_url is None:
            self.lab, target = await lease_lab(stack, target, self.labs, self.on_lab_progress)
            base_url = self.lab.base_url
            notes = _notes_of_lab(requested_model(self.request, self.target), self.lab)
            self.update("The lab is running", replace(self.trace, notes=notes))
        self.update(f"Identifying the server at {base_url}")
        timeouts = Timeouts(total_s=target.run_s, run_s=target.run_s)
        client = await stack.enter_async_context(client_of(target, base_url, timeouts))
        model = requested_model(self.request, target)
        server = await look_at(client, target, model, is_lab=self.target.base_url is None)
        return client, server, target

    async def render(self, renderer: Renderer, asked: JSONObject, body: JSONObject) -> None:
        """Render here: the request as pasted, or converted, through the model's own template."""
        self.update("Rendering", replace(self.trace, vocabulary=renderer.vocabulary, sent=body))
        local = await in_thread(renderer.render_local, asked)
        if local is None:
            self.update("Rendering", replace(self.trace, notes=(*self.trace.notes, renderer.note)))
        generation_prompt = await in_thread(renderer.generation_prompt, self.request.body)
        self.update("Rendered", replace(self.trace, local_prompt=local, generation_prompt=generation_prompt))

    async def complete(self, client: ServerClient, server: Server, renderer: Renderer, body: JSONObject) -> None:
        """Complete: raw and chat side by side, then the server's own prompt.

        Raises:
            RequestError: The lab would be held up by what constrains the answer.
        """
        if self.lab is not None and self.labs is not None:
            await in_thread(self.labs.guard.check, body, self.lab.spec)
        gathered = await self.gather(client, seen_by(server, client.api), renderer, body)
        if gathered.refusal is not None:
            await self.raise_lab_failure(gathered.refusal)
        prompt = await in_thread(renderer.explain_server, body, gathered, self.trace.local_prompt)
        difference = await in_thread(renderer.compare, prompt, self.trace.local_prompt)
        trace = replace(
            self.trace,
            sent=gathered.sent,
            sent_native=client.native_as_sent,
            evidence=gathered.evidence,
            raw=await in_thread(renderer.add_tokens, gathered),
            raw_again=gathered.raw_again,
            chat=gathered.chat,
            chat_stream=gathered.chat_stream,
            chat_whole=gathered.chat_whole,
            prompt=prompt,
            prompt_difference=difference,
            refusal=gathered.refusal,
            server_grammar=gathered.grammar,
            server=_add_observation(server, gathered),
            notes=(*self.trace.notes, *gathered.notes),
        )
        trace = replace(trace, notes=(*trace.notes, *notes_on_native(trace)))
        self.update("The server refused the request" if gathered.refusal else "The model answered", trace)

    async def gather(self, client: ServerClient, server: Server, renderer: Renderer, body: JSONObject) -> Gathered:
        """Ask the model, as the target says."""
        tokenizer, local_prompt = renderer.tokenizer, self.trace.local_prompt
        if self.target.raw_only:
            return await gather_raw(
                client, server, body, tokenizer=tokenizer, local_prompt=local_prompt, on_raw_text=self.on_raw_text
            )
        return await gather(
            client,
            server,
            body,
            tokenizer=tokenizer,
            local_prompt=local_prompt,
            on_raw_text=self.on_raw_text,
            on_chat_text=self.on_chat_text,
            asks_once=self.target.asks_once,
        )

    async def read(self, renderer: Renderer) -> None:
        """Stages C and D: our census and the account of every character; then findings and the run in one sentence."""
        steps = sandbox_of().stream(read_run, self.trace, renderer.special_texts)
        async with aclosing(judged_steps(self.trace, steps)) as judged:
            async for judged_trace in judged:
                is_last = judged_trace.verdict is not None
                trace = await in_thread(add_native_fields, judged_trace) if is_last else judged_trace
                self.update("Reading the output" if trace.verdict is None else "Done", trace)

    @property
    def trace(self) -> Trace:
        """What is known so far."""
        return self.now.trace

    def update(self, sentence: str, trace: Trace | None = None) -> None:
        """Report what is happening, and what is known if that is more than before."""
        self.now = replace(self.now, trace=trace or self.trace, sentence=sentence, fraction=None)
        self.report(self.now)

    def on_lab_progress(self, progress: LabProgress) -> None:
        """Pass the lab's boot on."""
        self.now = replace(self.now, sentence=progress.sentence, fraction=progress.fraction)
        self.report(self.now)

    def on_raw_text(self, text: str) -> None:
        """Show raw text as it streams."""
        self.now = replace(self.now, raw_text=text)
        self.report(self.now)

    def on_chat_text(self, text: str) -> None:
        """Show chat text as it streams."""
        self.now = replace(self.now, chat_text=text)
        self.report(self.now)


def _failure_of_lab(lab: Lab) -> LabError | None:
    """Return why a lab died, `None` if it runs; waits a moment for one that is about to exit."""
    lab.wait(_EXIT_S)
    return lab.failure()


def _add_observation(server: Server, gathered: Gathered) -> Server:
    """Return the server with what only an answer shows: whether it has a reasoning parser."""
    seen = None if gathered.server is None else gathered.server.has_reasoning_parser
    return server if seen is None else replace(server, has_reasoning_parser=seen)


def _notes_of_lab(named: str | None, lab: Lab) -> tuple[str, ...]:
    """Say so where another model is asked for than the lab has."""
    if named in (None, lab.model):
        return ()
    return (
        (f"The request asks for the model `{named}`; the lab serves its own, `{lab.model}`, which answered instead."),
    )
