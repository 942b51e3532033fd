"""Answers read in one visit to the sandbox: from what the journal has of them to what it keeps.

    journal ──▶ answers, some at a time ──▶ template, tokens, census, rules, row, run ──▶ journal
                                             one process, locked in, that asks no one

What a `Judge` does is done there as it is done here. An answer for which the server would have to be asked, that is
long, or that takes too much comes back unread, and is read here, step by step, each within its own limits.
"""

from __future__ import annotations

import json
import secrets
from collections import OrderedDict
from collections.abc import Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import NamedTuple

from prompt_debugger.core.base.errors import DebuggerError, SandboxError
from prompt_debugger.core.base.types import JSONObject, Server
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.complete import Decoding, Known, MustAskError, UnaskedClient, known_by
from prompt_debugger.core.complete.answers import read_chat_text
from prompt_debugger.core.pipeline.rendering import Renderer
from prompt_debugger.core.render import FastTokenizer, PackedTokenizer, warm_up_templates
from prompt_debugger.core.sandbox import Limits, in_thread, job, limit_cpu, sandbox_of
from prompt_debugger.core.sandbox.values import admit
from prompt_debugger.core.tools.verify.answer import Answer, answer_to_json
from prompt_debugger.core.tools.verify.dataset import Row
from prompt_debugger.core.tools.verify.journal import Answered, Filed, file_run, pack_document
from prompt_debugger.core.tools.verify.judge import Judge, Judged

_SANDBOX = "answers"
_MAX_ANSWERS = 16  # answers of one visit
_LONG_BYTES = 1 << 18  # of an answer, packed: such a one takes a while, and is read step by step
_ROW_S = 1.0  # as long as a template may run
_IN_VAIN = 32  # answers that came back unread, one after the other: then the server has to be asked for each
_KEPT = 2  # settings that a process keeps
_SHORT_CHARS = 4_000  # a run of so few is written in less time than a thread takes to begin
_WEIGHTY = frozenset({"start", "stopped"})  # there is no sandbox, or no one waits any more


@admit
class Setting(NamedTuple):
    """What the answers of one server share."""

    server: Server
    renderer: Renderer
    tokenizer: PackedTokenizer | None
    asks_once: bool


admit(Renderer)


class Visits:
    """Takes answers of one server to the sandbox."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._key = secrets.token_hex()
        self._setting: Setting | None = None
        self._in_vain = 0

    @property
    def most(self) -> int:
        """How many answers are read at a time."""
        return _MAX_ANSWERS if self._is_of_use() else 1

    def warm_up(self) -> None:
        """Have a process started, without waiting for it."""
        (sandbox_of(_SANDBOX) if self._is_of_use() else sandbox_of()).warm_up()

    async def read(self, answers: Sequence[Answered]) -> list[Filed | None]:
        """Return what the journal keeps of each answer; `None` of those that have to be read here.

        Raises:
            SandboxError: There is none.
        """
        short = [answered for answered in answers if len(answered.packed) <= _LONG_BYTES]
        known = known_by(self._judge.client)
        if known is None or not short or not self._is_of_use():
            return [None] * len(answers)
        try:
            found = dict(zip([one.index for one in short], await self._visit(known, short), strict=True))
        except SandboxError as error:
            if error.limit in _WEIGHTY:
                raise
            return [None] * len(answers)
        self._in_vain = 0 if any(found.values()) else self._in_vain + len(found)
        return [found.get(answered.index) for answered in answers]

    async def read_here(self, answered: Answered) -> Filed:
        """Return what the journal keeps of an answer; the server is asked where that tells more."""
        return await filed_of(await self._judge.read(answered))

    def _is_of_use(self) -> bool:
        judge = self._judge
        if self._in_vain >= _IN_VAIN or not isinstance(judge.renderer.tokenizer, FastTokenizer | None):
            return False
        return judge.decoding.is_believed or "detokenize" not in judge.server.features

    async def _visit(self, known: Known, answers: list[Answered]) -> list[Filed | None]:
        sandbox, agreements = sandbox_of(_SANDBOX), self._judge.decoding.agreements
        found = await sandbox.run(read_answers, self._key, None, known, agreements, answers)
        if found is None:  # this process has not seen the setting yet
            if self._setting is None:
                self._setting = await in_thread(_setting_of, self._judge)
            found = await sandbox.run(read_answers, self._key, self._setting, known, agreements, answers)
        assert found is not None
        return found


async def filed_of(judged: Judged) -> Filed:
    """Return what the journal keeps of an answer that was read; a long one is written in a thread."""
    trace = judged.trace
    size = sum(len(prompt.text) for prompt in (trace.prompt, trace.local_prompt) if prompt is not None)
    size += 0 if trace.raw is None else len(trace.raw.text)
    return file_run(judged.row, trace) if size < _SHORT_CHARS else await in_thread(file_run, judged.row, trace)


def _setting_of(judge: Judge) -> Setting:
    tokenizer = judge.renderer.tokenizer
    packed = tokenizer.packed() if isinstance(tokenizer, FastTokenizer) else None
    return Setting(judge.server, replace(judge.renderer, tokenizer=None), packed, judge.asks_once)


def _warm_up() -> None:
    """Read an answer: what that takes is then imported and made, for all processes."""
    import tokenizers  # noqa: F401  # compiled: it must be at hand before the process is locked

    warm_up_templates()
    call: JSONObject = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message: JSONObject = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice: JSONObject = {"index": 0, "message": message, "finish_reason": "tool_calls", "token_ids": [1]}
    text = json.dumps({"choices": [choice], "prompt_text": "a", "prompt_token_ids": [1]})
    tool: JSONObject = {"name": "f", "parameters": {"type": "object", "properties": {}}}
    body: JSONObject = {
        "messages": [{"role": "user", "content": "a"}],
        "tools": [{"type": "function", "function": tool}],
    }
    chat = replace(read_chat_text(text), body=text)
    document = answer_to_json(Answer(Row(1, body, "", {}), {}, chat, "", 1))
    server = Server(base_url="", kind="vllm", version="", model="m")
    setting = Setting(server, Renderer("{{ messages }}{{ tools }}", None), None, asks_once=True)
    read_answers("", setting, Known("", server, (), {}), 0, [Answered(1, 1, pack_document(document))])
    _SETTINGS.clear()


@job(
    "reading the answers",
    Limits(cpu_s=8.0, wall_s=120.0, memory_mb=1024),
    sandbox=_SANDBOX,
    warm_up=_warm_up,
)
def read_answers(
    key: str, setting: Setting | None, known: Known, agreements: int, answers: list[Answered]
) -> list[Filed | None] | None:
    """Return what the journal keeps of each answer, `None` of one that has to be read elsewhere.

    Args:
        key: Name of the setting.
        setting: What the answers share; `None` if it was given before.
        known: What is known of the server by now.
        agreements: How often the tokenizer decoded as the server did.
        answers: As the journal has them.

    Returns:
        `None` if the setting is not known here yet.
    """
    if setting is not None:
        tokenizer = None if setting.tokenizer is None else setting.tokenizer.unpacked()
        _SETTINGS[key] = setting._replace(renderer=replace(setting.renderer, tokenizer=tokenizer))
        while len(_SETTINGS) > _KEPT:
            _SETTINGS.popitem(last=False)
    if key not in _SETTINGS:
        return None
    _SETTINGS.move_to_end(key)
    server, renderer, _, asks_once = _SETTINGS[key]
    judge = Judge(UnaskedClient(known), server, renderer, _no_turn, Decoding(agreements), asks_once)
    return [_read(judge, answered) for answered in answers]


_SETTINGS: OrderedDict[str, Setting] = OrderedDict()


def _no_turn() -> AbstractAsyncContextManager[None]:
    """Give a place that will not be used."""
    return nullcontext()


def _read(judge: Judge, answered: Answered) -> Filed | None:
    limit_cpu(_ROW_S)
    try:
        judged = _result(judge.read(answered))
    except (MustAskError, DebuggerError):
        return None
    return file_run(judged.row, judged.trace)


def _result(coroutine: Coroutine[object, None, Judged]) -> Judged:
    """Return what work comes to that waits for nothing, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        judged: Judged = end.value
        return judged
    coroutine.close()
    raise MustAskError
