"""The tools below the ledger, followed step by step: plain values and the trace of the last run in, payloads out."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import NamedTuple, TypeVar

from prompt_debugger.core.base.errors import DebuggerError, EngineError, RequestError
from prompt_debugger.core.base.types import ParserOutcome, Trace
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.parse.engines import (
    WHEELS,
    VllmEngine,
    VllmReleases,
    WheelEngine,
    engine_of_parser,
    find_wheel,
)
from prompt_debugger.core.pipeline import (
    MatrixStep,
    add_outcomes,
    ask_parsers,
    ask_server_parsers,
    client_of,
    judge_trace,
    output_of_trace,
    parser_of_server,
    parsers_to_ask,
    server_parsers_of,
    step_parsers,
    text_without_end,
    try_splits,
)
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.experiments import ReleaseTable, sort_versions, step_releases, versions_by_engine
from prompt_debugger.core.tools.grammar import GrammarEngine, find_family
from prompt_debugger.ui.present import findings_payload, stages_payload, verdict_payload
from prompt_debugger.ui.present.constrained import constrained_payload
from prompt_debugger.ui.present.parsers import matrix_payload
from prompt_debugger.ui.present.releases import releases_payload
from prompt_debugger.ui.present.splits import splits_payload
from prompt_debugger.ui.present.tool_state import tool_error_payload, waiting_payload
from prompt_debugger.ui.web.failures import shown_as
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.redraw_rate import RedrawRate, ticking
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import target_of_server

MAX_RELEASES = 16
ALL_ENGINES = "every engine that is here"
_MAX_SEED = 2**31

T = TypeVar("T")
_log = logging.getLogger(__name__)


class MatrixChange(NamedTuple):
    """What a step of the matrix changes: its view, and at the end the findings, the stage cards and the trace.

    Of a run that just lost a call also the verdict. A payload is `None` if nothing changed.
    """

    matrix: str | None = None
    findings: str | None = None
    stages: str | None = None
    trace: Trace | None = None
    verdict: str | None = None


class ParseTools:
    """What the events of the tools do; keeps only what does not change while the page is served.

    All visitors share the engine, a warm helper with vLLM's parsers.
    """

    def __init__(
        self, settings: PageSettings, labs: PageLabs, engine: VllmEngine, redraw_rate: RedrawRate | None = None
    ) -> None:
        self._settings = settings
        self._labs = labs
        self._engine = engine
        self._redraw_rate = redraw_rate or RedrawRate()
        self._grammar = GrammarEngine()

    @shown_as(lambda error: MatrixChange(tool_error_payload(error)))
    async def matrix(
        self, trace: Trace | None, tokenizer: str, servers: tuple[str, ...] = (), engines: str = ""
    ) -> AsyncGenerator[MatrixChange, None]:
        """Ask the server's own parsers, where it offers them, and every tool parser of vLLM, streaming included.

        `servers` are those that this page has run against: no other server named in a shared run is asked.
        `ALL_ENGINES` asks the parsers of other engines that were fetched as well.
        """
        run = _require_output(trace)
        yield MatrixChange(await in_thread(matrix_payload, run, {}, total=0, is_running=True))
        step = MatrixStep()
        async with aclosing(
            ticking(self._every_step(run, self._tokenizer(run, tokenizer), servers, engines), self._redraw_rate)
        ) as ticks:
            async for found in ticks:
                step = found or step
                if found is None:
                    yield MatrixChange()
                    continue
                payload = await in_thread(
                    matrix_payload, run, step.outcomes, total=step.total, version=step.version, is_running=True
                )
                yield MatrixChange(payload)
        judged = await add_outcomes(run, step.outcomes)
        yield await in_thread(_final_change, judged, step.version)

    @shown_as(lambda error: MatrixChange(tool_error_payload(error)))
    async def lost_call(
        self, trace: Trace | None, tokenizer: str, run: int | None
    ) -> AsyncGenerator[MatrixChange, None]:
        """Ask vLLM's parsers about a run that just lost a call; their helper starts at the first need."""
        asked = _require_output(trace)
        call = ask_parsers(asked, self._engine, self._tokenizer(asked, tokenizer))
        async with aclosing(ticking(_once(call), self._redraw_rate)) as ticks:
            async for judged in ticks:
                yield MatrixChange() if judged is None else await in_thread(_add_verdict, judged, run or 0)

    async def ask_silently(self, trace: Trace) -> Trace | None:
        """Return a run, no longer on display, with the results of vLLM's parsers; `None` if they cannot be asked."""
        try:
            return await ask_parsers(trace, self._engine, self._tokenizer(trace, ""))
        except DebuggerError as error:
            _log.info("the parsers could not be asked about a kept run: %r", error)
            return None

    @shown_as(tool_error_payload)
    async def splits(
        self, trace: Trace | None, tokenizer: str, parser: str, seed: float | None
    ) -> AsyncGenerator[str | None, None]:
        """Stream the raw output through one parser in every interesting chunking."""
        run = _require_output(trace)
        name = _parser_name(run, parser)
        yield waiting_payload(f"Streaming the raw output through `{name}`.", "whole, by token, by special token, …")
        call = try_splits(run, self._engine, name, self._tokenizer(run, tokenizer), seed=_seed(seed))
        async with aclosing(ticking(_once(call), self._redraw_rate)) as ticks:
            async for outcome in ticks:
                yield None if outcome is None else await in_thread(splits_payload, run, name, outcome)

    @shown_as(tool_error_payload)
    async def releases(
        self, trace: Trace | None, tokenizer: str, parser: str, versions: str
    ) -> AsyncGenerator[str | None, None]:
        """Ask parsers in several releases of their engines; those that are not here are fetched."""
        if self._settings.public:  # visitors must not make this machine download
            raise RequestError(
                "Older releases are not downloaded on a public page.", "Run the program on your own machine to do that."
            )
        run = _require_output(trace)
        questions, engines = _release_questions(run, parser, _versions(versions))
        output = output_of_trace(run, self._tokenizer(run, tokenizer))
        assert output is not None, "`_require_output` let it through"
        total = sum(len(wanted) for wanted in questions.values())
        done: list[ReleaseTable] = []
        async with VllmReleases(max_warm=1, fetch=True) as source:
            for name, wanted in questions.items():
                steps = step_releases(output, name, wanted, releases=source)
                table = ReleaseTable(name, (), ())
                async with aclosing(ticking(steps, self._redraw_rate)) as ticks:
                    async for found in ticks:
                        if found is None:
                            yield None
                            continue
                        table = found
                        yield await in_thread(_release_step, run, [*done, table], total, wanted, engines)
                done.append(table)

    @shown_as(tool_error_payload)
    async def constrained(self, trace: Trace | None, tokenizer: str, level: str) -> AsyncGenerator[str | None, None]:
        """Check the raw output against the grammar that vLLM would enforce."""
        run = _require_output(trace)
        yield waiting_payload("Walking the output through the grammar of its format.", "compiling the grammar")
        source = self._tokenizer(run, tokenizer)
        call = in_thread(judge_trace, run, level.strip(), self._grammar, source)
        async with aclosing(ticking(_once(call), self._redraw_rate)) as ticks:
            async for verdict in ticks:
                yield None if verdict is None else await in_thread(constrained_payload, run, verdict)

    async def _every_step(
        self, trace: Trace, tokenizer: str | None, servers: tuple[str, ...], engines: str
    ) -> AsyncIterator[MatrixStep]:
        """Ask vLLM's parsers, then those of every other engine that is here, one engine after the other."""
        before = MatrixStep()
        async for before in self._matrix_steps(trace, tokenizer, servers):
            yield before
        for kind in WHEELS if engines == ALL_ENGINES else ():
            if (folder := find_wheel(kind, None)) is None:
                continue
            async with WheelEngine(kind, folder) as engine:
                step = MatrixStep()
                async for step in step_parsers(trace, engine, tokenizer):
                    outcomes = {**before.outcomes, **step.outcomes}
                    yield replace(before, outcomes=outcomes, total=before.total + step.total)
                before = replace(before, outcomes={**before.outcomes, **step.outcomes}, total=before.total + step.total)

    async def _matrix_steps(
        self, trace: Trace, tokenizer: str | None, servers: tuple[str, ...]
    ) -> AsyncIterator[MatrixStep]:
        own = await self._ask_server(trace, servers)
        try:
            async for step in step_parsers(trace, self._engine, tokenizer):
                yield replace(step, outcomes={**own, **step.outcomes}, total=step.total + len(own))
        except EngineError:
            if not own:
                raise
            yield MatrixStep(own, len(own))  # without vLLM here, the server's own parsers are still worth showing

    async def _ask_server(self, trace: Trace, servers: tuple[str, ...]) -> dict[str, ParserOutcome]:
        """Return what the parsers made of the output that the server itself offers to run."""
        server, output = trace.server, output_of_trace(trace)
        names = () if server is None else server_parsers_of(server)
        if server is None or server.base_url not in servers or trace.parse is None or output is None or not names:
            return {}
        target = target_of_server(self._settings, self._labs, server)
        async with client_of(target) as client:
            client.server = server
            return await ask_server_parsers(client, names, output, text=text_without_end(trace.parse))

    def _tokenizer(self, trace: Trace, named: str) -> str | None:
        """Return the tokenizer of the run, as far as it is known; on a public page the visitor's choice is ignored."""
        target = self._settings.target
        if trace.server is not None and trace.server.is_lab:
            return str(target.lab.model_dir)
        own = None if target.tokenizer is None else str(target.tokenizer)
        return own if self._settings.public else named.strip() or own


def _require_output(trace: Trace | None) -> Trace:
    """Return the trace of a run that has a raw output.

    Raises:
        RequestError: There is none.
    """
    if trace is None or trace.raw is None or trace.parse is None:
        raise RequestError("There is no raw output yet.", "Run a request first: this examines what the model wrote.")
    return trace


def _parser_name(trace: Trace, named: str) -> str:
    """Return the parser to try: the one named, else the server's own, else the one that fits the format."""
    wanted = named.strip()
    if wanted:
        return wanted if wanted.startswith("vllm") else f"vllm:{wanted}"
    own = parser_of_server(trace)
    if own is not None:
        return own
    parse = trace.parse
    family = None if parse is None else find_family(parse.parsed.format)
    if family is None:
        raise RequestError("The server does not report which parser it uses.", "Give one, such as `kimi_k2`.")
    return f"vllm:{family.grammar.parser}"


def _seed(value: float | None) -> int:
    number = 0 if value is None else int(value)
    if not 0 <= number < _MAX_SEED:
        raise RequestError(f"The seed is {number}, expected a number from 0 to {_MAX_SEED - 1}.")
    return number


def _versions(text: str) -> list[str]:
    """Return the releases in a text, each `VERSION` or `ENGINE==VERSION`.

    Raises:
        RequestError: There is none, or there are too many.
    """
    versions = list(dict.fromkeys(re.findall(r"[^\s,;]+", text)))
    if not 0 < len(versions) <= MAX_RELEASES:
        raise RequestError(
            f"{len(versions)} releases are given, expected 1 to {MAX_RELEASES}.",
            "Write them as `0.11.0, 0.17.0`, or with the engine, as `vllm==0.32.0, sglang==0.5.23`.",
        )
    return versions


def _release_questions(trace: Trace, named: str, versions: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Return the releases to ask by parser, and their engines.

    The parsers are those named, else the server's own, else of each engine the family's.

    Raises:
        DebuggerError: A release is malformed, or no parser is known for its engine.
    """
    assert trace.parse is not None, "`_require_output` let it through"
    names = re.findall(r"[^\s,;]+", named) or _own_parsers(trace)
    of_engine = versions_by_engine(versions, engine_of_parser(names[0]) if names else "vllm")
    if not named.strip():
        names = [name for name in names if engine_of_parser(name) in of_engine]
    asked = {name: engine_of_parser(name) for name in parsers_to_ask(trace.parse, names, of_engine)}
    if unasked := next((kind for kind in asked.values() if kind not in of_engine), None):
        raise RequestError(f"No release of {title_of(unasked)} is given.", f"Add one: `{unasked}==VERSION`.")
    return {name: list(sort_versions(of_engine[kind])) for name, kind in asked.items()}, list(of_engine)


def _own_parsers(trace: Trace) -> list[str]:
    """Return the parser that the server under test uses, by its engine's name; none where it is not known."""
    own, server = parser_of_server(trace), trace.server
    if own is None or server is None:
        return []
    return [server.kind + own.removeprefix("vllm") if server.kind in WHEELS else own]


def _release_step(
    trace: Trace, tables: list[ReleaseTable], total: int, wanted: Sequence[str], engines: Sequence[str]
) -> str:
    """Return what the page shows of the tables so far; the releases of the last are those wanted."""
    at, done = len(tables[-1].rows), sum(len(table.rows) for table in tables)
    engine = title_of(engine_of_parser(tables[-1].parser))
    now = f"releases; now {engine} {wanted[at]}, downloaded if necessary" if at < len(wanted) else ""
    return releases_payload(trace, tables, total=total, step=now, is_running=done < total, engines=engines)


async def _once(call: Awaitable[T]) -> AsyncIterator[T]:
    yield await call


def _add_verdict(judged: Trace, run: int) -> MatrixChange:
    """Return the final change of a run whose lost call the parsers were asked about: with its verdict."""
    return _final_change(judged, "")._replace(verdict=verdict_payload(judged, run=run))


def _final_change(judged: Trace, version: str) -> MatrixChange:
    """Return what the page shows once all parsers have answered."""
    matrix = matrix_payload(judged, version=version)
    return MatrixChange(matrix, findings_payload(judged), stages_payload(judged), judged)
