"""Evidence from a text out of which someone left something → what of it still proves anything.

What is absent then proves nothing: neither a call that is not there, nor arguments that break off, nor how it ended.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.comparable import NO_BEGINNING, OF_GAP, REQUEST_GAP, has_part_of_call
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_list, as_object
from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject, Request, Trace
from prompt_debugger.core.diagnose.calls.broken_arguments import Break, break_of
from prompt_debugger.core.diagnose.calls.written_calls import READ_AS_CONTENT, written_calls
from prompt_debugger.core.diagnose.fields import texts_inside
from prompt_debugger.core.diagnose.words import counted
from prompt_debugger.core.evidence.copying.gap_signs import (
    CUT_BY_SIGN,
    GLUED,
    LINE_LEFT_OUT,
    PROMPT_SIGNS,
    RAW_LINE,
    RAW_SIGNS,
    REMARK,
    TURN,
    VALUE_LEFT_OUT,
    has_elided_member,
    has_gap,
    has_sign,
    is_elided_text,
)
from prompt_debugger.core.evidence.evidence import UNKNOWN_ID, Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.taking import CUT_NOTE, head_deltas
from prompt_debugger.core.evidence.values.json_fragment import has_all_choices
from prompt_debugger.core.evidence.values.json_of import json_of

OF_REFUSED_CALL = "The call was read from the words of a client that refused it; the answer around it was not copied."
GAP_NOTE = "Something was left out of the pasted text; what it was is unknown."
_IN_MESSAGE = CUT_NOTE.replace("inside the answer", "inside a message")
_LEFT_OUT = "Something was left out"
_STRUCTURED = frozenset({Form.ANSWER, Form.STREAM, Form.EXCHANGE, Form.FRAGMENT, Form.OBJECT, Form.LINES, Form.HTTP})
# A sign where no prose has it, which ends words or follows a blank: of a raw output that was shortened.
_WITHIN = re.compile(
    r"\w{0,8}(?:\.{3,}|…)[\w:,{}\[\]\"'\\]|(?<![\w\s.])(?:\.{3,}|…)\S|(?<=[\"'{}\[\]:,\\])(?:\.{3,}|…)"
)  # with the character after it
_OF_ANSWERS = frozenset({"usage", "choices", "finish_reason"})
_OF_NO_MESSAGE = frozenset({"function", "parameters", "description", "properties", "required"})  # but of a tool
# A string's end, and what was left out up to the middle of a member, or of a word.
_OPENED = re.compile(r"[\"'](?:\.{3,}|…)[:,]|(?<=\w)[\"'](?:\.{3,}|…)\w")
_NO_CALLS = re.compile(r"['\"]?tool_calls['\"]?(?:=|: ?)(?:None|\[\]|null)")
_NO_ARGUMENTS = re.compile(r"['\"]?arguments['\"]?(?:=|: ?)None")  # printed as absent
_OF_CALLS = frozenset({"tool_calls", "function_call"})  # the second is the older form of the first
_ENDS_OF_A_CUT = frozenset({"length", "max_tokens", "content_filter"})  # which hold, whatever was left out
_RUNNING = re.compile(r"(?m)^>{5,20} [A-Z ]{4,40} \S{1,120}\.\.\.$")  # a program's word for what it does


def drop_unproven(evidence: Evidence, text: str) -> Evidence:
    """Return evidence without what nothing proves, where someone left something out of its text.

    Raises:
        RequestError: Nothing is left of it.
    """
    is_prose = READ_AS_CONTENT in evidence.notes and LINE_LEFT_OUT.search(text) is None  # in which dots are dots
    if evidence.run is not None or is_prose or (evidence.form is Form.FRAGMENT and has_all_choices(text)):
        return evidence
    if OF_REFUSED_CALL in evidence.notes and evidence.chat is not None and not has_sign(str(evidence.chat.message)):
        return evidence  # of several calls it is one that is whole
    text = VALUE_LEFT_OUT.sub(">", _RUNNING.sub("", text))
    is_elided = evidence.form is Form.FRAGMENT and any(note.startswith(_LEFT_OUT) for note in evidence.notes)
    is_cut = is_elided or (evidence.form in (Form.FRAGMENT, Form.OBJECT) and CUT_NOTE in evidence.notes)
    is_beside = evidence.form in (Form.OUTPUT, Form.LOG) and evidence.chat is not None
    is_structured = evidence.form in _STRUCTURED or is_beside
    is_cut = is_cut or _has_elided_text(evidence)
    if is_structured and (is_cut or _has_half_call(evidence) or _lacks_calls(evidence, text) or has_gap(text)):
        evidence = _careful(evidence, text, is_noted=evidence.form is not Form.FRAGMENT)
    evidence = _forget_shortened_ids(_drop_shortened_texts(evidence))
    return replace(evidence, notes=(*evidence.notes, REQUEST_GAP)) if _has_elided_request(evidence) else evidence


def _has_elided_request(evidence: Evidence) -> bool:
    """Return whether something was left out of the request, so that nothing follows from what it lacks."""
    if evidence.request is None or REQUEST_GAP in evidence.notes:
        return False
    is_of_one_text = evidence.form in (Form.FRAGMENT, Form.OBJECT) or _IN_MESSAGE in evidence.notes
    is_elided = any(note.startswith(_LEFT_OUT) for note in evidence.notes) and is_of_one_text
    messages = [as_object(one) for one in as_list(evidence.request.body.get("messages"))]
    texts = [one.get("content") for one in messages]
    is_glued = any(isinstance(text, str) and GLUED.match(text) for text in texts)
    is_glued = is_glued or any(_OF_NO_MESSAGE & one.keys() and has_sign(str(one)) for one in messages)
    is_glued = is_glued or bool(_OF_ANSWERS & evidence.request.body.keys() and has_sign(str(evidence.request.body)))
    return is_elided or is_glued or has_elided_member(evidence.request.body)


def _has_elided_text(evidence: Evidence) -> bool:
    """Return whether a sign is in content with markup, or in arguments that are not an object because of it."""
    message = evidence.chat.message if evidence.chat is not None else {}
    content, calls = message.get("content"), message.get("tool_calls")
    written = [as_object(as_object(call).get("function")).get("arguments") for call in as_list(calls)]
    return (isinstance(content, str) and is_elided_text("content", content)) or any(
        isinstance(one, str) and (is_elided_text("arguments", one) or (_OPENED.search(one) and json_of(one) is None))
        for one in written
    )


def _has_half_call(evidence: Evidence) -> bool:
    """Return whether a call has an id that someone shortened, and no name."""
    calls = as_list(evidence.chat.message.get("tool_calls")) if evidence.chat is not None else []
    return any(_has_short_id(call) and not as_object(as_object(call).get("function")).get("name") for call in calls)


def _lacks_calls(evidence: Evidence, text: str) -> bool:
    """Return whether the finish reason is cut, or a printed object lacks calls that it had, or parts of them."""
    if evidence.chat is None or has_sign(evidence.chat.finish_reason or ""):
        return evidence.chat is not None
    if evidence.form not in (Form.OBJECT, Form.FRAGMENT):
        return False
    calls = evidence.chat.message.get("tool_calls")
    if isinstance(calls, list) and calls:
        lacks = any("arguments" not in as_object(as_object(call).get("function")) for call in calls)
        return lacks and not (_NO_ARGUMENTS.search(text) is not None and _goes_on_after_calls(evidence.chat))
    return evidence.chat.finish_reason in ("tool_calls", "function_call") and _NO_CALLS.search(text) is None


def _goes_on_after_calls(chat: ChatResult) -> bool:
    """Return whether the last delta of a stream belongs to no call: none of its calls continues."""
    return bool(chat.deltas) and not chat.deltas[-1].delta.get("tool_calls")


def _careful(evidence: Evidence, text: str, *, is_noted: bool) -> Evidence:
    """Return evidence of whose answer only what is complete counts."""
    chat = evidence.chat if evidence.chat is not None else evidence.stream
    notes = (*evidence.notes, GAP_NOTE) if is_noted else evidence.notes
    if chat is None:
        return replace(evidence, notes=notes)
    calls = chat.message.get("tool_calls")
    listed = calls if isinstance(calls, list) else []
    is_cut_by_server = chat.finish_reason in _ENDS_OF_A_CUT
    shows_empty = "{}" in text  # as arguments, and not only because a reader writes absent ones so
    kept = [_fill_id(call) for call in listed if is_cut_by_server or _is_whole(call, shows_empty=shows_empty)]
    message: JSONObject = {name: item for name, item in chat.message.items() if name not in _OF_CALLS}
    if kept:
        message |= {name: kept if name == "tool_calls" else chat.message[name] for name in _OF_CALLS & {*chat.message}}
    content = message.get("content")
    if isinstance(content, str) and ((is_noted and has_sign(content)) or is_elided_text("content", content)):
        message["content"] = _whole_calls_of(content)
    if len(kept) < len(listed):
        notes = (
            *notes,
            f"Left out: {counted(len(listed) - len(kept), 'call')} of which the text contains only a part.",
        )
    return _replace_message(replace(evidence, notes=notes), chat, message)


def _whole_calls_of(content: str) -> str | None:
    """Return a shortened content up to its last whole call, if the sign is at its end alone; else `None`."""
    shown = CUT_BY_SIGN.sub("", content)
    if shown == content or has_sign(shown):
        return None
    calls = list(written_calls(Trace(Request({"messages": []}, "")), shown))
    return shown[: max(call.char_span.stop for call in calls)] if calls else None


def _replace_message(evidence: Evidence, chat: ChatResult, message: JSONObject) -> Evidence:
    """Return evidence with what is left of a message; without an answer, where nothing is."""
    heads = head_deltas(chat)
    if not heads and not any(item for name, item in message.items() if name != "role"):
        left = replace(evidence, chat=None, stream=None, finish_reason=None)
        if not left.holds:
            raise RequestError(
                "No part of the answer is complete: something was left out of it.", "Paste all of it, as it came."
            )
        return left
    is_proof = chat.finish_reason in _ENDS_OF_A_CUT or (
        bool(message.get("tool_calls")) and chat.finish_reason != "stop"
    )
    reason = chat.finish_reason if is_proof and not has_sign(chat.finish_reason or "") else None
    chat = replace(chat, message=message, finish_reason=reason, error=None, deltas=heads, body="")
    return replace(evidence, chat=chat, stream=None if evidence.stream is None else chat, finish_reason=reason)


def _is_whole(call: JSON, *, shows_empty: bool) -> bool:
    function = as_object(as_object(call).get("function"))
    arguments = function.get("arguments")
    if not function.get("name") or has_sign(str(function["name"])):
        return False
    if arguments in ("{}", {}) and not shows_empty:
        return False
    if not isinstance(arguments, str):
        return isinstance(arguments, dict)
    fault = break_of(arguments)
    if _OPENED.search(arguments) is not None:
        return json_of(arguments) is not None
    value = json_of(arguments)
    is_value = (isinstance(value, dict) and not any(map(has_sign, value))) or (
        value is not None and not has_sign(arguments)
    )
    return is_value or (fault is not None and fault.kind is Break.PYTHON)


def _fill_id(call: JSON) -> JSON:
    """Return a call whose id may be what was left out."""
    return {**as_object(call), "id": as_object(call).get("id") or UNKNOWN_ID}


def _forget_shortened_ids(evidence: Evidence) -> Evidence:
    """Return evidence in which ids that someone shortened are unknown: they were not part of the trouble."""
    chat = evidence.chat if evidence.chat is not None else evidence.stream
    calls = None if chat is None else chat.message.get("tool_calls")
    if chat is None or not isinstance(calls, list):
        return evidence
    known = [{**as_object(call), "id": UNKNOWN_ID} if _has_short_id(call) else call for call in calls]
    if known == calls:
        return evidence
    deltas = tuple(replace(delta, delta=_drop_short_ids(delta.delta)) for delta in chat.deltas)
    chat = replace(chat, message={**chat.message, "tool_calls": known}, deltas=deltas)
    return replace(evidence, chat=chat, stream=None if evidence.stream is None else chat)


def _drop_short_ids(delta: JSONObject) -> JSONObject:
    calls = delta.get("tool_calls")
    if not isinstance(calls, list):
        return delta
    kept = [
        {name: item for name, item in as_object(call).items() if name != "id"} if _has_short_id(call) else call
        for call in calls
    ]
    return {**delta, "tool_calls": kept}


def _has_short_id(call: JSON) -> bool:
    return has_sign(str(as_object(call).get("id") or ""))


def _drop_shortened_texts(evidence: Evidence) -> Evidence:
    """Return evidence without a prompt or a raw output that a sign shows to be shortened."""
    prompt, raw = evidence.prompt, evidence.raw
    if prompt is not None and any(sign.search(prompt) for sign in PROMPT_SIGNS):
        evidence = replace(
            evidence, prompt=None, notes=(*evidence.notes, "The prompt was shortened, so it is not read.")
        )
    if raw is not None and (damage := _damage_of(raw, evidence.chat)):
        evidence = replace(evidence, raw_reason=evidence.raw_reason or damage)
    is_compared = evidence.chat is not None  # as a pair; in one, no one writes `...` as a value
    signs = (*RAW_SIGNS, TURN, *((REMARK,) if is_compared else ()))
    if raw is None:
        return evidence
    without = VALUE_LEFT_OUT.sub(">", raw)
    if not any(sign.search(without) for sign in (*signs, RAW_LINE)):
        return evidence
    if not any(sign.search(raw) for sign in signs):
        return replace(evidence, raw_reason=evidence.raw_reason or OF_GAP)
    left = replace(
        evidence, raw=None, token_ids=None, notes=(*evidence.notes, "The raw output was shortened, so it is not read.")
    )
    if not left.holds:
        raise RequestError("The raw output was shortened by hand.", "Paste it whole, as the model wrote it.")
    return left


def _damage_of(raw: str, chat: ChatResult | None) -> str:
    """Return what a raw output of a call lacks compared with its message: at a sign that no text of the message has."""
    found = None if chat is None or not has_part_of_call(raw) else _WITHIN.search(raw)
    if chat is None or found is None:
        return ""
    if found[0] in "\n".join(texts_inside(chat.message)):
        return ""
    return NO_BEGINNING if not raw[: found.start()].strip() else OF_GAP
