"""Continue turn by turn, with the account of every turn and of the whole conversation."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.types import JSON, CallOutcome, Trace
from prompt_debugger.core.pipeline import Progress, Target
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.conversation.answers import ToolAnswer, answers_from_stub, request_after, returned_calls
from prompt_debugger.core.tools.conversation.seam import Seam, seam_between
from prompt_debugger.core.tools.lab import LabPool

_WRITTEN = (CallOutcome.KEPT, CallOutcome.ALTERED, CallOutcome.DROPPED)


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """One run of a conversation."""

    trace: Trace
    answers: tuple[ToolAnswer, ...] = ()
    seam: Seam | None = None

    def count(self, *outcomes: CallOutcome) -> int:
        """Return how many calls of the output came to one of some ends."""
        parse = self.trace.parse
        return 0 if parse is None else sum(match.outcome in outcomes for match in parse.ledger.matches)

    @property
    def written(self) -> int:
        """Whole calls in the raw output."""
        return self.count(*_WRITTEN)

    @property
    def returned(self) -> int:
        """Calls in the message."""
        return len(returned_calls(self.trace))


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation with tools, at least one run; `ended` says why it does not continue, "" while it can."""

    turns: tuple[ConversationTurn, ...]
    ended: str = ""

    @property
    def last(self) -> Trace:
        """The last run."""
        return self.turns[-1].trace

    @property
    def lost(self) -> int:
        """Tokens that were computed and could not be used again, over all turns that could be compared by ids."""
        return sum(turn.seam.lost for turn in self.turns if turn.seam is not None and turn.seam.unit == "token")

    @property
    def outcomes(self) -> Mapping[CallOutcome, int]:
        """How many calls of all outputs came to which end."""
        parses = [turn.trace.parse for turn in self.turns]
        return Counter(match.outcome for parse in parses if parse is not None for match in parse.ledger.matches)


def begin(trace: Trace) -> Conversation:
    """Return the conversation that a run begins."""
    return Conversation((ConversationTurn(trace),))


def add_turn(conversation: Conversation, trace: Trace, answers: tuple[ToolAnswer, ...]) -> Conversation:
    """Return a conversation with the run that the answers led to, its prompt compared with the turn before."""
    seam = seam_between(conversation.last, trace)
    return replace(conversation, turns=(*conversation.turns, ConversationTurn(trace, answers, seam)))


async def converse(
    first: Trace,
    target: Target,
    labs: LabPool | None,
    stub: Mapping[str, JSON],
    *,
    most_turns: int = 8,
    on_progress: Callable[[Progress], None] | None = None,
) -> AsyncIterator[Conversation]:
    """Answer the calls of a run from a stub, run again, and so on; yield the conversation as it grows.

    Yields:
        The conversation after each run; the last has `ended`.

    Raises:
        DebuggerError: A run could not be done.
    """
    conversation = begin(first)
    while True:
        answers, unknown = answers_from_stub(stub, conversation.last)
        ended = _end_of(conversation, unknown, most_turns)
        conversation = replace(conversation, ended=ended)
        yield conversation
        if ended:
            return
        request = request_after(conversation.last, answers)
        trace = await pipeline.run(request, replace(target, api=first.api), labs, on_progress)
        conversation = await in_thread(add_turn, conversation, trace, answers)


def _end_of(conversation: Conversation, unknown: tuple[str, ...], most_turns: int) -> str:
    if conversation.last.chat is None:
        return "the server gave no answer"
    if not returned_calls(conversation.last):
        return "the answer contains no call"
    if unknown:
        return f"no answer was given for {', '.join(unknown)}"
    return f"{most_turns} turns were requested" if len(conversation.turns) >= most_turns else ""
