"""The parse stage alone, from a line of a case file: `CaseParser`."""

from __future__ import annotations

import asyncio
import itertools
import marshal
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import NamedTuple, Self

from prompt_debugger.core.base.errors import EngineError, shorten
from prompt_debugger.core.base.types import (
    JSON,
    Finding,
    JSONObject,
    Parse,
    ParserOutcome,
    Request,
    Server,
)
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.diagnose import diagnose_request, diagnose_trace
from prompt_debugger.core.diagnose.schema_uses import schema_uses
from prompt_debugger.core.diagnose.schemas import may_take_long
from prompt_debugger.core.parse import build_ledger
from prompt_debugger.core.parse.engines import (
    WHEELS,
    RawOutput,
    RunsParsers,
    VllmReleases,
    engine_of_parser,
    write_parser_name,
)
from prompt_debugger.core.parse.engines.process import HelperFailedError
from prompt_debugger.core.pipeline.accounts import add_accounts, message_from_outcome
from prompt_debugger.core.pipeline.case_fields import (
    body_of,
    context_of,
    output_of,
    parser_names_of,
    raw_of,
    server_of,
    token_ids_of,
    tokens_of,
    tools_of,
    trace_of,
)
from prompt_debugger.core.pipeline.cases import cached_tokenizer, take_field
from prompt_debugger.core.pipeline.census import believe_parser, read_raw
from prompt_debugger.core.pipeline.diagnosis import check
from prompt_debugger.core.pipeline.parsers import names_of_engine
from prompt_debugger.core.pipeline.reading import diagnose_without
from prompt_debugger.core.pipeline.release_questions import parsers_to_ask
from prompt_debugger.core.pipeline.reread_calls import families_of
from prompt_debugger.core.pipeline.server_parsers import (
    ask_server_parsers,
    is_server_parser,
    server_parser_names,
    text_without_end,
)
from prompt_debugger.core.pipeline.target import Target, client_of
from prompt_debugger.core.tools.experiments import ReleaseTable, bisect_releases, versions_by_engine

ALL = "all"  # all tool parsers of every engine that is here
_EVERY = re.compile(r"(?P<engine>[a-z-]+)(?:@(?P<version>[^:]+))?:\*")  # all tool parsers of an engine
_TOO_LONG = "that took too long"
_AT_ONCE = 4  # parsers of an engine between two looks at the clock
ENGINE_S = 180.0
"""Seconds for all parsers of one engine, once the first have answered: an import alone takes minutes where nothing is
idle."""


class ParsedCase(NamedTuple):
    """What a case is found to be: the reading, the findings, worst first, and what could not be checked, and why."""

    parse: Parse
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


class CaseParser:
    """Reads raw outputs, one after the other; keeps the parser helper warm between them.

    Use as a context manager: leaving it ends the helper.

    Args:
        target: Server whose own parsers may be asked; only its `base_url`, key and guard count.
        thorough: Whether parsers are streamed in many more chunkings.
        seed: Of the random chunkings.
        is_locked: Whether this process may be ended at any moment, and can start no other: then schemas that may take
            long are checked in it as well.
        is_wary: Whether those schemas are left out, since one of them ended such a process before.
    """

    def __init__(
        self,
        target: Target | None = None,
        *,
        thorough: bool = False,
        seed: int = 0,
        is_locked: bool = False,
        is_wary: bool = False,
    ) -> None:
        self._thorough = thorough
        self._is_locked = is_locked
        self._is_wary = is_wary
        self._seed = seed
        self._engine: VllmReleases | None = None
        self._target = target
        self._server: Server | None = None
        self._absent: tuple[str, ...] = ()
        self._tools_key: bytes | None = None
        self._request = Request(body={}, text="")
        self._of_request: Mapping[str, tuple[Finding, ...]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._engine is not None:
            self._engine.close()

    def parse(self, case: JSONObject) -> ParsedCase:
        """Read the raw output of a case.

        Args:
            case: `raw`, and optionally `token_ids`, `tokenizer`, `request`, `tools`, `format`, `prompt_tail`,
                `finish_reason`, `message`, `parsers`, as the outside contract names them. What it says is believed:
                the parser that made the message, or that is asked first, counts as the server's.

        Returns:
            Census, ledger and parsers' outcomes; the findings; what could not be checked. The ledger is against
            `message`, else against the result of the first of `parsers`, else says where each character should go.

        Raises:
            RequestError: A field is missing or of the wrong kind.
            RenderError: The tokenizer cannot be loaded.
            EngineError: A parser was asked for and the helper cannot run, or no server was named for it.
            BackendError: A parser of the server was asked for, and it cannot be reached.
            SandboxError: A check took too much, and not for a schema.
        """
        raw = raw_of(case)
        source = take_field(case, "tokenizer", str, None)
        tokenizer = None if source is None else cached_tokenizer(source)
        token_ids = token_ids_of(case)
        tokens = tokens_of(raw, token_ids, tokenizer)
        message = take_field(case, "message", dict, None)
        context = context_of(case, tokenizer)
        asked = take_field(case, "format", str, "auto") or "auto"
        families = families_of(server_of(case, given=True))
        parse = read_raw(raw, context, message=message, tokens=tokens, wanted=asked, families=families)
        self._absent = ()
        outcomes = self._ask_parsers(case, parse, token_ids, source)
        ledger = parse.ledger
        wanted = parser_names_of(case)
        first = outcomes.get(wanted[0]) if wanted else None  # `vllm:*` is not a parser to compare the output with
        if message is None and first is not None and first.error is None:  # nor is one that could not run
            message = message_from_outcome(first)
            if asked == "auto":
                parse = believe_parser(parse, message, context, wanted[0], tokens)
            ledger = build_ledger(raw, parse.parsed, message)
        if outcomes:
            parse = replace(parse, ledger=ledger, parsers=add_accounts(parse, outcomes))
        request, known = self._request_of(case)
        trace = trace_of(case, request, parse, token_ids, message, tokenizer)
        if message is not None and (first is None or first.error is None):
            given = take_field(case, "message", dict, None) is not None
            trace = replace(trace, server=server_of(case, given=given))
        slow = {use.field: _TOO_LONG for use in schema_uses(trace) if may_take_long(use.schema)}
        if not slow or (self._is_locked and not self._is_wary):
            return ParsedCase(parse, diagnose_trace(trace, of_request=known), self._absent)
        found = diagnose_without(trace, slow) if self._is_wary else asyncio.run(check(trace))
        return ParsedCase(parse, found.findings, (*self._absent, *found.notes))

    def _request_of(self, case: JSONObject) -> tuple[Request, Mapping[str, tuple[Finding, ...]]]:
        """Return the request of a case and the notes on it alone: the lines of a file share their tools."""
        tools: list[JSON] = [*tools_of(case)]
        body = body_of(case)
        key = _exact_key([body, tools])
        if key is None or key != self._tools_key:
            self._tools_key = key
            self._request = Request(body={**body, "tools": tools} if tools else body, text="")
            self._of_request = diagnose_request(self._request)
        return self._request, self._of_request

    def ask_releases(self, case: JSONObject, parsers: Sequence[str], versions: Sequence[str]) -> list[ReleaseTable]:
        """Parse the raw output of a case with parsers of several releases, which must be here.

        Args:
            case: As for `parse`.
            parsers: Names; each that has releases gets a table. An engine with releases and none of these is asked
                with the parser that the output's family would use.
            versions: `ENGINE==VERSION`; a version alone is one of the first parser's engine, else of vLLM.

        Raises:
            RequestError: A field is missing or of the wrong kind.
            EngineError: A parser's name or a version is unknown, or no engine has a parser for the family.
        """
        parse = read_raw(raw_of(case), context_of(case, None), message=None)
        output = output_of(case, parse, token_ids_of(case), take_field(case, "tokenizer", str, None))
        of_engine = versions_by_engine(versions, engine_of_parser(parsers[0]) if parsers else "vllm")
        engines = {name: engine_of_parser(name) for name in parsers_to_ask(parse, parsers, of_engine)}
        return [
            asyncio.run(bisect_releases(output, parser, of_engine[kind]))
            for parser, kind in engines.items()
            if kind in of_engine
        ]

    def _ask_parsers(
        self, case: JSONObject, parse: Parse, token_ids: tuple[int, ...] | None, source: str | None
    ) -> dict[str, ParserOutcome]:
        """Return what the parsers that the case names made of the raw output."""
        names = parser_names_of(case)
        if not names:
            return {}
        output = output_of(case, parse, token_ids, source)
        outcomes: dict[str, ParserOutcome] = {}
        online = [name for name in names if is_server_parser(name) and (self._has_server or not _is_offline(name))]
        if online:
            outcomes |= asyncio.run(self._ask_server(online, output, text_without_end(parse)))
        if offline := [name for name in names if name not in online]:
            for name in offline:
                _check_is_offline(name)
            outcomes |= asyncio.run(self._ask_offline(offline, output, parse))
        return {name: outcomes[name] for name in [*(name for name in names if name in outcomes), *outcomes]}

    @property
    def _has_server(self) -> bool:
        return self._target is not None and self._target.base_url is not None

    async def _ask_offline(self, names: list[str], output: RawOutput, parse: Parse) -> dict[str, ParserOutcome]:
        """Ask engines' parsers offline; `vllm:*` means all tool parsers of one, `all` those of every engine."""
        self._engine = engine = self._engine or VllmReleases()
        wanted: dict[str, None] = {}
        for name in names:
            if name == ALL:
                wanted |= dict.fromkeys(await self._every_engine(engine, parse))
                continue
            if (every := _EVERY.fullmatch(name)) is None:
                wanted[name] = None
                continue
            kind, version = every["engine"], every["version"]
            known = await (await engine.engine(version, kind)).parsers()
            wanted |= dict.fromkeys(write_parser_name(tool, None, version, kind) for tool in known.tool_parsers)
        if len(wanted) == len(names):  # each was named
            return await engine.parse_with(list(wanted), output, thorough=self._thorough, seed=self._seed)
        found, notes = await ask_within_time(engine, list(wanted), output, thorough=self._thorough, seed=self._seed)
        self._absent += notes
        return found

    async def _every_engine(self, engines: VllmReleases, parse: Parse) -> list[str]:
        """Return every parser of every engine that is here, the one that the family would use first in front of each.

        Raises:
            EngineError: No engine is here.
        """
        found: list[str] = []
        absent: list[EngineError] = []
        notes: list[str] = []
        for kind in ("vllm", *WHEELS):
            try:
                known = await (await engines.engine(None, kind)).parsers()
            except EngineError as error:
                absent.append(error)
                title = title_of(kind)
                notes.append(str(error) if title in error.message else f"{title} was not asked: {error}")
                continue
            found += names_of_engine(kind, known, parse.parsed, parse.raw)
        self._absent = tuple(notes)
        if not found:
            raise absent[0]
        return found

    async def _ask_server(self, names: list[str], output: RawOutput, text: str) -> dict[str, ParserOutcome]:
        target = self._target
        if target is None or target.base_url is None:
            raise EngineError(
                f"`{names[0]}` is a parser of a server, but no endpoint was given.", "Give --endpoint URL."
            )
        async with client_of(target) as client:
            self._server = client.server = self._server or await client.probe(target.model)
            return await ask_server_parsers(client, names, output, text=text)


async def ask_within_time(
    engines: RunsParsers,
    names: Sequence[str],
    output: RawOutput,
    *,
    thorough: bool = False,
    seed: int = 0,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[dict[str, ParserOutcome], tuple[str, ...]]:
    """Ask every one of some parsers, a few at a time, those of an engine together, one after the other.

    Returns:
        The outcomes that came, and which parsers gave none, and why.

    Raises:
        EngineError: None gave one.
    """
    outcomes: dict[str, ParserOutcome] = {}
    notes: list[str] = []
    failures: list[EngineError] = []
    for kind, of_kind in itertools.groupby(names, key=lambda name: name.partition(":")[0]):
        left, until = list(of_kind), None
        while left and (until is None or clock() < until):
            some, left = left[:_AT_ONCE], left[_AT_ONCE:]
            try:
                outcomes |= await engines.parse_with(some, output, thorough=thorough, seed=seed)
            except HelperFailedError as error:  # one of them was too much for its helper
                failures.append(error)
                notes.append(f"No answer of {_listed(some)}: {error}")
            until = until or clock() + ENGINE_S
        if left:
            notes.append(
                f"{len(left)} parsers of {title_of(engine_of_parser(f'{kind}:'))} were not asked, as the "
                f"{ENGINE_S:g} s for one engine were up: {_listed(left)}. A parser that is named is asked by itself."
            )
    if failures and not outcomes:
        raise failures[0]
    return outcomes, tuple(notes)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _is_offline(name: str) -> bool:
    """Return whether a name begins as that of an engine whose parsers run here."""
    return name == ALL or name.partition(":")[0].partition("@")[0] in ("vllm", *WHEELS)


def _check_is_offline(name: str) -> None:
    """Refuse a name that does not even begin as one of a parser; what follows is read where it is asked.

    Raises:
        EngineError: It begins differently.
    """
    if not _is_offline(name):
        raise EngineError(
            f"{shorten(name)} is not the name of a parser.",
            "Write `vllm:TOOL`, `vllm:TOOL+REASONING` or `vllm:-+REASONING` for parsers of the local vLLM, the same "
            f"with {' or '.join(f'`{engine}:`' for engine in WHEELS)} for those that `parse --fetch` downloaded, "
            f"`all` for every engine that is here, and {server_parser_names()} for those of the server at --endpoint.",
        )


def _exact_key(value: JSON) -> bytes | None:
    """Return what no other value has, not even an equal one as `1` is to `true`; `None` if it is nested too deeply."""
    try:
        return marshal.dumps(value, 0)  # the fastest that tells them apart; version 0 goes by values alone
    except ValueError:
        return None
