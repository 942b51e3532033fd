"""The tool loop of the Fix panel: the calls of a run are answered, and the model continues, turn by turn."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import NamedTuple

from prompt_debugger.core.base.errors import DebuggerError, RequestError
from prompt_debugger.core.base.types import JSON, JSONObject, Trace
from prompt_debugger.core.request import body_text
from prompt_debugger.core.sandbox import in_thread, sandbox_of
from prompt_debugger.core.tools.conversation import (
    Conversation,
    add_turn,
    answers_to_calls,
    begin,
    read_stub,
    request_after,
)
from prompt_debugger.core.tools.fixes.plans import Plan
from prompt_debugger.ui.present.conversation import conversation_payload, document_of
from prompt_debugger.ui.present.experiments import bench_error_payload
from prompt_debugger.ui.present.trials import order_of
from prompt_debugger.ui.present.words import as_sentence
from prompt_debugger.ui.web.failures import as_debugger_error, shown_as
from prompt_debugger.ui.web.fixes.runs import NOTHING, PUBLIC_RUNS, PageRuns, Ran, RunProgress, no_run
from prompt_debugger.ui.web.numbered_answers import NumberedAnswers
from prompt_debugger.ui.web.redraw_rate import ticking
from prompt_debugger.ui.web.work import mask_document

MAX_TURNS = 40  # of one conversation; each contains a whole run


class LoopStep(NamedTuple):
    """A step of the loop: the payload, and the conversation; `None` for what does not change."""

    payload: str | None
    conversation: Conversation | None = None


class Order(NamedTuple):
    """What is asked for: typed answers in the order of the calls, answers by tool, what the user says, and turns."""

    texts: tuple[str, ...]
    stub: Mapping[str, JSON]
    user: str | None
    turns: int


class ToolLoop:
    """What the events do; keeps only what does not change while the page is served."""

    def __init__(self, runs: PageRuns) -> None:
        self._runs = runs
        self._answers = NumberedAnswers()
        self.most_turns = PUBLIC_RUNS if runs.is_public else MAX_TURNS

    @shown_as(lambda error: LoopStep(bench_error_payload(error)))
    async def show(self, trace: Trace | None, known: Conversation | None) -> LoopStep:
        """Return the conversation that the run on the page belongs to, or begins; an empty payload without a run."""
        if not _is_run(trace) and not _is_turn(trace, known):
            return LoopStep("")
        conversation = _conversation_of(trace, known)
        drawn = await in_thread(self._drawn, conversation)
        # One that is running has grown meanwhile.
        return LoopStep(drawn, None if conversation is known else conversation)

    async def run_turns(self, ran: Ran, order: str, known: Conversation | None) -> AsyncGenerator[LoopStep, None]:
        """Answer the open calls and run again; yield the conversation as it grows."""
        conversation: Conversation | None = None
        try:
            conversation = _conversation_of(ran.trace, known)
            # Seen also where it ends as the last one did: an equal answer would not be drawn.
            yield LoopStep(await in_thread(self._drawn, conversation, state="running", now="Reading the answers"))
            asked = self._read(order, conversation)
            progress, shown = RunProgress(), ""
            async with aclosing(
                ticking(self._turns(ran, asked, conversation, progress), self._runs.redraw_rate)
            ) as steps:
                async for step in steps:
                    if step is None and progress.sentence == shown:
                        continue
                    conversation, shown = step or conversation, progress.sentence
                    now = f"Turn {len(conversation.turns) + 1}: {shown}"
                    drawn = await in_thread(self._drawn, conversation, state="running", now=now)
                    yield LoopStep(drawn, None if step is None else conversation)
            yield LoopStep(await in_thread(self._drawn, conversation), conversation)
        except Exception as error:  # noqa: BLE001  # as above
            failure = as_debugger_error(error)
            if conversation is None:
                yield LoopStep(bench_error_payload(failure))
                return
            yield LoopStep(await in_thread(self._drawn, conversation, state="refused", sentence=_words(failure)))

    async def _turns(
        self, ran: Ran, asked: Order, conversation: Conversation, progress: RunProgress
    ) -> AsyncGenerator[Conversation, None]:
        texts, user = asked.texts, asked.user
        for number in range(asked.turns):
            answers, unknown = answers_to_calls(conversation.last, texts, asked.stub)
            if unknown or (not answers and user is None):
                if number == 0:
                    raise _unanswered(unknown)
                return
            last, target = self._runs.target(ran._replace(trace=conversation.last))
            request = request_after(last, answers, user=user)
            name = f"turn {len(conversation.turns) + 1}"
            trace = await self._runs.run(ran, target, request.body, Plan(name), progress)
            conversation = await in_thread(add_turn, conversation, trace, answers)
            yield conversation
            texts, user = (), None

    def open(self, order: str, known: Conversation | None) -> tuple[str, Trace] | None:
        """Return a turn's title and run, by its number; `None` if there is no such turn."""
        turns = () if known is None else known.turns
        if not order.isdecimal() or not 1 <= int(order) <= len(turns):
            return None
        return f"Turn {int(order)} of the conversation.", turns[int(order) - 1].trace

    def request_of(self, order: str, known: Conversation | None) -> str:
        """Return a turn's request, for the editor."""
        found = self.open(order, known)
        if found is None:
            return self._answers.failure(NOTHING)
        return self._answers.answer({"kind": "apply", "runs": False}, body_text(found[1].request.body))

    async def save(self, known: Conversation | None) -> str:
        """Return the whole conversation as a file, masked like all that leaves."""
        return await shown_as(self._answers.failure)(self._save)(known)

    async def _save(self, known: Conversation | None) -> str:
        if known is None:
            raise NOTHING
        data = await sandbox_of().run(mask_document, await in_thread(document_of, known))
        name = "prompt-debugger-conversation.json"
        header: JSONObject = {"kind": "file", "name": name, "type": "application/json", "hint": ""}
        return await in_thread(self._answers.answer, header, data)

    def _drawn(
        self, conversation: Conversation, *, state: str = "done", sentence: str = "", now: str | None = None
    ) -> str:
        return conversation_payload(conversation, state=state, sentence=sentence, now=now, most_turns=self.most_turns)

    def _read(self, text: str, conversation: Conversation) -> Order:
        order = order_of(text)
        left = self.most_turns - len(conversation.turns)
        if left < 1:
            raise RequestError(
                f"A conversation is limited to {self.most_turns} turns here.",
                "Put the last turn's request into the editor and run it to start a new conversation.",
            )
        turns = order.get("turns")
        if not isinstance(turns, int) or isinstance(turns, bool) or not 1 <= turns <= left:
            raise RequestError(f"The number of turns must be from 1 to {left}.", "Change it next to the button.")
        stub, user = str(order.get("stub") or ""), str(order.get("user") or "")
        return Order(
            _texts(order.get("answers")), read_stub(stub) if stub.strip() else {}, user if user.strip() else None, turns
        )


def _conversation_of(trace: Trace | None, known: Conversation | None) -> Conversation:
    """Return the conversation that a run is a turn of; a run that belongs to none begins one."""
    if known is not None and _is_turn(trace, known):
        return known
    if trace is None or not _is_run(trace):
        raise no_run(trace)
    return begin(trace)


def _is_turn(trace: Trace | None, known: Conversation | None) -> bool:
    return known is not None and any(turn.trace is trace for turn in known.turns)


def _is_run(trace: Trace | None) -> bool:
    return trace is not None and trace.verdict is not None


def _texts(value: JSON) -> tuple[str, ...]:
    return tuple(one if isinstance(one, str) else "" for one in value) if isinstance(value, list) else ()


def _unanswered(unknown: Sequence[str]) -> RequestError:
    if not unknown:
        return RequestError("The last answer contains no call.", "Write the next user message.")
    names = ", ".join(dict.fromkeys(unknown))
    return RequestError(
        f"There is no answer for {names}.", "Type one, or add the tool to the default answers; `*` is for all tools."
    )


def _words(error: DebuggerError) -> str:
    return " ".join(as_sentence(text) for text in (error.message, error.hint) if text)
