"""What `run --tool-answers` adds under `conversation`; `docs/schema` is made from this."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, JsonValue

from prompt_debugger.core.base.types import CallOutcome, JSONObject
from prompt_debugger.core.tools.conversation.answers import ToolAnswer
from prompt_debugger.core.tools.conversation.seam import Seam
from prompt_debugger.core.tools.conversation.turns import Conversation, ConversationTurn


class _Document(BaseModel):
    model_config = ConfigDict(from_attributes=True, frozen=True)


class ConversationTurnDocument(_Document):
    """One run of the conversation.

    Attributes:
        answers: Answers to the calls of the turn before.
        message: The message that the server gave; `null` if it gave none.
        finish_reason: The server's word.
        written: Whole calls in the raw output.
        returned: Calls in the message.
        dropped: Calls that were written and not returned.
        altered: Calls that came back changed.
        codes: Codes of the findings.
        verdict: The run in one sentence.
        seam: How its prompt continues from the turn before; `null` for the first.
    """

    answers: tuple[ToolAnswer, ...]
    message: dict[str, JsonValue] | None
    finish_reason: str | None
    written: int
    returned: int
    dropped: int
    altered: int
    codes: list[str]
    verdict: str
    seam: Seam | None


class ConversationDocument(_Document):
    """A conversation with tools, and its account.

    Attributes:
        turns: Its runs.
        outcomes: How many calls of all outputs came to which end.
        lost: Tokens that were computed and could not be used again, over all turns compared by ids.
        ended: Why it does not continue.
    """

    turns: list[ConversationTurnDocument]
    outcomes: dict[str, int]
    lost: int
    ended: str


def conversation_to_json(conversation: Conversation) -> JSONObject:
    """Return a conversation as the run document has it."""
    document = ConversationDocument(
        turns=[_turn(turn) for turn in conversation.turns],
        outcomes={str(outcome): count for outcome, count in conversation.outcomes.items()},
        lost=conversation.lost,
        ended=conversation.ended,
    )
    dumped: JSONObject = document.model_dump(mode="json")
    return dumped


def _turn(turn: ConversationTurn) -> ConversationTurnDocument:
    trace = turn.trace
    return ConversationTurnDocument(
        answers=turn.answers,
        message=None if trace.chat is None else trace.chat.message,
        finish_reason=None if trace.chat is None else trace.chat.finish_reason,
        written=turn.written,
        returned=turn.returned,
        dropped=turn.count(CallOutcome.DROPPED),
        altered=turn.count(CallOutcome.ALTERED),
        codes=[finding.code for finding in trace.findings],
        verdict="" if trace.verdict is None else trace.verdict.sentence,
        seam=turn.seam,
    )
