"""The parsers of the server under test, run on a given output; the engines' records say which there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from prompt_debugger.core.base.errors import BackendError, EngineError, shorten
from prompt_debugger.core.base.types import JSONObject, Parse, ParserOutcome, SegmentKind, Server, ServerOutcome
from prompt_debugger.core.complete import ENGINES, OutputToParse, OwnParsers, ServerClient, engine_of
from prompt_debugger.core.parse.engines import RawOutput

_ABSENT = frozenset({403, 404, 405, 501})


def is_server_parser(name: str) -> bool:
    """Return whether a name means a parser that a server runs."""
    return _parsers_named(name) is not None


def server_parser_names() -> str:
    """Return how names of such parsers are written, as a list in words."""
    *spellings, last = (
        f"`{spelling}`"
        for engine in ENGINES.values()
        if engine.own_parsers is not None
        for spelling in engine.own_parsers.spellings
    )
    return f"{', '.join(spellings)} or {last}"


def server_parsers_of(server: Server) -> tuple[str, ...]:
    """Return the names of the parsers that a server offers to run, as far as it says."""
    parsers = engine_of(server.kind).own_parsers
    return () if parsers is None else parsers.offered(server)


async def ask_server_parsers(
    client: ServerClient, names: Sequence[str], output: RawOutput, *, text: str | None = None
) -> dict[str, ParserOutcome]:
    """Run parsers of a server on an output; one that fails has an `error` in its outcome.

    Args:
        client: The server.
        names: As `is_server_parser` knows them.
        output: The output; `derender` needs its ids.
        text: The output as servers hand it to their parsers: without the end token. By default all of it.

    Raises:
        EngineError: A name is unknown.
    """
    parsers_by_name = {name: _read_name(name) for name in names}
    given = OutputToParse(
        text=output.raw if text is None else text,
        tools=_tools(output),
        request=output.request,
        token_ids=output.token_ids,
        prompt_token_ids=output.prompt_token_ids,
        finish_reason=output.finish_reason,
        model=None if client.server is None else client.server.model,
    )
    outcomes: dict[str, ParserOutcome] = {}
    for name, parsers in parsers_by_name.items():
        try:
            found = await client.run_parser(parsers, name, given)
        except BackendError as error:
            found = ServerOutcome(None, None, (), error=_error_text(parsers, error))
        outcomes[name] = replace(found, base_url=client.base_url)
    return outcomes


def text_without_end(parse: Parse) -> str:
    """Return a raw output up to its end token, as SGLang hands it to its parsers."""
    segments = parse.parsed.segments
    is_ended = bool(segments) and segments[-1].kind is SegmentKind.END
    return parse.raw[: segments[-1].char_span.start] if is_ended else parse.raw


def _parsers_named(name: str) -> OwnParsers | None:
    prefix = name.partition(":")[0]
    all_parsers = (engine.own_parsers for engine in ENGINES.values())
    return next((one for one in all_parsers if one is not None and one.prefix == prefix), None)


def _read_name(name: str) -> OwnParsers:
    """Return the parsers that one of a name belongs to.

    Raises:
        EngineError: It is not such a name.
    """
    parsers = _parsers_named(name)
    if parsers is None or not parsers.is_name(name):
        raise EngineError(f"{shorten(name)} is not the name of a server's parser.", f"Write {server_parser_names()}.")
    return parsers


def _tools(output: RawOutput) -> tuple[JSONObject, ...]:
    if output.tools is not None:
        return output.tools
    declared = (output.request or {}).get("tools")
    return tuple(tool for tool in declared if isinstance(tool, dict)) if isinstance(declared, list) else ()


def _error_text(parsers: OwnParsers, error: BackendError) -> str:
    if error.status in _ABSENT:
        return f"the server does not offer this (HTTP {error.status}); it needs {parsers.needs}"
    return error.message
