"""A conversation with tools, as the page draws it: each turn, the seam before it, and what waits for an answer."""

from __future__ import annotations

from prompt_debugger.core.base.json_values import text_or_json
from prompt_debugger.core.base.types import JSON, CallOutcome, JSONObject, Trace
from prompt_debugger.core.report.wire.form import dump_document
from prompt_debugger.core.tools.conversation import (
    Conversation,
    ConversationTurn,
    Seam,
    conversation_to_json,
    returned_calls,
)
from prompt_debugger.ui.present.payload import pack_payload, unpack_payload
from prompt_debugger.ui.present.verdict import verdict_payload
from prompt_debugger.ui.present.words import OUTCOME_WORDS, as_sentence, count_of, shortened

_MAX_TEXT = 2_000  # characters of a message, an answer or a call's arguments that are drawn
_FAULTS = (CallOutcome.DROPPED, CallOutcome.ALTERED, CallOutcome.INVENTED)


def conversation_payload(
    conversation: Conversation, *, state: str = "done", sentence: str = "", now: str | None = None, most_turns: int
) -> str:
    """Return what there is to draw of a conversation: `done`, `running`, or `refused`, and then why, as a sentence."""
    turns: list[JSON] = [_turn(turn, number) for number, turn in enumerate(conversation.turns, 1)]
    return pack_payload(
        {
            "state": state,
            "sentence": sentence or _sentence(conversation),
            "source": account_sentence(conversation),
            "progress": {"text": now or "", "fraction": None},
            "turns": turns,
            "open": [_call(call) for call in returned_calls(conversation.last)],
            "turns_left": most_turns - len(conversation.turns),
        }
    )


def document_of(conversation: Conversation) -> JSONObject:
    """Return the conversation as it is saved: the document that `run --tool-answers --json` has."""
    return {"conversation": conversation_to_json(conversation)}


def account_sentence(conversation: Conversation) -> str:
    """Return the account of the whole conversation, in words."""
    turns = conversation.turns
    written, returned = (sum(one) for one in zip(*((turn.written, turn.returned) for turn in turns), strict=True))
    reported = f"{count_of(len(turns), 'turn')}: {count_of(written, 'call')} written, {returned} returned"
    bad = [(outcome, conversation.outcomes.get(outcome, 0)) for outcome in _FAULTS]
    reported += "".join(f", {count} {outcome.value}" for outcome, count in bad if count)
    seams = [turn.seam for turn in turns if turn.seam is not None]
    exact = [seam for seam in seams if seam.unit == "token" and not seam.problem]
    if not seams:
        return f"{reported}."
    reported += f". {count_of(conversation.lost, 'computed token')} of earlier turns could not be reused"
    if len(exact) < len(seams):
        reported += f", as far as {len(exact)} of {count_of(len(seams), 'round trip')} could be compared token by token"
    return f"{reported}."


def _sentence(conversation: Conversation) -> str:
    last = conversation.turns[-1]
    if last.trace.chat is None:
        return "The server gave no answer in the last turn, so the conversation cannot continue."
    if last.returned:
        return f"The model waits for {count_of(last.returned, 'answer')}."
    dropped = last.count(CallOutcome.DROPPED)
    if dropped:
        return (
            f"The server returned no call, although the model wrote {count_of(dropped, 'call')}, which "
            f"{'was' if dropped == 1 else 'were'} dropped: see the findings of that turn."
        )
    return "The last answer contains no call. Write another user message to continue the conversation."


def _turn(turn: ConversationTurn, number: int) -> JSONObject:
    trace = turn.trace
    strip, _ = unpack_payload(verdict_payload(trace))
    message = {} if trace.chat is None else trace.chat.message
    lines: list[JSON] = [{"who": one.name, "text": shortened(one.content, _MAX_TEXT)} for one in turn.answers]
    user = _said_by_user(trace) if turn.seam is not None else ""
    return {
        "number": number,
        "badge": strip["badge"],
        "tone": strip["tone"],
        "verdict": strip["sentence"],
        "said": lines + ([{"who": "user", "text": shortened(user, _MAX_TEXT)}] if user else []),
        "content": shortened(text_or_json(message.get("content")), _MAX_TEXT),
        "calls": [_call(call) for call in returned_calls(trace)],
        "finish_reason": None if trace.chat is None else trace.chat.finish_reason,
        "written": turn.written,
        "returned": turn.returned,
        "outcomes": [f"{OUTCOME_WORDS[outcome]} {turn.count(outcome)}" for outcome in _FAULTS if turn.count(outcome)],
        "seam": None if turn.seam is None else _seam(turn.seam),
    }


def _seam(seam: Seam) -> JSONObject:
    drawn = dump_document(seam)
    return {**drawn, "sentence": as_sentence(seam.sentence)}


def _said_by_user(trace: Trace) -> str:
    """Return what the user said last, where that is what the turn began with."""
    messages = trace.request.body.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    return text_or_json(last.get("content")) if isinstance(last, dict) and last.get("role") == "user" else ""


def _call(call: JSONObject) -> JSONObject:
    function = call.get("function")
    named: JSONObject = function if isinstance(function, dict) else {}
    arguments = text_or_json(named.get("arguments"))
    return {"id": call.get("id"), "name": str(named.get("name")), "arguments": shortened(arguments, _MAX_TEXT)}
