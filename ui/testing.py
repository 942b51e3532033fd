"""Is a call lost? For test suites: what `assert_no_lost_calls` and the pytest plugin say, without pytest.

A call is lost where one that the model wrote did not come back, or came back altered or cut, or where one came back
that was never written, or where an error of the stages after the prompt is found, such as a call left in content.
What cannot be known is not a failure.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from prompt_debugger.core.api import Dumps, diagnose, outside_a_loop
from prompt_debugger.core.base.account import count_calls
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.types import Finding, JSONObject, Ledger, Request, Severity, Stage, Trace, VllmOutcome
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.parse import build_ledger
from prompt_debugger.core.pipeline import CaseParser, Target
from prompt_debugger.core.pipeline.accounts import message_from_outcome
from prompt_debugger.core.report import parse_to_terminal, trace_to_terminal
from prompt_debugger.core.tools.capture import Capture
from prompt_debugger.core.tools.capture.serve import serve_capture
from prompt_debugger.core.tools.watch.reading import Reader
from prompt_debugger.ui.cli.target_options import api_key_for

_AFTER_THE_PROMPT = (Stage.COMPLETE, Stage.PARSE, Stage.CONTRACT)


class LostCallsError(AssertionError):
    """A call was lost; its text says which, and shows where its characters went."""


def assert_no_lost_calls(
    response: str | Mapping[str, object] | Sequence[object] | Dumps,
    request: str | Mapping[str, object] | Request | None = None,
) -> None:
    """Fail a test where an answer shows that a tool call was lost.

    Args:
        response: What came back: an object of a client's library, its JSON, a stream's text, a saved run.
        request: What was asked; more is found with it.

    Raises:
        LostCallsError: A call was lost.
        RequestError: The response is nothing that is known.
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    _fail_if_lost(diagnose(response, request))


def judge_text(text: str, engines: Sequence[str], parser: CaseParser) -> None:
    """Judge a saved run, a recorded exchange or a case.

    Args:
        text: The file, or a line of it.
        engines: Parsers that must lose no call of the raw output; none to judge what was recorded.
        parser: Reads cases; keeps its helpers warm.

    Raises:
        LostCallsError: A call was lost.
        RequestError: There is nothing to compare.
    """
    case = _case_of(text)
    if case is None:
        trace = diagnose(text)
        if not engines:
            _fail_if_lost(trace)
            return
        if trace.raw is None:
            raise RequestError("The run has no raw output that a parser could read.", "Save a run that has one.")
        case = {"raw": trace.raw.text, "request": trace.request.body, "prompt_tail": _tail_of(trace)}
    _judge_case(case, engines, parser)


def _case_of(text: str) -> JSONObject | None:
    """Return the case that a text is, as `parse --cases` takes it; `None` for anything else."""
    value = decode_json(text)
    return value if isinstance(value, dict) and isinstance(value.get("raw"), str) else None


def _tail_of(trace: Trace) -> str:
    return trace.prompt_tail or ("" if trace.prompt is None else trace.prompt.text)


def _judge_case(case: JSONObject, engines: Sequence[str], parser: CaseParser) -> None:
    own = case.get("parsers")
    names = [*engines] or [str(name) for name in (own if isinstance(own, list) else [])]
    message = None if names else case.get("message")
    if not names and not isinstance(message, dict):
        raise RequestError(
            "The case has nothing to compare its raw output with.",
            "Give it `message` or `parsers`, or name parsers: --prompt-debugger-engines vllm:hermes.",
        )
    parse, findings, notes = parser.parse({**case, "parsers": [*names], "message": message})
    if not names:
        if _is_lossy(parse.ledger) or _errors(findings):
            raise LostCallsError(parse_to_terminal(parse, findings, notes))
        return
    failed: list[str] = []
    for name, outcome in parse.parsers.items():
        problem = _problem_of(outcome.error, outcome.stream_equal)
        ledger = build_ledger(parse.raw, parse.parsed, message_from_outcome(outcome))
        if outcome.error is None and _is_lossy(ledger):
            problem = "it loses a call"
        if problem:
            release = f" {outcome.release}" if isinstance(outcome, VllmOutcome) and outcome.release else ""
            shown = parse_to_terminal(replace(parse, ledger=ledger, parsers={name: outcome}))
            failed.append(f"{name}{release}: {problem}.\n\n{shown}")
    if failed:
        raise LostCallsError("\n\n".join(failed))


def _problem_of(error: str | None, stream_equal: bool | None) -> str:  # noqa: FBT001  # three values
    if error is not None:
        return f"it could not read the output: {error}"
    return "" if stream_equal is not False else "streamed, it returns something different"


def _is_lossy(ledger: Ledger) -> bool:
    calls = count_calls(ledger)
    return calls.dropped + calls.altered + calls.invented + calls.cut > 0


def _errors(findings: Sequence[Finding]) -> list[Finding]:
    return [one for one in findings if one.severity is Severity.ERROR and one.stage in _AFTER_THE_PROMPT]


def _fail_if_lost(trace: Trace) -> None:
    __tracebackhide__ = True
    is_lossy = trace.parse is not None and (trace.chat or trace.chat_stream) and _is_lossy(trace.parse.ledger)
    if not is_lossy and not _errors(trace.findings):
        return
    shown = trace_to_terminal(trace, title_of)
    ledger = "" if trace.parse is None else parse_to_terminal(trace.parse)
    if "raw: " not in shown:
        shown += f"\n{ledger}"
    raise LostCallsError(shown)


class Recording:
    """Proxies before servers that record what a client sends and gets, to be judged at the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: list[tuple[asyncio.AbstractEventLoop, asyncio.Event, threading.Thread]] = []
        self._upstreams: list[str] = []

    def before(self, upstream: str) -> str:
        """Start a proxy; returns the base URL to give to the client in place of the server's."""
        ready: Future[tuple[str, asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._upstreams.append(upstream)
        capture = Capture(upstream, self._folder / str(len(self._upstreams)), asks_for_ids=True)

        async def serve() -> None:
            reported = asyncio.Event()
            loop = asyncio.get_running_loop()
            await serve_capture(
                capture, reported, lambda url, _: ready.set_result((url, loop, reported)), lambda _: None
            )

        def work() -> None:
            try:
                asyncio.run(serve())
            except BaseException as error:  # noqa: BLE001  # anyone who waits for the address has to know
                if not ready.done():
                    ready.set_exception(error)

        thread = threading.Thread(target=work, name="prompt-debugger-recording", daemon=True)
        thread.start()
        url, loop, reported = ready.result()
        self._running.append((loop, reported, thread))
        return url

    def end(self) -> tuple[Path, ...]:
        """End the proxies; returns the exchanges, all of them written, in their order."""
        for loop, reported, thread in self._running:
            loop.call_soon_threadsafe(reported.set)
            thread.join()
        self._running.clear()
        return tuple(sorted(self._folder.glob("*/*.json")))

    def judge(self) -> None:
        """End the proxies and judge every exchange.

        Raises:
            LostCallsError: A call was lost in one of them; says which, and its file.
        """
        if lost := self.lost():
            raise LostCallsError("\n\n".join(lost))

    def lost(self) -> list[str]:
        """End the proxies, and return each exchange that lost a call: its file, and what it shows."""
        self.end()
        return outside_a_loop(lambda: asyncio.run(self._lost()))

    async def _lost(self) -> list[str]:
        lost: list[str] = []
        for number, upstream in enumerate(self._upstreams, 1):
            reader = Reader(Target(base_url=upstream, api_key=api_key_for(upstream, None)))
            try:
                for file in sorted((self._folder / str(number)).glob("*.json")):
                    read = await reader.read(number, file.read_text(encoding="utf-8"))
                    if isinstance(read, str):  # an exchange without an answer shows nothing
                        continue
                    try:
                        _fail_if_lost(read.judged.trace)
                    except LostCallsError as error:
                        lost.append(f"{file}:\n\n{error}")
            finally:
                await reader.close()
        return lost


@contextmanager
def recording(folder: Path) -> Iterator[Recording]:
    """Give a recording; its proxies end with the block."""
    made = Recording(folder)
    try:
        yield made
    finally:
        made.end()
