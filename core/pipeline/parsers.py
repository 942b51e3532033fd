"""What vLLM's own parsers would have made of a run's raw output: which of them reads it, and how does it stream?"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path

from prompt_debugger.core.base.assets import place_of
from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.types import Parse, ParsedMessage, ParserOutcome, Trace, VllmOutcome
from prompt_debugger.core.complete import parser_names_of
from prompt_debugger.core.formats import checkpoint_in
from prompt_debugger.core.parse.engines import RawOutput, VllmEngine, VllmParsers, write_parser_name
from prompt_debugger.core.pipeline.diagnosis import judged_steps
from prompt_debugger.core.pipeline.reading import account_outcomes, judge_outcomes
from prompt_debugger.core.sandbox import sandbox_of

# Parsers asked at a time where people wait: the next step comes, and can be stopped, within a second or two.
PARSERS_PER_STEP = 4


@dataclass(frozen=True, slots=True)
class MatrixStep:
    """How far the question to all parsers is: the outcomes so far, how many there will be, and of which vLLM."""

    outcomes: Mapping[str, ParserOutcome] = field(default_factory=dict)
    total: int = 0
    version: str = ""


async def ask_parsers(trace: Trace, engine: VllmEngine, tokenizer: str | Path | None = None) -> Trace:
    """Fill in `parse.parsers` with the outcome of every tool parser, and judge the run again.

    Args:
        trace: A complete run.
        engine: The warm helper; it is started if need be, which takes some seconds.
        tokenizer: Folder or hub id of the model's tokenizer; without one an approximate vocabulary serves.

    Returns:
        The trace with outcomes (those that read most calls first), findings and verdict; as it was if there is no
        raw output.

    Raises:
        EngineError: There is no vLLM here, or the helper failed.
    """
    output = output_of_trace(trace, tokenizer)
    if output is None:
        return trace
    outcomes = await engine.matrix(output, reasoning_parser=trace.reasoning_parser)
    return await add_outcomes(trace, outcomes)


async def step_parsers(
    trace: Trace, engine: VllmEngine, tokenizer: str | Path | None = None
) -> AsyncIterator[MatrixStep]:
    """Ask every tool parser of vLLM or of another engine, streaming included, a few at a time; see `ask_parsers`.

    Yields:
        First how many there are, then what has come; nothing if there is no raw output.

    Raises:
        EngineError: There is no vLLM here, or the helper failed.
    """
    output, parse = output_of_trace(trace, tokenizer), trace.parse
    if output is None:
        return
    known = await engine.parsers()
    if engine.engine == "vllm" or parse is None:
        names = [write_parser_name(tool, trace.reasoning_parser) for tool in known.tool_parsers]
    else:
        names = names_of_engine(engine.engine, known, parse.parsed, parse.raw)
    step = MatrixStep(total=len(names), version=known.version)
    yield step
    for start in range(0, len(names), PARSERS_PER_STEP):
        more = await engine.parse_with(names[start : start + PARSERS_PER_STEP], output)
        if parse is not None:
            more = await sandbox_of().run(account_outcomes, parse, dict(more))
        step = replace(step, outcomes={**step.outcomes, **more})
        yield step


def names_of_engine(kind: str, known: VllmParsers, parsed: ParsedMessage, raw: str = "") -> list[str]:
    """Return every tool parser of an engine by name, those of the output's family first.

    Where the output contains reasoning, each goes with the family's reasoning parser. Where the raw output shows which
    of the family's models wrote it, that model's parsers are in front.
    """
    shown = checkpoint_in(parsed.format, raw)
    own = parser_names_of(kind, parsed.format, None if shown is None else shown[0])
    tools = [tool for tool in own.tools if tool in known.tool_parsers]
    thinks = parsed.reasoning is not None
    reasoning = next((one for one in own.reasonings if thinks and one in known.reasoning_parsers), None)
    return [write_parser_name(tool, reasoning, None, kind) for tool in dict.fromkeys((*tools, *known.tool_parsers))]


async def try_splits(
    trace: Trace, engine: VllmEngine, parser: str, tokenizer: str | Path | None = None, *, seed: int = 0
) -> VllmOutcome:
    """Stream a run's raw output through one parser in every interesting chunking.

    Args:
        trace: A complete run.
        engine: The warm helper.
        parser: Name such as `vllm:kimi_k2+kimi_k2`.
        tokenizer: Folder or hub id of the model's tokenizer.
        seed: Of the random chunkings.

    Raises:
        EngineError: There is no raw output, no vLLM, no such name, or the helper failed.
    """
    output = output_of_trace(trace, tokenizer)
    if output is None:
        raise EngineError("There is no raw output to stream.", "Run the request first.")
    outcome = (await engine.parse_with([parser], output, seed=seed, thorough=True))[parser]
    assert isinstance(outcome, VllmOutcome)
    return outcome


async def add_outcomes(trace: Trace, outcomes: Mapping[str, ParserOutcome]) -> Trace:
    """Return a trace with the outcomes of parsers, those that read most calls first, judged again.

    Raises:
        SandboxError: Judging it takes too much.
    """
    if trace.parse is None:
        return trace
    steps = sandbox_of().stream(judge_outcomes, trace, dict(outcomes))
    async with aclosing(judged_steps(trace, steps)) as judged:
        async for one in judged:
            trace = one
    return trace


def output_of_trace(trace: Trace, tokenizer: str | Path | None = None) -> RawOutput | None:
    """Return what parsers are asked about, `None` if a run has no raw output."""
    if trace.parse is None or trace.raw is None:
        return None
    return RawOutput(
        trace.parse.raw,
        request=trace.request.body or None,
        token_ids=trace.raw.token_ids,
        prompt_token_ids=None if trace.prompt is None else trace.prompt.token_ids,
        tokenizer=place_of(tokenizer) if isinstance(tokenizer, str) else tokenizer,
        finish_reason=trace.raw.finish_reason,
        called=called_names(trace.parse),
    )


def called_names(parse: Parse) -> tuple[str, ...]:
    """Return the names of the tools that an output calls, as it is read here."""
    return tuple(call.name for call in parse.parsed.calls if call.name)


def parser_of_server(trace: Trace) -> str | None:
    """Return the name of the parsers that the server under test uses, `None` if it is not known."""
    server = trace.server
    if server is None or (server.tool_parser is None and server.reasoning_parser is None):
        return None
    return write_parser_name(server.tool_parser, server.reasoning_parser)
