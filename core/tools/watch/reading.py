"""A line that was written down → the row of the results and the run behind it.

With a server at hand and the ids of the run in the answer, it is read as `verify` reads one; else what the exchange
itself shows is all there is. Nothing is generated for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, nullcontext
from dataclasses import replace
from typing import NamedTuple, Protocol, TypeAlias

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.base.json_values import as_object, decoded, objects_in
from prompt_debugger.core.base.types import JSON, Basis, ChatResult, JSONObject, ParserOutcome, Trace
from prompt_debugger.core.complete import Decoding, ServerClient, Timeouts
from prompt_debugger.core.diagnose.fields import content_of, reasoning_of
from prompt_debugger.core.diagnose.trace_queries import why_cut
from prompt_debugger.core.pipeline import ask_server_parsers, output_of_trace, server_parsers_of
from prompt_debugger.core.pipeline.opening import look_at, renderer_for
from prompt_debugger.core.pipeline.target import Target, client_of
from prompt_debugger.core.sandbox import in_thread, sandbox_of
from prompt_debugger.core.tools.grammar import GrammarEngine, InForceReason, judge_in_force
from prompt_debugger.core.tools.grammar.asked import asked_of
from prompt_debugger.core.tools.verify.answer import Answer
from prompt_debugger.core.tools.verify.dataset import Row, hash_of
from prompt_debugger.core.tools.verify.journal import Filed
from prompt_debugger.core.tools.verify.judge import Judge, Judged, judge_answer
from prompt_debugger.core.tools.verify.visits import filed_of
from prompt_debugger.core.tools.watch.line import read_line

_ASK_S = 30.0
_MODELS = 100  # of one server


class Read(NamedTuple):
    """What was made of an exchange."""

    judged: Judged
    client: str


class Filing(NamedTuple):
    """What the journal keeps of an exchange that was read, and which machine read it; "" for this one."""

    row: JSONObject
    filed: Filed
    client: str
    place: str = ""


class Files(Protocol):
    """Who reads lines for the journal; `Reader` is one."""

    async def file(self, number: int, line: str) -> Filing | str:
        """Return what is kept of an exchange, or why it cannot be read."""

    async def close(self) -> None:
        """End it."""


OpenReader: TypeAlias = Callable[[Target | None], Files]


class Reader:
    """Reads lines; asks the server for nothing but what ids mean.

    Whether it has a reasoning parser is remembered by model: whole answers show it, streams do not.
    """

    def __init__(self, target: Target | None) -> None:
        self._target = target
        self._judge: Judge | None = None
        self._connecting = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._grammars = GrammarEngine()
        self._has_grammars = True
        self.reasoning_parsers: dict[str, bool] = {}

    async def close(self) -> None:
        """Close the connection to the server, and what compiles grammars."""
        await self._stack.aclose()
        self._grammars.close()

    async def file(self, number: int, line: str) -> Filing | str:
        """See `Files`."""
        read = await self.read(number, line)
        if isinstance(read, str):
            return read
        return Filing(read.judged.row, await filed_of(read.judged), read.client)

    async def read(self, number: int, line: str) -> Read | str:
        """Return the row and the run of an exchange, or why it cannot be read."""
        try:
            passed = await sandbox_of().run(read_line, line)
        except DebuggerError as error:
            return error.message
        trace = passed.trace
        if trace is None:
            return passed.problem
        chat = _add_ids(trace)
        row = Row(number, trace.request.body, hash_of(trace.request.body), {})
        answer = Answer(row, {}, chat, passed.at, passed.duration_ms, trace.api)
        judge: Judge | None = None
        if chat.token_ids is not None:
            async with self._connecting:  # exchanges that are read at once share the connection
                judge = await self._connected()
        if judge is None:
            judged = await judge_answer(answer, trace, 1, _keep)
        else:
            judge = self._add_observations(judge, trace)
            judged = await judge.judge(answer, Trace(request=trace.request, chat=chat, api=trace.api), 1)
            self._note_what_is_seen(judged.trace)
        of_chat = judge if chat is trace.chat else None  # the server reads ids again as those of a chat completion
        return Read(await self._looked_at_again(judged, trace.request.body, of_chat), passed.client)

    def _add_observations(self, judge: Judge, trace: Trace) -> Judge:
        """Add to what is known of the server what earlier answers of this model showed."""
        seen = self.reasoning_parsers.get(_model_in(trace))
        if seen is None or judge.server.has_reasoning_parser is not None:
            return judge
        return replace(judge, server=replace(judge.server, has_reasoning_parser=seen))

    def _note_what_is_seen(self, trace: Trace) -> None:
        seen, model = None if trace.server is None else trace.server.has_reasoning_parser, _model_in(trace)
        if seen is not None and (model in self.reasoning_parsers or len(self.reasoning_parsers) < _MODELS):
            self.reasoning_parsers[model] = seen

    async def _looked_at_again(self, judged: Judged, body: JSONObject, judge: Judge | None) -> Judged:
        """Add what is asked of traffic: was its grammar in force, and does it stream as it reads whole?"""
        more: JSONObject = {}
        if asked_of(body) is not None and self._has_grammars:
            found = await in_thread(judge_in_force, judged.trace, self._grammars)
            if found is not None:
                self._has_grammars = found.reason is not InForceReason.NO_ENGINE
                more["grammar"] = found.status
        is_streamed = body.get("stream") is True
        if is_streamed and judge is not None and (differing := await stream_differs(judge.client, judged.trace)):
            more["stream_differs"] = list(differing)
        if not more:
            return judged
        return judged._replace(row={**judged.row, "debugger": {**as_object(judged.row["debugger"]), **more}})

    async def _connected(self) -> Judge | None:
        """Return what explains answers by the server; `None` where it is not wanted, or not there now."""
        target = self._target
        if self._judge is not None or target is None:
            return self._judge
        try:
            client = await self._stack.enter_async_context(
                client_of(target, target.base_url, Timeouts(read_s=_ASK_S, total_s=_ASK_S))
            )
            server = await look_at(client, target, target.model, is_lab=False)
            renderer = await renderer_for(client, server, target)
        except DebuggerError:
            return None
        self._judge = Judge(client, server, renderer, nullcontext, Decoding(), asks_once=True)
        return self._judge


def _model_in(trace: Trace) -> str:
    return str(trace.request.body.get("model") or "")


def _add_ids(trace: Trace) -> ChatResult:
    """Return the answer with the ids that it shows alongside its message, as vLLM's Responses does."""
    chat, raw = trace.chat or ChatResult({}, None), trace.raw
    if chat.token_ids is not None or raw is None or raw.token_ids is None:
        return chat
    return replace(chat, token_ids=raw.token_ids)  # those of its prompt are in it


async def _keep(trace: Trace, _: Answer) -> Trace:
    return trace


def model_of(row: JSONObject) -> str:
    """Return which model an exchange asked for."""
    named = as_object(row.get("request")).get("model")
    return named if isinstance(named, str) else ""


async def stream_differs(client: ServerClient, trace: Trace) -> tuple[str, ...]:
    """Return the fields in which a run's streamed answer differs from the same output read whole.

    Nothing is generated: vLLM reads the ids again (`…/derender`). Spaces around a text, ids, and how arguments are
    spelled are not differences, nor is an output that was cut, whose beginning the two ways show differently by design.
    There are none where it was not streamed, or cannot be read again.
    """
    names = () if trace.server is None else server_parsers_of(trace.server)
    output = output_of_trace(trace)
    is_streamed = trace.chat is not None and trace.request.body.get("stream") is True
    if not (is_streamed and names and output is not None and output.token_ids is not None):
        return ()
    if trace.evidence is not Basis.SAME_RUN or not trace.request.tools or why_cut(trace) is not None:
        return ()  # without tools no parser of calls reads it, and serving leaves out what this one keeps
    whole = (await ask_server_parsers(client, names[:1], output))[names[0]]
    if whole.error is not None or trace.chat is None:
        return ()
    reported, read = _select_fields(trace.chat.message), _read(whole)
    return tuple(name for name in reported if reported[name] != read[name])


def _select_fields(message: JSONObject) -> JSONObject:
    thought = reasoning_of(message)
    return _fields(content_of(message), None if thought is None else thought.text, message.get("tool_calls"))


def _read(outcome: ParserOutcome) -> JSONObject:
    return _fields(outcome.content, outcome.reasoning, list(outcome.tool_calls))


def _fields(content: str | None, reasoning: str | None, calls: JSON) -> JSONObject:
    functions = [as_object(call.get("function")) for call in objects_in(calls)]
    plain: list[JSON] = [[one.get("name"), decoded(one.get("arguments"))] for one in functions]
    return {"content": (content or "").strip(), "reasoning": (reasoning or "").strip(), "tool_calls": plain}
