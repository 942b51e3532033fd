"""A failing test for the maintainers of a server: small, self-contained, without weights and GPU.

The raw output, the tools and the calls that the output holds are in it, in the way that the project writes its parser
tests; the record of the server software says how. What a test expects is checked at once where the project is installed
(`core.tools.fixes.trial`); what was not run says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from prompt_debugger.core.base.errors import RequestError, shorten
from prompt_debugger.core.base.types import CallStatus, Place, ToolCallAttempt, Trace
from prompt_debugger.core.complete import ENGINES, PARSER_NAMES, ParserCase, ParserTest, parser_names_of
from prompt_debugger.core.diagnose.trace_queries import prompt_of

_PLAIN = re.compile(r"[A-Za-z0-9_.+-]{1,80}")
PARSER_TESTS: Mapping[str, ParserTest] = {
    kind: engine.parser_test for kind, engine in ENGINES.items() if engine.parser_test is not None
}
"""By kind, how a test of each server software is written, in the order in which they are offered."""


def case_of_trace(trace: Trace, parser: str | None = None, engine: str = "vllm") -> ParserCase:
    """Return the case that a run makes.

    Args:
        trace: The run.
        parser: Name of the parser, where the run does not tell it.
        engine: Whose parser it is: of another engine than the run's server, that for the output's family.

    Raises:
        RequestError: There is no raw output, no whole call in it, or no parser named.
    """
    name = parser or _parser_of(trace, engine)
    if name is None:
        raise RequestError("The parser that read this output is unknown.", "Give it with --parser.", field="--parser")
    if not _PLAIN.fullmatch(name):  # it is written into a program, and a saved run says what its author likes
        raise RequestError(f"{shorten(name)} is not the name of a parser.", "Give it with --parser.", field="--parser")
    if trace.parse is None:
        raise RequestError("The run has no raw output that was read.", "A test needs one: run the request again.")
    calls = [call for call in trace.parse.parsed.calls if call.place is Place.BODY]
    whole = [call for call in calls if call.status is CallStatus.COMPLETE and call.name]
    if not whole:
        raise RequestError(
            "The output contains no complete tool call.",
            "A test can be written only for a call that a parser must find.",
        )
    tools, prompt = trace.request.body.get("tools"), prompt_of(trace)
    return ParserCase(
        parser=name,
        raw=_strip_end(trace),
        tools=tuple(tool for tool in tools if isinstance(tool, dict)) if isinstance(tools, list) else (),
        calls=tuple((call.name or "", arguments_text(call)) for call in whole),
        name=_test_name(trace),
        template="" if prompt is None else prompt.template or "",
    )


def write_upstream_test(case: ParserCase, engine: str) -> str:
    """Return the source of a test.

    Raises:
        RequestError: No test can be written for it.
    """
    if engine not in PARSER_TESTS:
        raise RequestError(f"No test can be written for {engine!r}.", f"Known: {', '.join(PARSER_TESTS)}.")
    test = PARSER_TESTS[engine]
    return test.not_run + test.write(case)


def drop_note(source: str, engine: str) -> str:
    """Return a test that was run without the words that say it was not."""
    return source.removeprefix(PARSER_TESTS[engine].not_run)


def _parser_of(trace: Trace, engine: str) -> str | None:
    """Return the parser of the run's server, or what another engine calls its own for the output."""
    server = trace.server
    if trace.parse is not None and server is not None and server.kind != engine and engine in PARSER_NAMES:
        own = parser_names_of(engine, trace.parse.parsed.format).tools
        return own[0] if own else None
    return None if server is None else server.tool_parser


def _strip_end(trace: Trace) -> str:
    assert trace.parse is not None
    ends = [s.char_span.start for s in trace.parse.parsed.segments if s.kind.value == "end"]
    return trace.parse.raw[: min(ends)] if ends else trace.parse.raw


def arguments_text(call: ToolCallAttempt) -> str:
    """Return the arguments of a call as JSON in one spelling; as written if they are not JSON."""
    return call.arguments if call.arguments_json is None else json.dumps(call.arguments_json, ensure_ascii=False)


def _test_name(trace: Trace) -> str:
    named = next((finding.name for finding in trace.findings if finding.stage.value == "parse"), "every-call-is-read")
    return f"test_{re.sub('[^a-z0-9]+', '_', named.lower())[:60]}"
